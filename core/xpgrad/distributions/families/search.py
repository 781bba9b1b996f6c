"""Quantiles of families that have no quantile formula."""

import math
from collections.abc import Callable

from xpgrad.array_api import exp, floor, ones_like, where
from xpgrad.distributions.families.family import Family, Shapes, bound_of, tail
from xpgrad.distributions.sampling import none_known_true
from xpgrad.graph.variable import Variable
from xpgrad.transforms.custom import stop_gradient

BISECTIONS, DOUBLINGS = 80, 60
"""Steps of the search for a quantile; a count or a number of single precision needs fewer."""


def searched(family: Family, q: Variable, shapes: Shapes) -> Variable:
    """Return quantiles that are found by bisection of the distribution function.

    Two steps of Newton's method from there have the derivatives up to the third.
    """
    inner = (q > 0) & (q < 1)
    goal, fixed = where(inner, stop_gradient(q), 0.5), stop_gradient(shapes)

    def reaches(z: Variable) -> Variable:
        return tail(family, "cdf", z, fixed) >= goal

    low, high = bound_of(family.low, fixed), bound_of(family.high, fixed)
    lower, upper = -ones_like(goal) if low is None else 0 * goal + (low - int(family.integers)), ones_like(goal)
    if low is None:
        lower = _doubled(lower, reaches)
    elif callable(family.low) or low > 0:
        upper = upper + abs(low)
    known = high is not None and not callable(family.high)
    upper = 0 * goal + high if known else _doubled(upper, lambda z: ~reaches(z))
    for _ in range(BISECTIONS):
        middle = 0.5 * (lower + upper)
        middle = floor(middle) if family.integers else middle
        beyond = reaches(middle)
        lower, upper = where(beyond, lower, middle), where(beyond, middle, upper)
        if family.integers and none_known_true(upper - lower > 1):
            break
    z = upper
    if not family.integers:
        for _ in range(2):
            z = z - (tail(family, "cdf", z, shapes) - where(inner, q, 0.5)) / exp(family.logpdf(z, *shapes))
    first = -math.inf if low is None else low - int(family.integers)
    ends = where(q <= 0, 0 * goal + first, math.inf if high is None else high)
    return where(inner, z, where((q >= 0) & (q <= 1), ends, math.nan))


def _doubled(z: Variable, inside: Callable[[Variable], Variable]) -> Variable:
    """Return `z` doubled until ``inside(z)`` is false."""
    for _ in range(DOUBLINGS):
        more = inside(z)
        if none_known_true(more):
            break
        z = where(more, 2 * z, z)
    return z
