"""The kernels of fused groups are compiled by NVRTC: that takes CuPy and NVRTC, but no GPU."""

from typing import Any

import numpy as np
import pytest
from tests.backends.cupy import groups
from tests.backends.cupy.test_kernel_source import ARRAY, INDEXER, SCALAR, compiled, cupy
from tests.turn import part_of

from xpgrad_cupy.executor import kernel_of
from xpgrad_cupy.fusion.launches import BlockKernel, Elementwise, Launch
from xpgrad_cupy.fusion.plan import plan_of
from xpgrad_cupy.fusion.table import TYPES, Unsupported


def source_of(launch: Launch, ndim: int, contiguous: bool) -> str:
    """Return the text that CuPy makes of a launch for arrays of these kinds."""
    from cupy._core import _kernel, _reduction

    if isinstance(launch, BlockKernel):
        return launch.source
    kernel = kernel_of(launch)
    params = kernel.params if isinstance(launch, Elementwise) else kernel._params
    infos = []
    for p in params:
        if p.name in ("_ind", "_in_ind", "_out_ind"):
            infos.append(_kernel._ArgInfo(INDEXER, object, None, 1, True, True))
        elif p.name.startswith("_"):
            infos.append(_kernel._ArgInfo(SCALAR, int, np.dtype(p.dtype).type, 0, True, True))
        else:
            dims = ndim if p.raw else 1
            infos.append(_kernel._ArgInfo(ARRAY, cupy.ndarray, np.dtype(p.dtype).type, dims, contiguous, True))
    types = _kernel._TypeMap(())
    if isinstance(launch, Elementwise):
        texts = kernel.operation, kernel.name, kernel.preamble
        return str(_kernel._get_elementwise_kernel_code(tuple(infos), types, params, *texts))
    texts = kernel.identity, kernel.map_expr, kernel.reduce_expr, kernel.post_map_expr, kernel.preamble, kernel.options
    given = len(kernel.in_params), 1, params, tuple(infos), types, kernel.name, 256, kernel.reduce_type
    return str(_reduction._ReductionKernel_get_cached_function_code(*given, *texts))


def compile_all(made: Any, *variants: tuple[int, bool]) -> int:
    b, results = made
    count = 0
    for launch in plan_of(b.fused(*results)).launches:
        for ndim, contiguous in variants if not isinstance(launch, BlockKernel) else [(1, True)]:
            assert "xpgrad_fused" in compiled(source_of(launch, ndim, contiguous))
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
