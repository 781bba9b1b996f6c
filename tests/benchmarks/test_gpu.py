"""`make gpu` on the host: its programs, its clock, its report, and steps that fail."""

import json
import subprocess
import sys
import time

import pytest
from benchmarks.gpu import __main__ as command
from benchmarks.gpu import report
from benchmarks.gpu.timings import NAMES

PYTHON = sys.executable


@pytest.mark.slow
def test_programs_and_timings_run_on_a_pretended_gpu(tmp_path) -> None:
    words = ["-m", "benchmarks.gpu", "--pretend", "--out", str(tmp_path), "--only"]
    for only in "programs on @numpy", "timings of P12":
        done = subprocess.run([PYTHON, *words, only], cwd=command.ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (tmp_path / "failures.txt").read_text()
        assert sorted(file.name for file in tmp_path.iterdir()) == [
            "failures.txt", "output.txt", "report.json", "report.md",
        ]  # fmt: skip
    timed = json.loads((tmp_path / "report.json").read_text())["timings"]
    assert {"torch", "CuPy by hand", "xpgrad on @numpy", "xpgrad on @torch:cpu"} <= {row["contestant"] for row in timed}
    assert all(row["error"] < 1e-3 and row["of CuPy by hand"] > 0 for row in timed)


def test_the_tests_marked_gpu_are_where_they_are_looked_for() -> None:
    files = [file for file in (command.ROOT / "tests").rglob("test_*.py") if f"mark.{'gpu'}" in file.read_text("utf-8")]
    assert files
    assert all(any(file.is_relative_to(command.ROOT / each) for each in command.TESTS) for file in files)


def test_each_device_and_workload_has_a_step() -> None:
    names = [step.name for step in command.steps({"cupy": "@cupy:0", "torch": "@torch:cuda:0"}, pretend=False)]
    assert {f"timings of {name}" for name in NAMES} < set(names)
    assert {f"conform on {each}" for each in ("@cupy:0", "@torch:cuda:0")} < set(names)
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("program", "seconds", "code"),
    [
        ("print('before'); raise SystemExit(3)", 20, 3),
        ("import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])", 1, 124),
        ("import os; print('before', flush=True); os.abort()", 20, -6),
        ("import os; os.abort()", 20, -6),
    ],
)
def test_a_step_that_fails_is_reported(program: str, seconds: float, code: int, tmp_path) -> None:
    start = time.monotonic()
    done = command.run(command.Step("broken", [PYTHON, "-c", program], seconds), seconds)
    assert done["code"] == code
    assert time.monotonic() - start < 30
    report.write(tmp_path, {"pretended": "True"}, [done])
    assert "== broken" in (tmp_path / "failures.txt").read_text()
    assert "1 failures" in (tmp_path / "report.md").read_text()


def test_a_failure_of_one_program_is_listed_with_its_traceback() -> None:
    row = {"name": "moves @cupy:0", "seconds": 1.0, "failure": "Traceback\nValueError: wrong"}
    step = {"name": "programs", "code": 0, "seconds": 1.0, "output": f"a warning\n{json.dumps(row)}\n"}
    assert report.failures([step]) == {"moves @cupy:0": row["failure"]}
