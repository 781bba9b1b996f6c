"""dask.array as an Array API namespace: array_api_compat's namespace with missing and unreliable functions replaced.

Nothing here computes values. Functions along an axis rechunk it to one chunk (`lines`, `fft`), functions of matrices
their last two axes (`linalg`); other functions keep the chunks. Arithmetic uses the operators: chunks of
arrays without axes are scalars, whose complex products NumPy's functions round differently.
"""

from operator import add, pow
from operator import floordiv as floor_divide
from operator import mod as remainder
from operator import mul as multiply
from operator import sub as subtract
from operator import truediv as divide
from typing import Any

from xpgrad_dask import fft as fft
from xpgrad_dask import linalg as linalg
from xpgrad_dask.creation import (
    arange,
    asarray,
    astype,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    linspace,
    ones,
    zeros,
)
from xpgrad_dask.libraries import compat
from xpgrad_dask.lines import argsort, searchsorted, sort, take, take_along_axis
from xpgrad_dask.products import matmul, tensordot, vecdot
from xpgrad_dask.reductions import (
    all,
    any,
    argmax,
    argmin,
    count_nonzero,
    cumulative_prod,
    cumulative_sum,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from xpgrad_dask.refusals import nonzero, unique_all, unique_counts, unique_inverse, unique_values
from xpgrad_dask.shapes import broadcast_arrays, broadcast_shapes, broadcast_to, concat, repeat, reshape, roll, stack

__all__ = (
    "add", "all", "any", "arange", "argmax", "argmin", "argsort", "asarray", "astype", "broadcast_arrays",
    "broadcast_shapes", "broadcast_to", "concat", "count_nonzero", "cumulative_prod", "cumulative_sum", "divide",
    "empty", "empty_like", "eye", "fft", "floor_divide", "from_dlpack", "full", "linalg", "linspace", "matmul", "max",
    "mean", "min", "multiply", "nonzero", "ones", "pow", "prod", "remainder", "repeat", "reshape", "roll",
    "searchsorted", "sort", "stack", "std", "subtract", "sum", "take", "take_along_axis", "tensordot", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "var", "vecdot", "zeros",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    return getattr(compat, name)


def __dir__() -> list[str]:
    return sorted({*dir(compat), *__all__})
