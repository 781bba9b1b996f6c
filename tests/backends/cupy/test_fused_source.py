"""The kernels of fused groups are compiled by NVRTC: that takes CuPy and NVRTC, but no GPU."""

from typing import Any

import pytest
from tests.backends.cupy import groups
from tests.backends.cupy.test_kernel_source import compiled, source_of
from tests.turn import part_of

from xpgrad_cupy.executor import kernel_of
from xpgrad_cupy.fusion.launches import BlockKernel
from xpgrad_cupy.fusion.plan import plan_of
from xpgrad_cupy.fusion.table import TYPES, Unsupported


def compile_all(made: Any, *variants: tuple[int, bool]) -> int:
    b, results = made
    count = 0
    for launch in plan_of(b.fused(*results)).launches:
        for ndim, contiguous in variants if not isinstance(launch, BlockKernel) else [(1, True)]:
            block = isinstance(launch, BlockKernel)
            source = launch.source if block else source_of(kernel_of(launch), {}, ndim, contiguous)
            assert "xpgrad_fused" in compiled(source)
            count += 1
    return count


@pytest.mark.parametrize("dtype", TYPES)
def test_every_row_of_the_table_compiles(dtype: str) -> None:
    assert compile_all(groups.table(dtype), (1, True), (2, False)) == 2


@pytest.mark.parametrize("name", groups.SAMPLES)
def test_the_kernels_of_a_group_compile(name: str) -> None:
    assert compile_all(groups.SAMPLES[name](), (2, True))


def test_the_kernels_of_random_groups_compile() -> None:
    count = 0
    for seed in part_of(range(60), 1):
        try:
            count += compile_all(groups.at_random(seed), (2, False))
        except Unsupported:
            continue
    assert count
