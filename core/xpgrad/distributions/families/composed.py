"""Families derived from a base family by a monotonic function or a random sign."""

import math
from collections.abc import Callable
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.distributions.families.family import Bound, Family, Formula
from xpgrad.graph.variable import Variable

Shapes = Callable[..., tuple[Any, ...]]


def transformed(
    name: str, base: Family, forward: Formula, log_slope: Formula, backward: Formula, *, decreasing: bool = False,
    shapes: Shapes = lambda *shapes: (), low: Bound = -math.inf, high: Bound = math.inf, open: bool = False,
    inner: Bound = 0.0, logpdf: Formula | None = None,
) -> Family:  # fmt: skip
    """Return the family of an `x` for which ``forward(x)`` is of the family `base`.

    Parameters
    ----------
    name : str
    base : Family
    forward, log_slope : callable
        The monotonic function of `x` and the shapes, and the logarithm of the absolute value of its derivative.
    backward : callable
        Its inverse.
    decreasing : bool
    shapes : callable
        Converts the shapes of the new family to the shapes of `base`; by default `base` has no shapes.
    low, high, open, inner
        As in `Family`.
    logpdf : callable, optional
        A formula to use instead of the density of `base` times the slope.
    """
    lower, upper = ("sf", "cdf") if decreasing else ("cdf", "sf")

    def at(formula: str) -> Formula | None:
        inside: Formula | None = getattr(base, formula)
        return None if inside is None else lambda x, *given: inside(forward(x, *given), *shapes(*given))

    def of(formula: str) -> Formula | None:
        outside: Formula | None = getattr(base, formula)
        return None if outside is None else lambda q, *given: backward(outside(q, *shapes(*given)), *given)

    def density(x: Variable, *given: Variable) -> Any:
        return base.logpdf(forward(x, *given), *shapes(*given)) + log_slope(x, *given)

    draw = base.sample
    return Family(
        name=name,
        logpdf=density if logpdf is None else logpdf,
        low=low,
        high=high,
        open=open,
        finite=True,
        inner=inner,
        cdf=at(lower),
        sf=at(upper),
        logcdf=at(f"log{lower}"),
        logsf=at(f"log{upper}"),
        ppf=of("isf" if decreasing else "ppf"),
        isf=of("ppf" if decreasing else "isf"),
        sample=None if draw is None else lambda draws, *given: backward(draw(draws, *shapes(*given)), *given),
    )


def symmetric(**formulas: Any) -> Family:
    """Return a family that is symmetric about 0, whose upper tail and `isf` follow from the lower tail and `ppf`."""
    cdf, logcdf, ppf = formulas["cdf"], formulas.get("logcdf"), formulas.get("ppf")
    return Family(
        sf=lambda z, *shapes: cdf(-z, *shapes),
        logsf=None if logcdf is None else lambda z, *shapes: logcdf(-z, *shapes),
        isf=None if ppf is None else lambda q, *shapes: -ppf(q, *shapes),
        **formulas,
    )


def reflected(name: str, base: Family) -> Family:
    """Return the family of minus a number of the family `base`, whose ends are 0 or infinite."""
    low = base.high if isinstance(base.high, float) else math.inf
    high = base.low if isinstance(base.low, float) else -math.inf
    inner = base.inner
    return transformed(
        name, base, lambda x, *shapes: -x, lambda x, *shapes: 0.0, lambda y, *shapes: -y, decreasing=True,
        shapes=lambda *shapes: shapes, low=-low, high=-high, open=base.open,
        inner=-inner if isinstance(inner, float) else 0.0,
    )  # fmt: skip


def mirrored(name: str, half: Family) -> Family:
    """Return the family of a positive number of the family `half` with a random sign."""

    def lower(x: Variable, *shapes: Variable) -> Variable:
        assert half.sf is not None
        tail = 0.5 * half.sf(xpa.abs(x), *shapes)
        return xpa.where(x < 0, tail, 1 - tail)

    def quantile(q: Variable, *shapes: Variable) -> Variable:
        assert half.isf is not None
        left = q < 0.5
        size = half.isf(2 * xpa.where(left, q, 1 - q), *shapes)
        return xpa.where(left, -size, size)

    return symmetric(
        name=name,
        logpdf=lambda x, *shapes: half.logpdf(xpa.abs(x), *shapes) - math.log(2),
        finite=half.finite,
        inner=1.0,
        cdf=lower,
        ppf=quantile,
    )
