"""Reductions: array_api_compat's pass repeated axes to dask, which counts them twice, and arrays without elements."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad.types import Array
from xpgrad_dask.creation import full
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
        found = function(reshape(x, (-1,)), axis=0)  # dask does not find the first of equal elements
        return reshape(found, (1,) * x.ndim) if keepdims else found

    return first


argmax = _position("argmax")
argmin = _position("argmin")


def _extreme(name: str) -> Callable[..., Array]:
    function = _reduction(name)

    @functools.wraps(function)
    def extreme(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
        if x.size:
            return function(x, axis=axis, keepdims=keepdims)
        shape = np.sum(np.broadcast_to(0, x.shape), axis=axis, keepdims=keepdims).shape
        if 0 not in shape:
            raise ValueError(f"{name}: expected elements along {axis}, got an array of shape {x.shape}")
        return full(shape, 0, dtype=x.dtype)  # dask's own raises, or has other shapes in its chunks

    return extreme


def _cumulative(name: str, initial: int) -> Callable[..., Array]:
    function = getattr(compat, name)

    @functools.wraps(function)
    def cumulative(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
        if x.size or not include_initial:
            return function(x, axis=axis, dtype=dtype, include_initial=include_initial)
        shape = list(x.shape)
        shape[0 if axis is None else axis] += 1
        return full(tuple(shape), initial, dtype=function(x, axis=axis, dtype=dtype).dtype)

    return cumulative


all = _reduction("all")
any = _reduction("any")
count_nonzero = _reduction("count_nonzero")
cumulative_prod = _cumulative("cumulative_prod", 1)
cumulative_sum = _cumulative("cumulative_sum", 0)
max = _extreme("max")
mean = _reduction("mean")
min = _extreme("min")
prod = _reduction("prod")
std = _reduction("std")
sum = _reduction("sum")
var = _reduction("var")
