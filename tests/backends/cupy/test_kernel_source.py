"""NVRTC compiles every CUDA kernel for several dtypes: this needs CuPy and NVRTC, but no GPU."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

cupy = pytest.importorskip("cupy", reason="CuPy is not installed: pip install --group gpu-syntax")

MODULES = "elementwise", "neural", "random"
TYPES = {"T": ("float16", "float32", "float64"), "S": ("float32",), "L": ("int32", "int64", "uint8")}
ARRAY, INDEXER, SCALAR = 1, 2, 3  # CuPy's kinds of arguments


def kernels() -> Iterator[tuple[str, Any]]:
    for module in MODULES:
        for name, value in vars(importlib.import_module(f"xpgrad_cupy.kernels.{module}")).items():
            found = value.items() if isinstance(value, dict) else [(name, value)]
            for _, kernel in found:
                if isinstance(kernel, (cupy.ElementwiseKernel, cupy.ReductionKernel)):
                    yield kernel.name, kernel


def params_of(kernel: Any) -> Any:
    return kernel._params if isinstance(kernel, cupy.ReductionKernel) else kernel.params


def combinations(kernel: Any) -> Iterator[dict[str, str]]:
    letters = sorted({p.ctype for p in params_of(kernel) if p.ctype in TYPES})
    lengths = max(len(TYPES[letter]) for letter in letters)
    for i in range(lengths):
        yield {letter: TYPES[letter][i % len(TYPES[letter])] for letter in letters}


ALL = dict(kernels())


def program(source: str) -> str:
    heads = "complex", "carray", "atomics"
    return (
        "".join(f"#include <cupy/{head}.cuh>\n" for head in heads)
        + "#include <cupy/math_constants.h>\ntypedef int IndexT;\n"
        + source
    )


def cuda_headers() -> Iterator[Path]:
    """Yield the directory where the wheel nvidia-cuda-runtime has CUDA's headers, such as the half-precision header."""
    for folder in importlib.import_module("nvidia").__path__:
        yield from (found.parent for found in Path(folder).rglob("cuda_fp16.h"))


def compiled(source: str) -> str:
    from cupy.cuda.compiler import _NVRTCProgram

    root = Path(cupy.__file__).parent / "_core" / "include"
    cccl = [f"-I{root}/cupy/_cccl/{part}" for part in ("libcudacxx", "cub", "thrust")]
    cccl += [f"-I{folder}" for folder in cuda_headers()]
    options = ("-arch=sm_80", "-std=c++17", "--fmad=false", f"-I{root}", *cccl)
    try:
        ptx, _ = _NVRTCProgram(program(source), "kernel.cu").compile(options)
    except Exception as error:
        if type(error).__name__ == "DynamicLibNotFoundError":
            pytest.skip("NVRTC is not installed: pip install --group gpu-syntax")
        raise AssertionError(f"{error}\n{source}") from None
    return str(ptx, "ascii") if isinstance(ptx, bytes) else ptx


def source_of(kernel: Any, types: dict[str, str], ndim: int = 1, contiguous: bool = True) -> str:
    """Return the text that CuPy makes of a kernel for arrays of these dtypes and kinds."""
    from cupy._core import _kernel, _reduction

    infos, params = [], params_of(kernel)
    for p in params:
        if p.name in ("_ind", "_in_ind", "_out_ind"):
            infos.append(_kernel._ArgInfo(INDEXER, object, None, 1, True, True))
        elif p.name.startswith("_") or (types and p.dtype is not None and p.name != "n"):
            infos.append(_kernel._ArgInfo(SCALAR, int, np.dtype(p.dtype).type, 0, True, True))
        else:
            kind = np.dtype(types.get(p.ctype) or p.dtype).type
            infos.append(_kernel._ArgInfo(ARRAY, cupy.ndarray, kind, ndim if p.raw else 1, contiguous, True))
    pairs = _kernel._TypeMap(tuple((letter, np.dtype(name).type) for letter, name in types.items()))
    if not isinstance(kernel, cupy.ReductionKernel):
        texts = kernel.operation, kernel.name, kernel.preamble
        return str(_kernel._get_elementwise_kernel_code(tuple(infos), pairs, params, *texts))
    result = kernel.out_params[0].ctype
    reduce_type = kernel.reduce_type or (result if result in types else "long long")
    texts = kernel.identity, kernel.map_expr, kernel.reduce_expr, kernel.post_map_expr, kernel.preamble, kernel.options
    given = len(kernel.in_params), 1, params, tuple(infos), pairs, kernel.name, 256, reduce_type
    return str(_reduction._ReductionKernel_get_cached_function_code(*given, *texts))


@pytest.mark.parametrize("name", sorted(ALL))
def test_the_source_compiles(name: str) -> None:
    for types in combinations(ALL[name]):
        assert name in compiled(source_of(ALL[name], types))
