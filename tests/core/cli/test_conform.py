"""`xpgrad conform`: the table, the report and the exit codes."""

import json
import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.faults.testbed import Testbed

from xpgrad.cli import main


def _run(*args: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["conform", *args], env={"COLUMNS": "120"})
    return done.exit_code, done.output


def test_part_of_the_suite_prints_its_table_and_writes_its_report(tmp_path: Path) -> None:
    options = "--family", "A", "--case", "sum-axis", "--profile", "quick", "--jobs", "0", "--report", str(tmp_path)
    code, text = _run("@strict:device1", *options)
    assert code == 0, text
    assert re.search("A aliasing +@strict:device1", text)
    assert "nothing failed; a level takes a run of the full profile" in text
    data = json.loads((tmp_path / "conformance.json").read_text())
    assert data["backend"] == "strict"
    assert data["families"][0]["failed"] == 0


def test_failure_is_printed_with_a_command_that_reproduces_it() -> None:
    bed = Testbed()
    bed.replace("exp", lambda original, x: original(x) + 1)
    bed.devices()
    options = "--family", "kernels", "--case", "exp", "--jobs", "0", "--seed", "5"
    code, text = _run(f"@{bed.backend.name}:1", *options)
    assert code == 1, text
    assert re.search(rf'reproduce\("K\d\d\[.*@{bed.backend.name}:1\]", seed=5\)', text)
    assert "\n1. exp: " in text
    assert "not certified" in text


def test_share_of_the_suite_gives_no_level() -> None:
    code, text = _run("numpy", "--family", "L", "--share", "2/4", "--jobs", "0")
    assert code == 0, text
    assert "3 passed, 0 failed, 0 expected to fail, 0 skipped of 3 planned" in text
    assert "nothing failed; a level takes a run of the full profile" in text


def test_operation_is_chosen_without_the_cases_of_the_table(tmp_path: Path) -> None:
    options = "--family", "K", "--operation", "exp", "--profile", "quick", "--jobs", "0", "--report", str(tmp_path)
    code, text = _run("numpy", *options)
    assert code == 0, text
    checks = {row["check"]: row["passed"] for row in json.loads((tmp_path / "conformance.json").read_text())["checks"]}
    assert checks["K50"] > 0
    assert "K01" not in checks


def test_declaration_is_printed_on_request() -> None:
    _, text = _run("numpy", "--family", "L", "--jobs", "0", "--declare")
    assert "declaration: it agrees with the probes" in text
    assert "capabilities = Capabilities(" in text


def test_log_has_a_line_for_each_family_as_it_ends() -> None:
    _, text = _run("numpy", "--family", "L", "--family", "N", "--jobs", "0")
    first, *others = text.splitlines()
    assert first.startswith("numpy: ")
    assert first.endswith(" checks, families L N")
    assert re.match(r"L load: \d+ passed; \d+ s$", others[0])
    assert re.match(r"N kinks: \d+ passed; \d+ s$", others[1])


@pytest.mark.parametrize("width", [60, 120])
def test_table_keeps_its_columns_in_a_narrow_terminal(width: int) -> None:
    done = CliRunner().invoke(main, ["conform", "numpy", "--family", "R", "--jobs", "0"], env={"COLUMNS": str(width)})
    (head,) = (line for line in done.output.splitlines() if line.startswith("family"))
    assert {"family", "device", "passed", "failed"} <= set(head.split())
    assert len(head) <= width


@pytest.mark.parametrize(
    ("args", "code", "expected"),
    [
        (
            ("xyzzy",),
            2,
            "no backend 'xyzzy' is installed; pip install its plugin, or write it with xpgrad new-backend;",
        ),
        (("numpyy",), 2, "conform: no backend 'numpyy' is installed; did you mean numpy? installed: "),
        (("trace", "--over", "nmpy"), 2, "conform: no backend 'nmpy' is installed; did you mean numpy?"),
        (("@numpy:3",), 2, "numpy has @numpy; `xpgrad doctor numpy` shows more"),
        (("numpy", "--family", "z"), 2, "unknown family 'z'"),
        (("numpy", "--case", "summ"), 2, "unknown case summ"),
        (("numpy", "--operation", "expp"), 2, "unknown operation expp"),
        (("numpy", "--time", "10"), 2, "expected a time such as 90s, 10m or 1h, got '10'"),
        (("numpy", "--time", "0m"), 2, "expected a time such as 90s, 10m or 1h, got '0m'"),
        (("numpy", "--since", "nowhere"), 2, "no report at nowhere; --report nowhere writes one"),
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
    bed = Testbed()
    bed.library.names["expm1"] = None
    bed.devices()
    code, text = _run(f"@{bed.backend.name}:1", "--family", "K", "--case", "sin", "--jobs", "0")
    assert code == 3, text
    assert "declaration: it disagrees with the probes on 1 fact. Paste this" in text
    assert '"expm1": "",  # the probe: ' in text


def test_without_the_suite_it_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xpgrad_conformance.command", None)
    code, text = _run("numpy")
    assert code == 2
    said = "Error: conform: the conformance suite is not installed; pip install 'xpgrad[conformance]'"
    assert " ".join(text.split()) == said
    assert _run("--help")[0] == 0


def test_missing_dependency_of_the_suite_is_not_reported_as_missing_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("command", "progress"):
        monkeypatch.delitem(sys.modules, f"xpgrad_conformance.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    done = CliRunner().invoke(main, ["conform", "numpy"])
    assert isinstance(done.exception, ModuleNotFoundError)
    assert done.exception.name == "rich.progress"
