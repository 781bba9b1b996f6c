"""Quantiles of families that have no quantile formula."""

import math
from collections.abc import Callable
from typing import Any

from xpgrad.array_api import exp, floor, ones_like, sqrt, where
from xpgrad.distributions.families.family import Family, Shapes, bound_of, tail
from xpgrad.distributions.sampling import none_known_true
from xpgrad.graph.variable import Variable
from xpgrad.transforms.custom import stop_gradient

BISECTIONS, DOUBLINGS = 80, 44
"""Steps of the search for a quantile; a count or a number of single precision needs fewer."""


def searched(family: Family, q: Variable, shapes: Shapes, upper: bool) -> Variable:
    """Return inverses of the distribution function, or of the survival function if `upper`, found by bisection.

    Distances from a finite lower end are bisected on a logarithmic scale, so that small ones are accurate, too. Two
    steps of Newton's method from there have the derivatives up to the third.
    """
    inner = (q > 0) & (q < 1)
    goal, fixed = where(inner, stop_gradient(q), 0.5), stop_gradient(shapes)
    low, high = bound_of(family.low, fixed), bound_of(family.high, fixed)
    name, whole = "sf" if upper else "cdf", int(family.integers)
    start: Any = 0.0 if low is None else low - whole
    logarithmic = low is not None and not whole

    def reaches(distance: Variable) -> Variable:
        y = tail(family, name, start + distance, fixed)
        return y <= goal if upper else y >= goal

    one, spec = ones_like(goal), goal.node.spec
    least = float(spec.backend.finfo(spec.dtype).smallest_normal) if logarithmic else 0.0
    below = _doubled(-one, reaches) if low is None else least * one
    known = high is not None and not callable(family.high)
    above = 0 * goal + (high - start) if known else _doubled(one, lambda z: ~reaches(z))
    for _ in range(BISECTIONS):
        middle = sqrt(below) * sqrt(above) if logarithmic else 0.5 * (below + above)
        middle = floor(middle) if whole else middle
        beyond = reaches(middle)
        below, above = where(beyond, below, middle), where(beyond, middle, above)
        if whole and none_known_true(above - below > 1):
            break
    z = start + above
    if not whole:
        for _ in range(2):
            rise = tail(family, name, z, shapes) - where(inner, q, 0.5)
            slope = exp(family.logpdf(z, *shapes))
            z = z + (rise if upper else -rise) / where(slope > 0, slope, math.inf)
    ends = (-math.inf if low is None else start), (math.inf if high is None else high)
    first, last = reversed(ends) if upper else ends
    return where(inner, z, where((q >= 0) & (q <= 1), where(q <= 0, 0 * goal + first, last), math.nan))


def _doubled(z: Variable, inside: Callable[[Variable], Variable]) -> Variable:
    """Return `z` times 2, 4, 8, ... until ``inside(z)`` is false."""
    for k in range(DOUBLINGS):
        more = inside(z)
        if none_known_true(more):
            break
        z = where(more, 2.0 ** (k + 1) * z, z)
    return z
