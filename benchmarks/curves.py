"""Curves of measured points: crossings of two curves, and slopes."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

Curve = Mapping[float, float]
"""What is measured, such as seconds, at each size."""


class Crossing(NamedTuple):
    """Where one curve falls below another, or rises above it (`falls` is False); between two sizes on a log scale."""

    size: float
    falls: bool


def crossings(first: Curve, second: Curve) -> list[Crossing]:
    """Return the crossings of the first curve with the second, in order of size.

    Sizes of only one curve are omitted. Between two sizes, curves are straight lines on logarithmic scales.
    """
    found = []
    sizes = sorted(first.keys() & second.keys())
    ratios = [math.log(first[size] / second[size]) for size in sizes]
    for i in range(1, len(sizes)):
        before, after = ratios[i - 1], ratios[i]
        if (before < 0) != (after < 0):
            part = before / (before - after)
            at = math.exp(math.log(sizes[i - 1]) * (1 - part) + math.log(sizes[i]) * part)
            found.append(Crossing(at, after < 0))
    return found


def slope(curve: Curve) -> float:
    """Return the exponent of the best-fitting power law: 0 for a constant curve, 1 for linear growth."""
    if len(curve) < 2:
        return math.nan
    x = [math.log(size) for size in curve]
    y = [math.log(value) for value in curve.values()]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    across = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return across / sum((a - mean_x) ** 2 for a in x)


def number(value: float) -> str:
    """Return a count as readable text: `850`, `12 thousand`, `3.2 million`."""
    for scale, word in ((1e6, " million"), (1e3, " thousand")):
        if value >= scale * 0.9995:
            return f"{_digits(value / scale)}{word}"
    return _digits(value)


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 else f"{value:.2g}"


def sentence(first: str, second: str, one: Curve, other: Curve, unit: str = "elements") -> str:
    """Return a sentence on which contestant is faster at which sizes; empty without common sizes."""
    sizes: Sequence[float] = sorted(one.keys() & other.keys())
    if not sizes:
        return ""
    factors = {size: other[size] / one[size] for size in sizes}
    first_factor, last_factor = (_digits(factors[size]) for size in (sizes[0], sizes[-1]))
    ends = f"{first_factor} times as fast at {number(sizes[0])}, {last_factor} at {number(sizes[-1])}"
    crossed = crossings(one, other)
    if not crossed:
        always = "faster" if factors[sizes[0]] > 1 else "slower"
        return f"{first} is {always} than {second} at every size ({ends} {unit})."
    places = [f"{'faster from' if each.falls else 'slower from'} {number(each.size)} {unit}" for each in crossed]
    return f"{first} is {' on, '.join(places)} on than {second} ({ends})."
