"""Lengths around thresholds."""

import numpy as np
import pytest

from xpgrad_conformance.generated.sizes import LARGE, LARGEST, POWERS, QUICK, SMALL, lengths

NAMED = 0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 4095, 4096, 4097, 65537


@pytest.mark.parametrize("quick", [True, False])
def test_lengths_are_around_powers_of_two(quick: bool) -> None:
    found = lengths(np.random.default_rng(0), quick=quick)
    assert found == sorted(set(found))
    named = {n for n in NAMED if not quick or n < LARGE}
    assert {*SMALL, *named, *(() if quick else (LARGEST,))} <= set(found)
    for power in QUICK if quick else POWERS:
        assert {power - 1, power, power + 1} <= set(found)


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("quick", [True, False])
def test_thresholds_of_the_backend_are_among_them(few: bool, quick: bool) -> None:
    found = lengths(np.random.default_rng(0), quick=quick, few=few, thresholds=(700, 70_000))
    assert {700, 701} <= set(found)
    assert {70_000, 70_001}.intersection(found) if quick and not few else 70_001 in found  # at least one, by chance


def test_other_seeds_give_other_lengths_between() -> None:
    one, other = (lengths(np.random.default_rng(seed)) for seed in (1, 2))
    assert one != other


def test_lengths_do_not_exceed_the_maximum() -> None:
    assert max(lengths(np.random.default_rng(0), most=300)) <= 300
