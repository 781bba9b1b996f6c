"""The backend's Python code over a fake CuPy with two simulated GPUs, in separate processes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the texts of kernels are compiled by g++")


def run(*command: str) -> str:
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert not done.returncode, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "mode", "checks"),
    [("@cupy:1", "current", "value"), ("@cupy:1", "followed", "recorded"), ("cuda:1", "followed", "gradient")],
)
def test_the_case_table_passes_on_a_pretended_gpu(device: str, mode: str, checks: str) -> None:
    report = run("-m", "tests.backends.cupy.table", device, mode, checks)
    count = int(report.split()[0])
    assert count > 500


def test_devices_copies_memory_and_random_numbers() -> None:
    assert run("-m", "tests.backends.cupy.program").endswith("all well\n")
