"""The self-test of the suite: what it needs, family by family."""

from dataclasses import replace

import pytest

from xpgrad.testing.conformance import self_test as module
from xpgrad.testing.conformance.check import FAMILIES, Family
from xpgrad.testing.conformance.faults import FAULTS


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_self_test_fails_without_any_one_family(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECKS", ())  # whether each check kills something is not the question here
    alone = min((f for f in FAULTS if family.letter in f.families), key=lambda f: len(f.families))
    verdict = module.self_test(without=family.letter, faults=[alone], freedoms=())
    assert (alone.id, family.letter) in verdict.survivors
    assert not verdict.passed


def test_a_fault_that_nothing_could_kill_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECKS", ())
    harmless = replace(FAULTS[0], plant=lambda bed: None, families="E")
    monkeypatch.setattr(module, "FAULTS", (harmless,))
    assert module.self_test(faults=[harmless], freedoms=()).survivors == ((harmless.id, "E"),)
