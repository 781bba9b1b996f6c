"""The requirements of the suite's self-test, for each family."""

from dataclasses import replace

import pytest
from click.testing import CliRunner
from tests.faults import FAULTS, FREEDOMS
from tests.faults import __main__ as command
from tests.faults import self_test as module

from xpgrad_conformance.check import FAMILIES, CheckFamily


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_self_test_fails_without_a_family(family: CheckFamily, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECKS", ())  # whether each check kills something is not the question here
    alone = min((f for f in FAULTS if family.letter in f.families), key=lambda f: len(f.families))
    verdict = module.self_test(without=family.letter, faults=[alone], freedoms=())
    assert (alone.id, family.letter) in verdict.survivors
    assert not verdict.passed


def test_a_fault_without_a_check_survives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHECKS", ())
    harmless = replace(FAULTS[0], plant=lambda bed: None, families="E")
    monkeypatch.setattr(module, "FAULTS", (harmless,))
    monkeypatch.setattr(module, "PROFILES", ("quick",))
    assert module.self_test(faults=[harmless], freedoms=()).survivors == ((harmless.id, "E"),)


def test_random_numbers_of_a_fault_depend_on_its_name_alone() -> None:
    """The names of items determine them, and contain the name of the backend."""
    found = module._killed(replace(FAULTS[0], id="used-here"), FAULTS[0].families[0])
    assert found.failed
    assert all("@used_here0:" in reason for reason in found.failed.values())


def _run(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(command.main, list(args), env={"COLUMNS": "120"})
    return done.exit_code, done.output


def test_self_test_prints_the_kill_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    _shorten(monkeypatch)
    code, text = _run("--jobs", "1")
    assert FAULTS[0].id in text
    assert "1 of 1 faults killed by all their families" in text
    assert code == 0, text


def test_self_test_without_a_needed_family_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    _shorten(monkeypatch)
    letter = FAULTS[0].families[0]
    code, text = _run("--jobs", "1", "--without", letter)
    assert code == 1
    assert f"{FAULTS[0].id} survives the family {letter}" in text


def _shorten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the command's self-test to one fault and no freedom, without a fault for each check."""
    monkeypatch.setattr(module, "CHECKS", ())
    monkeypatch.setattr(command, "FAULTS", FAULTS[:1])
    monkeypatch.setattr(command, "FREEDOMS", FREEDOMS[:0])
