"""Runs that go on from earlier ones, and runs that are stopped."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.faults.testbed import Testbed

from xpgrad_conformance import conform
from xpgrad_conformance.documents import as_json, as_markdown, write
from xpgrad_conformance.earlier import failed_in

OPTIONS: dict[str, Any] = {"families": ["K"], "cases": ["cos", "exp", "sin"], "profile": "quick", "jobs": 0}


def _broken() -> Testbed:
    bed = Testbed()
    bed.replace("sin", lambda original, x: original(x) + 1)
    bed.devices()
    return bed


def test_failures_of_the_last_run_are_run_first(tmp_path: Path) -> None:
    bed = _broken()
    write(conform(f"@{bed.backend.name}:1", **OPTIONS), tmp_path)
    failed = failed_in(tmp_path, bed.backend.name)
    assert failed
    assert not any("cos" in id or "exp" in id for id in failed)
    seen: list[str] = []
    conform(f"@{bed.backend.name}:1", since=tmp_path, progress=lambda each, planned: seen.append(each.id), **OPTIONS)
    assert set(seen[: len(failed)]) == set(failed)
    assert len(seen) == len(set(seen))


def test_checks_that_are_not_in_this_run_are_noted(tmp_path: Path) -> None:
    bed = _broken()
    write(conform(f"@{bed.backend.name}:1", **OPTIONS), tmp_path)
    file = tmp_path / "conformance.json"
    file.write_text(file.read_text().replace("K01[sin,", "K01[gone,"))
    (note,) = conform(f"@{bed.backend.name}:1", since=file, **OPTIONS).notes
    assert "checks that failed before are not in this run: K01[gone," in note


def test_report_that_cannot_serve_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no report at .*conformance.json; --report .* writes one"):
        conform("numpy", since=tmp_path, **OPTIONS)
    file = tmp_path / "conformance.json"
    file.write_text(json.dumps({"backend": "npu", "checks": []}))
    with pytest.raises(ValueError, match=r"conformance.json is the report of npu; expected one of numpy"):
        conform("numpy", since=tmp_path, **OPTIONS)
    file.write_text("[1]")
    with pytest.raises(ValueError, match="is no report of the suite"):
        conform("numpy", since=file, **OPTIONS)


@pytest.mark.parametrize("jobs", [0, 1])
def test_run_out_of_time_names_the_remaining_checks(jobs: int) -> None:
    seen: list[str] = []
    options = OPTIONS | {"families": None, "jobs": jobs}
    report = conform("numpy", seconds=1e-9, progress=lambda each, planned: seen.append(each.id), **options)
    assert not seen
    assert (report.level, sum(report.left.values())) == (None, sum(row["checks"] for row in as_json(report)["not_run"]))
    assert "stopped after" in report.verdict
    assert "not run: K 6, G" in report.verdict
    assert "topped after" in as_markdown(report)


def test_interrupted_run_keeps_its_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    bed, clock = _broken(), iter(range(10**6))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    report = conform(f"@{bed.backend.name}:1", seconds=4.0, **OPTIONS)
    assert 0 < report.counts().planned < report.counts().planned + sum(report.left.values())
    assert report.exit_code == (1 if report.failures else 0)
    assert f"{report.counts().planned} of " in report.verdict


def test_run_with_enough_time_is_a_whole_run() -> None:
    report = conform("numpy", seconds=1000.0, **OPTIONS)
    assert not report.left
    assert "nothing failed; a level takes" in report.verdict
