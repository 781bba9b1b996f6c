"""Runs that are stopped and go on."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.faults.testbed import Testbed

from xpgrad.plugin import Capabilities
from xpgrad_conformance import conform
from xpgrad_conformance.report import Report

OPTIONS: dict[str, Any] = {"families": ["K"], "cases": ["cos", "exp", "sin"], "profile": "quick", "jobs": 0}


def _broken() -> str:
    bed = Testbed()
    bed.replace("sin", lambda original, x: original(x) + 1)
    bed.devices()
    return f"@{bed.backend.name}:1"


def _run(name: str, folder: Path, **options: Any) -> tuple[Report, list[str]]:
    seen: list[str] = []
    report = conform(name, resume=folder, progress=lambda each, planned: seen.append(each.id), **OPTIONS | options)
    return report, seen


def test_only_failed_items_of_an_earlier_run_run_again(tmp_path: Path) -> None:
    name = _broken()
    once, _ = _run(name, tmp_path / "new")
    again, seen = _run(name, tmp_path / "new")
    assert [each.id for each in again.outcomes] == [each.id for each in once.outcomes]
    assert [each.state for each in again.outcomes] == [each.state for each in once.outcomes]
    failed = {each.id for each in once.failures}
    assert failed
    assert set(seen[-len(failed) :]) == failed
    (note,) = again.notes
    assert note.startswith(
        f"{len(once.outcomes) - len(failed)} of {len(once.outcomes)} checks ran earlier, by the journal"
    )


def test_stopped_runs_are_combined_to_a_complete_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(10**6))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    first, _ = _run("@numpy", tmp_path, seconds=4.0)
    assert first.outcomes
    assert first.left
    second, _ = _run("@numpy", tmp_path, seed=None)
    assert not second.left
    assert second.seed == first.seed
    assert len(second.outcomes) == len(first.outcomes) + sum(first.left.values())


def test_line_that_was_cut_off_runs_again(tmp_path: Path) -> None:
    whole, _ = _run("@numpy", tmp_path)
    file = tmp_path / "journal.jsonl"
    file.write_text(file.read_text()[:-20])
    again, _ = _run("@numpy", tmp_path)
    assert [each.id for each in again.outcomes] == [each.id for each in whole.outcomes]
    assert again.notes[0].startswith(f"{len(whole.outcomes) - 1} of {len(whole.outcomes)} checks ran earlier")


def test_outcomes_of_another_run_raise(tmp_path: Path) -> None:
    _run("@numpy", tmp_path)
    with pytest.raises(ValueError, match=r"was begun with cases .*'cos'.* \(now .*; delete it to begin anew"):
        _run("@numpy", tmp_path, cases=["exp"])
    with pytest.raises(ValueError, match="was begun with declaration "):
        _run("@numpy", tmp_path, capabilities=Capabilities(missing={"fft": "for this test"}))
    with pytest.raises(ValueError, match="the profile soak has no journal"):
        _run("@numpy", tmp_path, profile="soak")
    file = tmp_path / "journal.jsonl"
    lines = file.read_text().splitlines()
    heading = json.loads(lines[0])
    heading["of"]["source code"] = "0"
    file.write_text("\n".join([json.dumps(heading), *lines[1:]]))
    with pytest.raises(ValueError, match=r"was begun with source code 0 \(now "):
        _run("@numpy", tmp_path)
    file.write_text("no journal")
    with pytest.raises(ValueError, match="is no journal of the suite"):
        _run("@numpy", tmp_path)
    assert file.read_text() == "no journal"
