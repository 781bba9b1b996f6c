"""The executor of CuPy over a fake CuPy with simulated GPUs, in separate processes."""

import shutil

import pytest
from tests.processes import output_of

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="the texts of kernels are compiled by g++")


@pytest.mark.slow
def test_kernels_of_groups_agree_with_numpy() -> None:
    assert output_of("-m", "tests.backends.cupy.fused", "0", "8").endswith("all well")


@pytest.mark.slow
def test_kernels_of_random_groups_agree_with_numpy() -> None:
    assert output_of("-m", "tests.backends.cupy.fused", "8", "200").endswith("all well")
