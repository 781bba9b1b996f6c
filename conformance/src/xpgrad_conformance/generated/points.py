"""Points where formulas change, and the shapes in which elementwise functions meet them."""

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.sample import Argument
from xpgrad_conformance.generated.values import extreme_numbers, near, special_numbers

FORMS = ("n",), ("n", "m"), ("k", "n", "m"), ("m", "n")
"""Axes of arrays with a long axis: only axis, first, middle, last."""
PAIRS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("n",), ("n",)),
    (("n",), ()),
    ((), ("n",)),
    ((), ()),
    (("n", "m"), ("m",)),
    (("m", "n"), ("n",)),
    (("m", ""), ("m", "n")),
    (("n", ""), ("n", "m")),
    (("k", "n", "m"), ("k", "", "m")),
    (("", "m"), ("n", "")),
    (("k", "", "n"), ("", "m", "n")),
    (("k", "m", ""), ("n",)),
)
"""The axes of two arrays that broadcast: number, row, column, middle axis, in both directions; "" has the length 1."""
UNEVEN = 5, 7, 9, 11, 17, 19, 33
SHORT = 1, 2, 3, 4, 9
"""Lengths of several axes of one array, in addition to two `UNEVEN` lengths."""
SEVERAL = 60, 5
"""Number of arrays with several chosen axes, and of sets of shapes that broadcast, in the full and the quick
profile."""
RANKS = 6, 7, 8
"""Numbers of axes beyond the ranks with unrolled loops."""
SHORT_AXES = {"m": 3, "k": 2, "": 1}
"""The lengths of the axes that are short."""
WIDTHS = 3, 18, 5, 10
"""Lengths of the axis "m" next to an axis of at most 64: some are no multiples of 4, and greater than blocks of 4, 8
and 16."""
SMALL = 1e-30, 1e-8, 1e-4, 3e-3, 0.02, 0.1, 0.25, 0.5
"""Where series end and formulas begin."""
SPECIAL = 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, np.inf, -np.inf
"""Points with special derivatives (jumps, infinite, or zero times infinity), and equal arguments."""
EXPONENTS = {"above": (0.8, 0.98), "below": (-0.98, -0.8), "beyond": (1.05, 1.3), "under": (-1.3, -1.18)}
"""Ranges in units of the logarithm of the largest number, where exp overflows or underflows, or nearly does so."""
POWERS = {"large": (0.3, 0.45), "small": (-0.45, -0.3), "larger": (0.6, 0.9), "smaller": (-0.9, -0.6)}
"""Ranges as powers of the largest number: squares are numbers there, or overflow and underflow."""
Points = Callable[[str], Sequence[float]]
"""``points(dtype)`` returns numbers where a function's formula changes, or its result ends."""


def shaped(axes: Sequence[str], n: int) -> tuple[int, ...]:
    """Return the shape of an array with these axes, where ``n`` is long; ``m`` depends on a short n."""
    few = {**SHORT_AXES, "m": WIDTHS[n % len(WIDTHS)]} if n <= 64 else SHORT_AXES
    return tuple(few.get(name, n) for name in axes)


def many_axes(draw: Draw) -> list[tuple[int, ...]]:
    """Return shapes with many short axes of different lengths; only one shape in the quick profile."""
    ranks = (draw.pick(RANKS),) if draw.quick else RANKS
    return [tuple(draw.rng.permutation([2, 3, 2, 1, 2, 3, 2, 1][:rank]).tolist()) for rank in ranks]


