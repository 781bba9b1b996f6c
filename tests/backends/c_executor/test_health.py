"""Compiled code in `xpgrad doctor`: its state and the resulting advice."""

import io
import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from xpgrad.cli.health.findings import Finding
from xpgrad.cli.health.report import show
from xpgrad_c.cache import Cache
from xpgrad_c.health import ago, codegen, codegen_findings, codegen_line
from xpgrad_c.toolchain import LAST_FAILURE

HERE: dict[str, Any] = {
    "disabled": None, "folder": "/home/me/.cache/xpgrad", "folder_problem": None, "off": None,
    "compiler": "/usr/bin/cc", "version": "cc 12.2.0", "vector_math": True, "files": 3, "bytes": 47_000, "threads": 2,
    "threads_error": None, "last_failure": None,
}  # fmt: skip
NONE = {"compiler": None, "version": None, "vector_math": None}
FINDINGS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all is there": ({}, []),
    "turned off": ({"disabled": "XPGRAD_CODEGEN=0 turns it off", **NONE, "off": "no"}, []),
    "no compiler": ({"off": "no C compiler: ...", **NONE}, ["no C compiler: ..."]),
    "folder": ({"folder_problem": "/x: Read-only file system", **NONE}, ["/x: Read-only file system"]),
    "no vectors": ({"vector_math": False}, ["/usr/bin/cc finds no functions for vectors"]),
    "failed": (
        {"last_failure": {"text": "cc did not end", "seconds_ago": 7300}},
        ["the last failure of the compiler was 2 hours ago: cc did not end"],
    ),
    "failed just now": ({"last_failure": {"text": "a", "seconds_ago": 0}, "off": "a", **NONE}, ["a"]),
    "threads": ({"threads": None, "threads_error": "XPGRAD_NUM_THREADS: no"}, ["XPGRAD_NUM_THREADS: no"]),
}


@pytest.mark.parametrize("name", FINDINGS)
def test_missing_tool_is_reported_with_a_remedy(name: str) -> None:
    changes, expected = FINDINGS[name]
    found = [Finding(*each) for each in codegen_findings(HERE | changes)]
    assert len(found) == len(expected)
    for finding, text in zip(found, expected, strict=True):
        assert finding.text.startswith(text)
        assert finding.remedy


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache, which does not exist yet."""
    monkeypatch.setenv("XPGRAD_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("XPGRAD_CODEGEN", "XPGRAD_NUM_THREADS", "CC"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache" / "xpgrad"


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")
def test_the_compiler_of_this_machine_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPGRAD_NUM_THREADS", "3")
    facts = codegen()
    assert facts["compiler"] == shutil.which("cc")
    assert (facts["off"], facts["folder"], facts["files"], facts["threads"]) == (None, str(folder), 1, 3)
    assert facts["version"] in codegen_line(facts)
    assert "3 threads, 1 file " in codegen_line(facts)
    assert codegen() == facts  # now from the folder


def test_a_missing_compiler_or_directory_is_reported(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    facts = codegen()
    assert "no C compiler" in facts["off"]
    (finding,) = (Finding(*each) for each in codegen_findings(facts))
    assert finding.text == facts["off"]
    monkeypatch.setenv("XPGRAD_CACHE_DIR", "/dev/null/cache")
    facts = codegen()
    assert facts["folder_problem"].startswith("/dev/null/cache/xpgrad: ")
    (finding,) = (Finding(*each) for each in codegen_findings(facts))
    assert "XPGRAD_CACHE_DIR" in finding.remedy


def test_no_code_is_compiled_if_disabled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPGRAD_CODEGEN", "0")
    facts = codegen()
    assert facts["disabled"] == "XPGRAD_CODEGEN=0 turns it off"
    assert codegen_line(facts).startswith("XPGRAD_CODEGEN=0 turns it off, ")
    assert not folder.exists()


def test_the_last_failure_of_any_process_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPGRAD_CODEGEN", "0")
    cache = Cache(str(folder))
    cache.create()
    said = json.dumps({"text": "it failed", "time": time.time() - 100_000}).encode()
    cache.write(LAST_FAILURE, said, cache.temporary())
    found = codegen()["last_failure"]
    assert found["text"] == "it failed"
    assert ago(found["seconds_ago"]) == "27 hours"


def test_a_time_is_printed_in_its_largest_unit() -> None:
    assert [ago(n) for n in (0, 119, 120, 7199, 7200, 172_800)] == [
        "0 seconds", "119 seconds", "2 minutes", "119 minutes", "2 hours", "2 days"
    ]  # fmt: skip


def test_the_report_has_the_line_and_the_advice() -> None:
    out = io.StringIO()
    advice = [vars(Finding(*each)) for each in codegen_findings(HERE | {"off": "no C compiler", **NONE})]
    machine = {"python": "3.11", "platform": "Linux", "cores": 2, "usable": 2, "variables": {}, "pools": []}
    machine |= {"executors": {"c": {"line": codegen_line(HERE)}}, "findings": advice}
    console = Console(file=out, width=80)
    show({"xpgrad": "0.1.0", "contract": 1, "machine": machine, "backends": []}, console)
    text = " ".join(out.getvalue().split())
    assert "c: cc 12.2.0, vector math, 2 threads, 3 files (47 kB) in /home/me/.cache/xpgrad" in text
    assert "advice no C compiler -> install gcc or clang" in text
