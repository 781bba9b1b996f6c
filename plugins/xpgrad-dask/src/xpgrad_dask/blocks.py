"""NumPy's functions on chunks: axes that a function needs as a whole are in one chunk, other axes remain split."""

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import xpgrad
from xpgrad.types import Array, Dtype
from xpgrad_dask.creation import auto_chunks, cut
from xpgrad_dask.libraries import da


def whole(x: Array, axes: Sequence[int]) -> Array:
    """Return `x` with one chunk along `axes`, and smaller chunks along other axes if chunks exceed dask's limit."""
    axes = [axis % x.ndim for axis in axes]
    if all(x.numblocks[axis] == 1 for axis in axes):
        return x
    wanted = [(n,) if i in axes else "auto" for i, n in enumerate(x.shape)]
    return x.rechunk(auto_chunks(x.shape, x.dtype, wanted))


def along(function: Callable[..., Any], axis: int, *arrays: Array, dtype: Dtype, **options: Any) -> Array:
    """Return ``function(*blocks, axis=axis)`` with the shape of `arrays`; blocks are whole along `axis`."""
    arrays = tuple(whole(x, [axis]) for x in arrays)
    return da.map_blocks(function, *arrays, axis=axis, dtype=dtype, meta=empty(arrays[0].ndim, dtype), **options)


def cores(
    function: Callable[..., Any],
    signature: str,
    *arrays: Array,
    dtypes: Dtype | Sequence[Dtype],
    sizes: dict[str, int] | None = None,
    **options: Any,
) -> Any:
    """Return the result of a generalised ufunc of NumPy, one array or a tuple, with the core axes in one chunk each.

    Parameters
    ----------
    function : callable
        Of NumPy's arrays; it takes stacks.
    signature : str
        As dask's `apply_gufunc` takes it; no name may occur twice in one array.
    dtypes : dtype or list of dtype
        Of the outputs, a list if there are several.
    sizes : dict from str to int
        Lengths of core axes that occur only in outputs.
    """
    if any(0 in x.shape for x in arrays):  # the result depends on no value, and dask would divide by 0
        made = function(*map(_stand_in, arrays), **options)
        return tuple(map(cut, made)) if isinstance(made, tuple) else cut(np.asarray(made))
    loops = [part.count(",") + 1 if part.strip("()") else 0 for part in signature.partition("->")[0].split("),(")]
    arrays = tuple(whole(x, range(-core, 0)) if core else x for x, core in zip(arrays, loops, strict=True))
    meta = tuple(empty(1, dtype) for dtype in dtypes) if isinstance(dtypes, list) else empty(1, dtypes)
    return da.apply_gufunc(function, signature, *arrays, meta=meta, output_sizes=sizes, allow_rechunk=True, **options)


def _stand_in(x: Array) -> Any:
    """Return a NumPy array like `x`, with invertible matrices if possible."""
    made = np.zeros(x.shape, x.dtype)
    return made + np.eye(*x.shape[-2:], dtype=x.dtype) if x.ndim > 1 else made


def empty(ndim: int, dtype: Dtype) -> Any:
    """Return the `meta` of dask, an empty NumPy array with the type of the chunks."""
    return np.empty((0,) * ndim, dtype)


def computed(module: str, name: str, parameters: dict[str, Any], *blocks: Any) -> Any:
    """Return the result of NumPy's kernel `name` on chunks; a worker may have to import its declaration."""
    importlib.import_module(module)
    kernel: Any = functools.reduce(getattr, name.split("."), xpgrad.get_device("@numpy").backend.root.xp)
    return np.asarray(kernel(*blocks, **parameters))