def several_axes(draw: Draw) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield shapes of 3 to 5 axes, and several of their axes in any order, with lengths that leave remainders."""
    for _ in range(SEVERAL[draw.quick]):
        rank = int(draw.rng.integers(3, 6))
        lengths = [*draw.rng.permutation(UNEVEN)[:2].tolist(), *draw.rng.permutation(SHORT)[: rank - 2].tolist()]
        axes = draw.rng.permutation(rank)[: draw.rng.integers(2, rank)]
        yield tuple(draw.rng.permutation(lengths).tolist()), tuple(int(k) - rank * draw.pick((0, 1)) for k in axes)


def broadcasting(draw: Draw, count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield the shapes of `count` arrays that broadcast: each axis of each is complete, of length 1, or missing.

    Some have many axes, in which adjacent axes are broadcast in different arrays and cannot be merged.
    """
    for _ in range(SEVERAL[draw.quick]):
        rank = int(draw.rng.integers(2, 5))
        if draw.rng.integers(4) == 0:
            yield _alternating(draw, count)
            continue
        whole = [int(n) for n in draw.rng.choice((1, 2, 3, 3, 4, 5, 9), rank)]
        if draw.rng.integers(3) == 0:  # then rows and columns are confused easily
            whole = [draw.pick((2, 3, 5))] * rank
        shapes = []
        for _ in range(count):
            shape = [n if draw.rng.integers(2) else 1 for n in whole]
            missing = next((k for k, n in enumerate(shape) if n > 1), rank)
            shapes.append(tuple(shape[draw.pick((0, 0, missing)) :]))
        yield tuple(shapes)


def _alternating(draw: Draw, count: int) -> tuple[tuple[int, ...], ...]:
    """Return shapes of six or seven axes, in which adjacent axes are broadcast in different arrays."""
    shapes: list[list[int]] = [[] for _ in range(count)]
    last: tuple[int, ...] = ()
    for n in draw.rng.choice((2, 3), draw.pick((6, 7))).tolist():
        whole = [each for each in itertools.product((0, 1), repeat=count) if any(each) and each != last]
        last = draw.pick(whole)
        for shape, there in zip(shapes, last, strict=True):
            shape.append(n if there else 1)
    return tuple(map(tuple, shapes))


def fixed(*numbers: float) -> Points:
    """Return points that are the same in all dtypes."""
    return lambda dtype: numbers


def ends(name: str, *more: float) -> Points:
    """Return the values of a function, "log" or "sqrt", at the dtype's limits, with both signs, and `more`."""

    def points(dtype: str) -> list[float]:
        info = np.finfo(dtype)
        limits = [info.max, info.smallest_normal, info.smallest_subnormal, info.eps]
        found = [abs(float(getattr(np, name)(float(limit)))) for limit in limits]
        return [*found, *(-each for each in found), *more]

    return points


def both(*numbers: float) -> Points:
    """Return points with both signs, for all dtypes."""
    return fixed(*numbers, *(-number for number in numbers))


def signed(points: Points) -> Points:
    """Return points of both signs."""
    return lambda dtype: [sign * each for each in points(dtype) for sign in (1.0, -1.0)]


def ranges(dtype: str, *names: str) -> list[tuple[float, float]]:
    """Return ranges far from 1 in a real dtype, by their names in `EXPONENTS` and `POWERS`; -name negates a range."""
    largest = float(np.finfo(dtype).max)
    found = []
    for name in names:
        sign, name = (-1.0, name[1:]) if name.startswith("-") else (1.0, name)
        if name in POWERS:
            ends = [sign * largest**power for power in POWERS[name]]
        else:
            ends = [sign * float(np.log(largest)) * share for share in EXPONENTS[name]]
        found.append((min(ends), max(ends)))
    return found


def every_number(draw: Draw, more: Sequence[float] = ()) -> Argument:
    """Return a vector of all special and extreme numbers of the dtype, and more, in an order of chance."""
    numbers = [*special_numbers(draw.dtype), *near(extreme_numbers(draw.dtype), draw.dtype), *more]
    host = draw.rng.permutation(np.asarray(numbers).astype(draw.dtype))
    if not draw.has("subnormal_numbers"):
        host[np.abs(host) < np.finfo(host.dtype).smallest_normal] = 0.0
    return Argument(host, ("n",))
