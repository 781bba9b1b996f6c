"""Values of every kind that functions must take: ordinary and special ones, extremes, ties, integers at both ends."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from xpgrad.types import Shape

REAL = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}
KINDS = "ordinary", "integers", "specials", "rare", "extremes", "spread", "ties", "near", "sorted", "reversed", "equal"
"""Kinds of `values` for floating-point dtypes; for integers, "specials", "rare" and "spread" mean "extremes", and
"near" means "ties"."""
MARGIN = 0.01
"""The distance of ordinary values from the ends of their range, relative to its length."""


def values(
    kind: str,
    rng: np.random.Generator,
    shape: Shape,
    dtype: str,
    low: float = -2.0,
    high: float = 2.0,
    *,
    points: Sequence[float] = (),
    subnormal: bool = True,
) -> Any:
    """Return a host array of values of a kind.

    Parameters
    ----------
    kind : str
        "ordinary": from the range; "integers": small integers, with exact sums and products; "specials": ordinary
        ones among NaN, infinities, signed zeros and subnormal numbers; "rare": the same, one special in fifty;
        "extremes": the largest and smallest numbers,
        and those where squares overflow or precision ends; "spread": over 30 orders of magnitude, with both signs;
        "ties": few different values; "near": the same, some of which differ in the last digit; "sorted", "reversed",
        "equal": ordinary ones in this order.
    rng : numpy.random.Generator
    shape : tuple of int
    dtype : str
    low, high : float
        The range of ordinary values; for complex dtypes, the range of both parts.
    points : sequence of float
        More special and extreme values of a floating-point dtype, which then are half of the "ordinary" values.
    subnormal : bool
        Whether there may be subnormal numbers.
    """
    target = np.dtype(dtype)
    if target.kind == "b":
        return rng.random(shape) < 0.5
    if target.kind in "iu":
        return _integers(kind, rng, shape, target, low, high)
    if target.kind == "c":
        real = REAL[dtype]
        made = np.empty(shape, target)
        made.real, made.imag = (
            values(kind, rng, shape, real, low, high, points=points, subnormal=subnormal) for _ in range(2)
        )
        return made
    made = np.asarray(_real(kind, rng, shape, target, low, high, points))
    if not subnormal:
        made[np.abs(made) < np.finfo(target).smallest_normal] = 0.0
    return made


def special_numbers(dtype: str) -> list[float]:
    """Return NaN, infinities, signed zeros, and the smallest subnormal numbers of a real dtype."""
    tiny = float(np.finfo(dtype).smallest_subnormal)
    return [np.nan, np.inf, -np.inf, 0.0, -0.0, tiny, -3 * tiny]


def extreme_numbers(dtype: str) -> list[float]:
    """Return the largest and smallest numbers of a real dtype, and those where squares overflow or precision ends."""
    info = np.finfo(dtype)
    largest, smallest = float(info.max), float(info.smallest_normal)
    positive = [
        *(largest, largest / 2, largest**0.5 * 1.5, largest**0.5 / 1.5, smallest, smallest * 1.5, smallest**0.5 / 1.5),
        *(float(info.eps), 1 + float(info.eps), 1 - float(info.epsneg), 0.5 / float(info.eps), 2 / float(info.eps)),
    ]
    return [*positive, *(-number for number in positive)]


def near(numbers: Iterable[float], dtype: str) -> list[float]:
    """Return numbers in a real dtype, with the next smaller and next larger number of each."""
    target = np.dtype(dtype).type
    with np.errstate(all="ignore"):
        given = np.asarray([float(each) for each in numbers]).astype(target)
        found = [given, np.nextafter(given, target(-np.inf)), np.nextafter(given, target(np.inf))]
    return [float(each) for each in np.concatenate(found)]


def _real(
    kind: str, rng: np.random.Generator, shape: Shape, dtype: Any, low: float, high: float, points: Sequence[float]
) -> Any:
    ordinary = low + (high - low) * (MARGIN + (1 - 2 * MARGIN) * rng.random(shape))
    if kind == "integers":
        return rng.integers(-4, 5, shape).astype(dtype)
    if kind in ("specials", "rare", "extremes") or (points and kind == "ordinary"):
        share = {"rare": 0.02, "ordinary": 0.5}.get(kind, 0.4)
        few = {"extremes": extreme_numbers(dtype.name), "ordinary": []}.get(kind, special_numbers(dtype.name))
        with np.errstate(over="ignore"):
            numbers = np.asarray([*few, *points]).astype(dtype)
            chosen = numbers[rng.integers(numbers.size, size=shape)]
            return np.where(rng.random(shape) < share, chosen, ordinary).astype(dtype)
    if kind == "spread":
        decades = 15 if dtype.itemsize > 4 else 9
        return (rng.choice([-1.0, 1.0], shape) * 10.0 ** rng.uniform(-decades, decades, shape)).astype(dtype)
    return _arranged(kind, rng, ordinary.astype(dtype))


def _integers(kind: str, rng: np.random.Generator, shape: Shape, dtype: Any, low: float, high: float) -> Any:
    info = np.iinfo(dtype)
    least = max(info.min, -4 if low < 0 else 0)
    if kind in ("ordinary", "integers", "ties", "near"):
        return rng.integers(max(least, int(low)) if kind == "ordinary" else least, 5, shape).astype(dtype)
    if kind in ("specials", "rare", "extremes", "spread"):
        ends = [0, 1, info.max, info.max - 1, info.min, info.min + 1]
        ends += [m for p in (7, 15, 16, 24, 31, 32, 53, 62, 63) for m in (2**p - 1, 2**p + 1, -(2**p) - 1)]
        return rng.choice(np.asarray([m for m in ends if info.min <= m <= info.max], dtype), shape)
    return _arranged(kind, rng, rng.integers(info.min, info.max, shape, dtype, endpoint=True))


def _arranged(kind: str, rng: np.random.Generator, ordinary: Any) -> Any:
    """Return ordinary values with ties or in an order."""
    if ordinary.size == 0 or kind == "ordinary":
        return ordinary
    flat = ordinary.reshape(-1)
    if kind == "ties":
        return rng.choice(flat[:3], ordinary.shape)
    if kind == "near":
        steps = rng.integers(0, 3, ordinary.shape) * np.finfo(ordinary.dtype).eps
        return (rng.choice(flat[:3], ordinary.shape) * (1 + steps)).astype(ordinary.dtype)
    if kind == "equal":
        return np.full(ordinary.shape, flat[0])
    if kind in ("sorted", "reversed"):
        ordered = np.sort(flat)
        return (ordered if kind == "sorted" else ordered[::-1]).reshape(ordinary.shape)
    raise ValueError(f"values: expected a kind among {', '.join(KINDS)}, got {kind!r}")
