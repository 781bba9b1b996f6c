"""The backend's Python code over a fake CuPy with two simulated GPUs, in separate processes."""

import shutil

import pytest
from tests.processes import output_of

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the texts of kernels are compiled by g++")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("device", "mode", "checks"),
    [("@cupy:1", "current", "value"), ("@cupy:1", "followed", "recorded"), ("cuda:1", "followed", "gradient")],
)
def test_the_case_table_passes_on_a_pretended_gpu(device: str, mode: str, checks: str) -> None:
    report = output_of("-m", "tests.backends.cupy.table", device, mode, checks)
    count = int(report.split()[0])
    assert count > 500


def test_devices_copies_memory_and_random_numbers() -> None:
    assert output_of("-m", "tests.backends.cupy.program").endswith("all well")
