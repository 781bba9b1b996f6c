"""Reductions: array_api_compat's pass repeated axes to dask, which counts them twice."""

import functools
from collections.abc import Callable
from typing import Any

from xpgrad.types import Array
from xpgrad_dask.libraries import compat
from xpgrad_dask.shapes import reshape


def _reduction(name: str) -> Callable[..., Array]:
    function = getattr(compat, name)

    @functools.wraps(function)
    def reduce(x: Array, /, *, axis: Any = None, **options: Any) -> Array:
        if isinstance(axis, tuple) and len({a % (x.ndim or 1) for a in axis}) < len(axis):
            raise ValueError(f"{name}: expected axes that differ, got {axis} of an array with {x.ndim}")
        return function(x, axis=axis, **options)

    return reduce


def _position(name: str) -> Callable[..., Array]:
    function = getattr(compat, name)

    @functools.wraps(function)
    def first(x: Array, /, *, axis: int | None = None, keepdims: bool = False) -> Array:
        if axis is not None or x.ndim < 2:
            return function(x, axis=axis, keepdims=keepdims)
        found = function(reshape(x, (-1,)), axis=0)  # of equal elements, dask's own takes that of the first chunk
        return reshape(found, (1,) * x.ndim) if keepdims else found

    return first


argmax = _position("argmax")
argmin = _position("argmin")
all = _reduction("all")
any = _reduction("any")
count_nonzero = _reduction("count_nonzero")
max = _reduction("max")
mean = _reduction("mean")
min = _reduction("min")
prod = _reduction("prod")
std = _reduction("std")
sum = _reduction("sum")
var = _reduction("var")
