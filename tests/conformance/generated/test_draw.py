"""Combinations of factors: few, and each two values of two factors meet."""

import itertools
from typing import Any

import numpy as np
import pytest

from xpgrad import get_device
from xpgrad.plugin import Capabilities
from xpgrad_conformance.generated.draw import Draw, covering
from xpgrad_conformance.generated.layouts import constant_axis
from xpgrad_conformance.subject import Subject

FACTORS: tuple[dict[str, Any], ...] = (
    {"one": range(7)},
    {"one": range(3), "two": range(5)},
    {"one": range(4), "two": range(4), "three": range(4), "four": range(3), "five": range(2)},
)


def _draw(seed: int = 0, *, quick: bool = False, number: int = 0) -> Draw:
    subject = Subject(get_device("@numpy"), Capabilities(), dtype="float32", name="here", seed=seed, quick=quick)
    return Draw(subject, "exp", number)


@pytest.mark.parametrize("factors", FACTORS, ids=len)
@pytest.mark.parametrize("seed", range(3))
def test_every_pair_of_values_occurs_in_few_rows(factors: dict[str, Any], seed: int) -> None:
    rows = covering(factors, seed)
    for one, other in itertools.combinations(factors, 2):
        met = {(row[one], row[other]) for row in rows}
        assert met == set(itertools.product(factors[one], factors[other]))
    largest = sorted(map(len, factors.values()), reverse=True)[:2]
    assert len(rows) <= 2 * np.prod(largest)


def test_in_quick_every_value_occurs() -> None:
    factors = FACTORS[2]
    rows = list(_draw(quick=True).combinations(**factors))
    assert len(rows) < len(list(_draw().combinations(**factors)))
    for name, some in factors.items():
        assert {row[name] for row in rows} == set(some)


def test_the_seed_and_the_number_decide() -> None:
    first, again, other, second = (_draw(*given).array((5,)).host for given in ((1,), (1,), (2,), (1,)))
    assert np.array_equal(first, again)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first, _draw(1, number=1).array((5,)).host)


def test_a_broadcast_argument_is_constant_along_its_first_or_an_inner_axis() -> None:
    for shape, axis in (((4, 3), 1), ((4, 2), 0), ((2, 3, 4), 1), ((2, 3, 5), 0), ((7,), 0)):
        host = _draw().array(shape, layout="broadcast").host
        assert constant_axis(host) == axis
        assert np.array_equal(host, np.broadcast_to(np.take(host, [0], axis), shape))
