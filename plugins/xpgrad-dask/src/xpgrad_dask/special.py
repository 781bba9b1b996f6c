"""Special functions: NumPy's kernels on chunks, because default bodies make up to a hundred tasks per chunk."""

import functools
from typing import Any

import numpy as np

from xpgrad.types import Array, Kernel
from xpgrad_dask.blocks import computed, empty
from xpgrad_dask.libraries import da


def find(name: str) -> Kernel | None:
    """Return the kernel `name` if it is a special function, else None; special functions are elementwise."""
    extension, _, function = name.partition(".")
    if extension != "special" or "." in function:  # a second dot marks a rule
        return None
    return functools.partial(_elementwise, name)


def _elementwise(name: str, *operands: Any, **parameters: Any) -> Array:
    arrays = [x for x in operands if isinstance(x, da.Array)]
    dtype = np.result_type(*(x.dtype if isinstance(x, da.Array) else x for x in operands))
    ndim = max(x.ndim for x in arrays)
    indexed = ((x, range(ndim - x.ndim, ndim)) if isinstance(x, da.Array) else (x, None) for x in operands)
    pairs = [item for pair in indexed for item in pair]
    inside = functools.partial(computed, "xpgrad.special", name, parameters)
    return da.blockwise(inside, range(ndim), *pairs, dtype=dtype, meta=empty(ndim, dtype))
