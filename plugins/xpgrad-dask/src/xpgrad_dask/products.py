"""Products of matrices: partial products of chunks, summed in a tree, so that no chunk is larger than its operands."""

from typing import Any

import numpy as np

from xpgrad.types import Array
from xpgrad_dask.libraries import da


def matmul(x1: Array, x2: Array, /) -> Array:
    """Return products of matrices or vectors."""
    return da.matmul(x1, x2).astype(np.result_type(x1.dtype, x2.dtype))  # dask makes int64 of int32 without elements


def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> Array:
    """Return the sums of products over pairs of axes."""
    return da.tensordot(x1, x2, axes=axes).astype(np.result_type(x1.dtype, x2.dtype))  # as matmul's


def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """Return sums along `axis` of products of ``conj(x1)`` and `x2`."""
    if np.issubdtype(x1.dtype, np.complexfloating):
        x1 = da.conj(x1)
    return da.sum(x1 * x2, axis=axis, dtype=np.result_type(x1.dtype, x2.dtype))
