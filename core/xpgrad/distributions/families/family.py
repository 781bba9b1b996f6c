"""A family of distributions in standard form, and its distribution functions."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from xpgrad import array_api as xpa
from xpgrad.graph.variable import Variable

Formula = Callable[..., Any]
"""A function of Variables: of a point and the shapes, or of the shapes."""
Bound = float | Formula
"""An end of the support, or a function of the shapes."""
MAX_TERMS = 1024
Shapes = tuple[Variable, ...]


@dataclass(frozen=True, kw_only=True)
class Family:
    """Formulas of a family of distributions with location 0 and scale 1.

    Formulas take a point of the support and the shapes. A missing formula is computed from other formulas if possible.

    Attributes
    ----------
    name : str
        Name for error messages.
    logpdf : callable
        Log density, or log probability of an integer.
    integers : bool
        Whether the support is of integers.
    low, high : float or callable
        Ends of the support; outside the density is 0.
    open : bool
        Whether finite ends are not part of the support.
    finite : bool
        Whether formulas are for finite points only.
    inner : float or callable
        A point inside of the support, at which formulas are evaluated instead of points outside.
    reach : tuple of callable or None
        For integers without a formula for tails: between which points all probabilities are that count, if not `low`
        and `high`.
    cdf, sf, logcdf, logsf : callable or None
        Distribution function, survival function, and their logarithms.
    ppf, isf : callable or None
        Inverses of `cdf` and `sf`.
    mean, variance, mode, entropy : callable or None
        Functions of the shapes.
    sample : callable or None
        Takes `Draws` and the shapes; by default `ppf` of uniformly distributed numbers.
    """

    name: str
    logpdf: Formula
    integers: bool = False
    low: Bound = -math.inf
    high: Bound = math.inf
    open: bool = False
    finite: bool = False
    inner: Bound = 0.0
    reach: tuple[Formula, Formula] | None = None
    cdf: Formula | None = None
    sf: Formula | None = None
    logcdf: Formula | None = None
    logsf: Formula | None = None
    ppf: Formula | None = None
    isf: Formula | None = None
    mean: Formula | None = None
    variance: Formula | None = None
    mode: Formula | None = None
    entropy: Formula | None = None
    sample: Formula | None = None

    def sides(self, z: Variable, shapes: Shapes) -> tuple[Variable | None, Variable | None]:
        """Return where `z` is below the support and where above it; None is nowhere."""
        low, high = bound_of(self.low, shapes), bound_of(self.high, shapes)
        below = None if low is None else (z <= low if self.open else z < low)
        above = None if high is None else (z >= high if self.open else z > high)
        if self.finite:
            below = either(below, None if isinstance(low, float) else z == -math.inf)
            above = either(above, None if isinstance(high, float) else z == math.inf)
        return below, above

    def moved_inside(self, z: Variable, outside: Variable | None, shapes: Shapes) -> Variable:
        """Return `z` with the points outside of the support replaced, so that no formula gives NaN there."""
        if outside is None:
            return z
        return xpa.where(outside, self.inner(*shapes) if callable(self.inner) else self.inner, z)


def bound_of(bound: Bound, shapes: Shapes) -> Any:
    """Return an end of the support, None if it is infinite for all shapes."""
    if callable(bound):
        return bound(*shapes)
    return None if math.isinf(bound) else bound


def either(below: Variable | None, above: Variable | None) -> Variable | None:
    """Return where one of two conditions holds; None holds nowhere."""
    if below is None or above is None:
        return above if below is None else below
    return below | above


def missing(family: Family, what: str) -> NoReturn:
    """Raise the error of a family without a formula."""
    raise NotImplementedError(f"{family.name}: there is no formula of its {what}")


_TAILS = {
    "cdf": ("sf", 0.0, 1.0),
    "sf": ("cdf", 1.0, 0.0),
    "logcdf": ("cdf", -math.inf, 0.0),
    "logsf": ("sf", 0.0, -math.inf),
}
"""The formula from which one is computed if it is missing, and its values below and above the support."""


def _tail_formula(family: Family, name: str) -> Formula:
    """Return the formula `name` of a family, or compose it from other formulas."""
    formula: Formula | None = getattr(family, name)
    if formula is not None:
        return formula
    source = _TAILS[name][0]
    if name.startswith("log"):
        own, other = _tail_formula(family, source), _tail_formula(family, _TAILS[source][0])
        return lambda z, *shapes: _log_of_tail(own(z, *shapes), other(z, *shapes))
    same: Formula | None = getattr(family, f"log{name}")
    if same is not None:
        return lambda z, *shapes: xpa.exp(same(z, *shapes))
    rest: Formula | None = getattr(family, f"log{source}")
    if rest is not None:
        return lambda z, *shapes: -xpa.expm1(rest(z, *shapes))
    inner: Formula | None = getattr(family, source)
    if inner is None:
        return lambda z, *shapes: _summed(family, name, z, shapes)
    return lambda z, *shapes: 1 - inner(z, *shapes)


def _summed(family: Family, name: str, z: Variable, shapes: Shapes) -> Variable:
    """Return a tail as the sum of probabilities of integers; NaN for more than `MAX_TERMS` of an unknown number."""
    wide = tuple(x[..., None] for x in shapes)
    ends: list[Any] = [x(*wide) if callable(x) else x for x in family.reach or (family.low, family.high)]
    low, high = ends
    count = xpa.where((high > low) & (high - low < math.inf), high - low, 0.0)[..., 0] + 1.0
    most, backend = xpa.max(count)._array, count.node.spec.backend
    known = backend.has_values(most) and not backend.is_pending(most)
    steps = xpa.arange(int(backend.largest(most)) if known else MAX_TERMS, dtype=z.dtype, device=z.device)
    k = xpa.floor(z[..., None])
    k = xpa.minimum(k, high) - steps if name == "cdf" else xpa.maximum(k + 1, low) + steps
    outside = either(*family.sides(k, wide))
    y = xpa.exp(family.logpdf(family.moved_inside(k, outside, wide), *wide))
    total = xpa.sum(y if outside is None else xpa.where(outside, 0.0, y), axis=-1)
    return total if known else xpa.where(count > MAX_TERMS, math.nan, total)


def _log_of_tail(tail: Variable, other: Variable) -> Variable:
    """Return the logarithm of a tail, computed from the smaller tail."""
    small, zero = tail < 0.5, tail <= 0
    of_small = xpa.log(xpa.where(small & ~zero, tail, 0.5))
    return xpa.where(zero, -math.inf, xpa.where(small, of_small, xpa.log1p(-xpa.where(small, 0.5, other))))


def tail(family: Family, name: str, z: Variable, shapes: Shapes) -> Variable:
    """Return a distribution function, survival function or the logarithm of one, in standard form."""
    below, above = family.sides(z, shapes)
    y: Variable = _tail_formula(family, name)(family.moved_inside(z, either(below, above), shapes), *shapes)
    _, low, high = _TAILS[name]
    y = y if below is None else xpa.where(below, low, y)
    return y if above is None else xpa.where(above, high, y)
