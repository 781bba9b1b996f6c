"""Quadrature of arrays of integrals, for functions that are defined by one: Gauss–Legendre and trapezoidal rules."""

import functools
import math
from collections.abc import Callable, Sequence

from xpgrad.types import Array, Namespace

CHUNK = 1 << 16  # elements of temporary arrays: nodes are summed in groups that stay about this large


@functools.cache
def legendre(count: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return nodes and weights on [-1, 1], by Newton's method on the Legendre polynomial of degree `count`."""
    nodes, weights = [], []
    for i in range(count):
        x = math.cos(math.pi * (i + 0.75) / (count + 0.5))
        slope = 1.0
        for _ in range(6):
            before, p = 1.0, x
            for k in range(2, count + 1):
                before, p = p, ((2 * k - 1) * x * p - (k - 1) * before) / k
            slope = count * (x * p - before) / (x * x - 1)
            x -= p / slope
        nodes.append(x)
        weights.append(2 / ((1 - x * x) * slope * slope))
    return tuple(nodes), tuple(weights)


def trapezoids(count: int, ends: float = 0.5) -> tuple[list[float], list[float]]:
    """Return nodes and weights on [0, 1] of a function that vanishes at 1; `ends` is the weight of the first node."""
    return [k / count for k in range(count)], [ends / count] + [1 / count] * (count - 1)


def integral(
    xp: Namespace, f: Callable[[Array], Array], low: Array, high: Array, count: int, parts: int = 1, size: int = 0
) -> Array:
    """Return the integrals of `f` from `low` to `high`, elementwise.

    Parameters
    ----------
    xp : namespace
    f : callable
        Takes an array with one more axis after the axes of `low`, which numbers the nodes, and returns an array of the
        same shape.
    low, high : array, real floating-point
    count : int
        Nodes of a part.
    parts : int
        Equal parts into which the range is cut.
    size : int
        Number of elements of `f` at one node, if it exceeds the number of elements of `low` and `high`.
    """
    nodes, weights = legendre(count)
    places = [(part + (1 + x) / 2) / parts for part in range(parts) for x in nodes]
    shares = [weight / (2 * parts) for _ in range(parts) for weight in weights]
    width = high - low
    return width * weighted_sum(xp, lambda at: f(low[..., None] + width[..., None] * at), places, shares, width, size)


def unit_integral(xp: Namespace, f: Callable[[Array], Array], count: int, like: Array) -> Array:
    """Return the integrals of `f` from 0 to 1 with `count` nodes, in the shape of `like`."""
    nodes, weights = legendre(count)
    return weighted_sum(xp, f, [(1 + u) / 2 for u in nodes], [w / 2 for w in weights], like)


def weighted_sum(
    xp: Namespace, f: Callable[[Array], Array], nodes: Sequence[float], weights: Sequence[float], like: Array,
    size: int = 0,
) -> Array:  # fmt: skip
    """Return the sum of `f` at the nodes times their weights; `f` and `size` are as for `integral`."""
    group = max(1, CHUNK // max(1, size, math.prod(like.shape)))
    total = 0.0
    for start in range(0, len(nodes), group):
        at = as_row(xp, nodes[start : start + group], like)
        total = total + xp.sum(f(at) * as_row(xp, weights[start : start + group], like), axis=-1)
    return total


def as_row(xp: Namespace, values: Sequence[float], like: Array) -> Array:
    """Return numbers as an array with one axis, on the device and with the dtype of `like`."""
    return xp.asarray(values, dtype=like.dtype, device=xp.device_of(like))
