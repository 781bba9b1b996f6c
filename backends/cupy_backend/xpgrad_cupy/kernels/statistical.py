"""Sums, called directly."""

import math

import cupy

from xpgrad.types import Array, Shape


def sum_to(x: Array, /, shape: Shape) -> Array:
    """Return `x` summed over the axes that broadcasting from `shape` added or stretched, in one launch."""
    lead = x.ndim - len(shape)
    if x.dtype.char == "e" and x.shape != shape:
        return sum_to(x.astype(cupy.float32), shape).astype(x.dtype)
    if lead and x.shape[lead:] == shape and math.prod(shape):  # a bias: no axis is kept
        return cupy.sum(x, axis=tuple(range(lead)), dtype=x.dtype)
    axes = tuple(range(lead)) + tuple(i + lead for i, n in enumerate(shape) if n == 1 and x.shape[i + lead] != 1)
    if not axes:
        return x
    total = cupy.sum(x, axis=axes, dtype=x.dtype, keepdims=True)
    return total if total.shape == shape else total.reshape(shape)


STATISTICAL = {"sum_to": sum_to}
