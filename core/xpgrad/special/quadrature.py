"""Gauss–Legendre quadrature of arrays of integrals, for the functions that are defined by one."""

import functools
import math
from collections.abc import Callable

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


def integral(
    xp: Namespace, f: Callable[[Array], Array], low: Array, high: Array, count: int, parts: int = 1, size: int = 0
) -> Array:
    """Return the integrals of `f` from `low` to `high`, elementwise.

    Parameters
    ----------
    xp : namespace
    f : callable
        From an array with an axis behind those of `low`, along which the nodes are, to one of the same shape.
    low, high : array, real floating-point
    count : int
        Nodes of a part.
    parts : int
        Equal parts into which the range is cut.
    size : int
        Number of elements of `f` at one node, if that is more than those of `low` and `high`.
    """
    nodes, weights = legendre(count)
    places = [(part + (1 + x) / 2) / parts for part in range(parts) for x in nodes]
    shares = [weight / (2 * parts) for _ in range(parts) for weight in weights]
    width = high - low
    return width * summed(xp, lambda at: f(low[..., None] + width[..., None] * at), places, shares, width, size)


def summed(
    xp: Namespace, f: Callable[[Array], Array], places: list[float], shares: list[float], like: Array, size: int = 0
) -> Array:
    """Return the sum of `f` at some places times their shares; `f` and `size` are as for `integral`."""
    group = max(1, CHUNK // max(1, size, math.prod(like.shape)))
    total = 0.0
    for start in range(0, len(places), group):
        at = row(xp, places[start : start + group], like)
        total = total + xp.sum(f(at) * row(xp, shares[start : start + group], like), axis=-1)
    return total


def row(xp: Namespace, values: list[float], like: Array) -> Array:
    """Return numbers as an array of one axis, of dtype and device of `like`."""
    return xp.asarray(values, dtype=like.dtype, device=xp.device_of(like))
