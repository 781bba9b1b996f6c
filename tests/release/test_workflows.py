"""Workflows refer to existing commands, with few permissions, and with actions pinned to commits."""

import re
from pathlib import Path
from typing import Any

import pytest
from release.distributions import ROOT

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed, as for make quick")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ELSEWHERE = {"docs"}
"""Targets of the Makefile that land with the site."""


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.stem)
def workflow(request: pytest.FixtureRequest) -> Any:
    """One workflow."""
    path: Path = request.param
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_jobs_may_read_only_and_end(workflow: Any) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]
    limit = {"check-all": 360}  # every test, each night
    assert all(job["timeout-minutes"] <= limit.get(name, 90) for name, job in workflow["jobs"].items())


def test_actions_are_held_by_their_commits(workflow: Any) -> None:
    used = [step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step]
    assert used
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action) for action in used), used


def test_make_targets_and_test_folders_exist(workflow: Any) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)) | ELSEWHERE
    for job in workflow["jobs"].values():
        for command in (step["run"] for step in job["steps"] if "run" in step):
            assert set(re.findall(r"^make ([\w-]+)", command, re.MULTILINE)) <= targets
            assert all((ROOT / path).exists() for path in re.findall(r"\btests/[\w/.]+", command))
