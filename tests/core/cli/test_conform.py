"""`xpgrad conform`: the table, the report and the exit codes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.faults.bed import Bed

import xpgrad_conformance.plan as plan_module
from xpgrad.cli import main
from xpgrad_conformance import suite


def _run(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["conform", *args], env={"COLUMNS": "120"})
    return done.exit_code, done.output


def test_part_of_the_suite_prints_its_table_and_writes_its_report(tmp_path: Path) -> None:
    options = "--family", "A", "--case", "sum-axis", "--profile", "quick", "--jobs", "0", "--report", str(tmp_path)
    code, text = _run("@strict:device1", *options)
    assert code == 0, text
    assert "A aliasing  @strict:device1" in text
    assert "nothing failed; a level takes a run of the full profile" in text
    data = json.loads((tmp_path / "conformance.json").read_text())
    assert data["backend"] == "strict"
    assert data["families"][0]["failed"] == 0


def test_failure_is_printed_with_what_repeats_it() -> None:
    bed = Bed()
    bed.replace("exp", lambda original, x: original(x) + 1)
    bed.devices()
    code, text = _run(f"@{bed.backend.name}:1", "--family", "kernels", "--case", "exp", "--jobs", "0")
    assert code == 1, text
    assert f'reproduce("K01[exp,float64,@{bed.backend.name}:1]", seed=0)' in text
    assert "not certified" in text


def test_share_of_the_suite_gives_no_level() -> None:
    code, text = _run("numpy", "--family", "L", "--share", "2/4", "--jobs", "0")
    assert code == 0, text
    assert "3 passed, 0 failed, 0 expected to fail, 0 skipped of 3 planned" in text
    assert "nothing failed; a level takes a run of the full profile" in text


def test_seed_is_passed_on() -> None:
    bed = Bed()
    bed.replace("exp", lambda original, x: original(x) + 1)
    bed.devices()
    _, text = _run(f"@{bed.backend.name}:1", "--family", "K", "--case", "exp", "--jobs", "0", "--seed", "5")
    assert "seed=5)" in text


@pytest.mark.parametrize(
    ("args", "code", "expected"),
    [
        (("xyzzy",), 2, "xyzzy"),
        (("numpy", "--family", "z"), 2, "unknown family 'z'"),
        (("numpy", "--case", "summ"), 2, "there is no case summ"),
        (("numpy", "--share", "3"), 2, "expected a part such as 3/16, got '3'"),
        (("numpy", "--share", "3/2"), 2, "expected a share such as 1/4 or 4/4, got 3/2"),
        ((), 2, "Missing argument 'NAME|DEVICE'"),
    ],
)
def test_wrong_words_are_explained(args: tuple[str, ...], code: int, expected: str) -> None:
    got, text = _run(*args)
    assert got == code
    assert expected in text


def test_disagreement_of_declaration_and_probe_has_its_exit_code() -> None:
    bed = Bed()
    bed.library.names["expm1"] = None
    bed.devices()
    code, text = _run(f"@{bed.backend.name}:1", "--family", "K", "--case", "sin", "--jobs", "0")
    assert code == 3, text
    assert "expm1 on" in text


@pytest.mark.parametrize("command", [("numpy",), ("numpy", "--case", "special.gammaln")])
def test_a_missing_scipy_is_said_in_one_sentence_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setattr(plan_module, "find_spec", lambda name: None)
    code, text = _run(*command)
    assert code == 2
    said = "Error: conform: SciPy, which has the references of the special functions, is not installed; "
    assert " ".join(text.split()) == said + "pip install 'xpgrad[conformance]'"


def test_what_needs_no_scipy_runs_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_module, "find_spec", lambda name: None)
    assert _run("numpy", "--family", "K", "--case", "exp", "--jobs", "0")[0] == 0
    with pytest.raises(ModuleNotFoundError, match="SciPy, which has the references"):
        suite("numpy")
