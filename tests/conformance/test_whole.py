"""The whole suite on seeded faults, one process for each."""

import functools
import os
from dataclasses import replace

import pytest
from click.testing import CliRunner
from tests.faults import FAULTS
from tests.faults import __main__ as command
from tests.faults import whole as module

from xpgrad_conformance.plan import plan

pytestmark = pytest.mark.filterwarnings("ignore:os.fork")  # of jax, where tests before these have imported it

KILLED = "full-of-bool-is-int"
SURVIVOR = "pickle-narrows"


@pytest.fixture(autouse=True)
def _only_creation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave one family of the suite, so that a whole profile takes a second."""
    monkeypatch.setattr(module, "plan", functools.partial(plan, families="C"))


def _run(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(command.main, ["--whole", "quick", "--jobs", "2", *args], env={"COLUMNS": "120"})
    return done.exit_code, done.output


def test_a_killed_fault_names_the_check() -> None:
    code, text = _run(KILLED)
    assert f"{KILLED} " in text
    assert "killed by C" in text
    assert "1 of 1 faults killed by the quick profile" in text
    assert code == 0


def test_a_survivor_fails_the_run() -> None:
    code, text = _run(KILLED, SURVIVOR)
    assert "SURVIVES" in text
    assert "1 of 2 faults killed by the quick profile" in text
    assert code == 1


def test_faults_of_a_file_are_run() -> None:
    faults = command._chosen((), ("creating",))
    assert KILLED in {fault.id for fault in faults}
    assert SURVIVOR not in {fault.id for fault in faults}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("no-such-fault",), "unknown fault no-such-fault"),
        (("--file", "no_such_file"), "no_such_file.py does not exist"),
    ],
)
def test_unknown_names_raise(args: tuple[str, ...], said: str) -> None:
    code, text = _run(*args)
    assert code == 2
    assert said in text


def test_a_crash_kills_a_fault() -> None:
    crashing = replace(FAULTS[0], plant=lambda bed: os._exit(3))
    [found] = module.whole([crashing], module.baseline(quick=True), quick=True)
    assert (found.check, found.reason) == ("crash", "the process ended with 3")
