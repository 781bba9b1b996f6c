"""A family of distributions in standard form, and its members with shapes, a location and a scale."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from xpgrad.array_api import broadcast_shapes, broadcast_to, exp, full_like, isfinite, log, log1p, where
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.distributions.sampling import Draws, draws_for
from xpgrad.graph.variable import Variable
from xpgrad.special.operands import as_floating
from xpgrad.types import AnyArray, Shape

Formula = Callable[..., Any]
"""A function of Variables: of a point and the shapes, or of the shapes."""
Bound = float | Formula
"""An end of the support, or a function of the shapes."""
Shapes = tuple[Variable, ...]


@dataclass(frozen=True, kw_only=True)
class Family:
    """Formulas of a family of distributions with location 0 and scale 1.

    Formulas take a point of the support and the shapes. Where one is None, it is computed from others or does not
    exist.

    Attributes
    ----------
    name : str
        Name for error messages.
    logpdf : callable
        Logarithm of the density, or of the probability of an integer.
    low, high : float or callable
        Ends of the support; outside the density is 0.
    open : bool
        Whether the lower end is not part of the support.
    inner : float or callable
        A point inside of the support, at which formulas are evaluated instead of points outside.
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
    low: Bound = -math.inf
    high: Bound = math.inf
    open: bool = False
    inner: Bound = 0.0
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
        """Return where `z` is below the support and where above it; None for an infinite end."""
        low, high = _bound(self.low, shapes), _bound(self.high, shapes)
        below = None if low is None else (z <= low if self.open else z < low)
        return below, None if high is None else z > high

    def moved_inside(self, z: Variable, outside: Variable | None, shapes: Shapes) -> Variable:
        """Return `z` with the points outside of the support replaced, so that no formula gives NaN there."""
        if outside is None:
            return z
        return where(outside, self.inner(*shapes) if callable(self.inner) else self.inner, z)


def _bound(bound: Bound, shapes: Shapes) -> Any:
    if callable(bound):
        return bound(*shapes)
    return None if math.isinf(bound) else bound


def _either(below: Variable | None, above: Variable | None) -> Variable | None:
    if below is None or above is None:
        return above if below is None else below
    return below | above


@dataclass(frozen=True)
class Member:
    """A distribution of a family: `loc` plus `scale` times one of the standard form.

    Attributes
    ----------
    family : Family
    shapes : tuple of Variable
    loc, scale : Variable, float or None
        None is 0 and 1.
    log_scale : Variable or None
        Logarithm of the scale, if it is known.
    """

    family: Family
    shapes: Shapes = ()
    loc: Any = None
    scale: Any = None
    log_scale: Variable | None = None

    def log_prob(self, x: AnyArray) -> Variable:
        """Return the logarithm of the density, -inf outside of the support."""
        return _log_density(self.family, *self._with(x))

    def prob(self, x: AnyArray) -> Variable:
        """Return the density."""
        return exp(self.log_prob(x))

    def cdf(self, x: AnyArray) -> Variable:
        """Return the probability of at most `x`."""
        return _tail(self.family, "cdf", *self._with(x))

    def survival_function(self, x: AnyArray) -> Variable:
        """Return the probability of more than `x`."""
        return _tail(self.family, "sf", *self._with(x))

    def log_cdf(self, x: AnyArray) -> Variable:
        """Return the logarithm of `cdf`."""
        return _tail(self.family, "logcdf", *self._with(x))

    def log_survival_function(self, x: AnyArray) -> Variable:
        """Return the logarithm of `survival_function`."""
        return _tail(self.family, "logsf", *self._with(x))

    def icdf(self, q: AnyArray) -> Variable:
        """Return the inverse of `cdf`."""
        return _quantile(self.family, False, *self._with(q))

    def isf(self, q: AnyArray) -> Variable:
        """Return the inverse of `survival_function`."""
        return _quantile(self.family, True, *self._with(q))

    @property
    def mean(self) -> Variable:
        """Mean."""
        return self._placed(self._moment("mean"))

    @property
    def mode(self) -> Variable:
        """A point at which the density is largest."""
        return self._placed(self._moment("mode"))

    @property
    def variance(self) -> Variable:
        """Variance."""
        variance = self._moment("variance")
        return self._full(_times(variance, None if self.scale is None else self.scale**2))

    @property
    def entropy(self) -> Variable:
        """Entropy, in nats."""
        entropy = self._moment("entropy")
        if self.log_scale is not None:
            entropy = self.log_scale + entropy
        elif self.scale is not None:
            entropy = entropy + _log_of(self.scale)
        return self._full(entropy)

    def sample(self, n: int, batch_shape: Shape) -> Variable:
        """Return `n` independent samples, of shape ``(n, *batch_shape)``."""
        formula = self.family.sample
        if formula is None:
            if self.family.ppf is None:
                _missing(self.family, "samples")
            formula = _by_inversion(self.family.ppf)
        return _sample((n, *batch_shape), formula, self.shapes, self.loc, self.scale)

    def _with(self, x: AnyArray) -> tuple[Any, ...]:
        """Return `x`, the shapes, the location and the scale, as operands of one library and floating-point dtypes."""
        given = (*self.shapes, *(v for v in (self.loc, self.scale) if isinstance(v, Variable)))
        floating = as_floating(self.family.name, (x, *given))
        return floating[0], self.shapes, self.loc, self.scale, self.log_scale

    def _moment(self, name: str) -> Any:
        formula = getattr(self.family, name)
        if formula is None:
            _missing(self.family, name)
        return formula(*self.shapes)

    def _placed(self, value: Any) -> Variable:
        """Return a point of the standard form as one of this member."""
        if isinstance(value, float) and value == 0 and self.loc is not None:
            return self._full(self.loc)
        value = _times(value, self.scale)
        return self._full(value if self.loc is None else value + self.loc)

    def _full(self, value: Any) -> Variable:
        """Return `value` as a Variable of the shape to which all parameters broadcast."""
        parameters = [x for x in (*self.shapes, self.loc, self.scale) if isinstance(x, Variable)]
        full: Variable = value if isinstance(value, Variable) else full_like(parameters[0], value)
        if all(full.shape == x.shape for x in parameters):
            return full
        return broadcast_to(full, broadcast_shapes(*(x.shape for x in parameters)))


def _times(value: Any, factor: Any) -> Any:
    """Return ``value * factor``, without a gradient by `factor` where `value` is infinite."""
    if factor is None:
        return value
    if not isinstance(value, Variable):
        return value * factor if math.isfinite(value) else value
    finite = isfinite(value)
    return where(finite, where(finite, value, 0.0) * factor, value)


def _missing(family: Family, what: str) -> NoReturn:
    raise NotImplementedError(f"{family.name}: there is no formula of its {what}")


def _log_of(scale: Any) -> Any:
    return log(scale) if isinstance(scale, Variable) else math.log(scale)


def _by_inversion(ppf: Formula) -> Formula:
    return lambda draws, *shapes: ppf(draws.uniform(), *shapes)


def _standardized(x: Any, loc: Any, scale: Any) -> Any:
    z = x if loc is None else x - loc
    return z if scale is None else z / scale


@in_single_precision
def _log_density(family: Family, x: Variable, shapes: Shapes, loc: Any, scale: Any, log_scale: Any) -> Variable:
    z = _standardized(x, loc, scale)
    outside = _either(*family.sides(z, shapes))
    y = family.logpdf(family.moved_inside(z, outside, shapes), *shapes)
    if scale is not None:
        y = y - (_log_of(scale) if log_scale is None else log_scale)
    return y if outside is None else where(outside, -math.inf, y)


_TAILS = {
    "cdf": ("sf", 0.0, 1.0),
    "sf": ("cdf", 1.0, 0.0),
    "logcdf": ("cdf", -math.inf, 0.0),
    "logsf": ("sf", 0.0, -math.inf),
}
"""The formula from which one is computed if it is missing, and its values below and above the support."""


def _tail_formula(family: Family, name: str) -> Formula:
    """Return the formula `name` of a family, or a composition of others."""
    formula: Formula | None = getattr(family, name)
    if formula is not None:
        return formula
    source = _TAILS[name][0]
    if name.startswith("log"):
        own, other = _tail_formula(family, source), _tail_formula(family, _TAILS[source][0])
        return lambda z, *shapes: _log_of_tail(own(z, *shapes), other(z, *shapes))
    inner: Formula | None = getattr(family, source)
    if inner is None:
        _missing(family, "distribution function")
    return lambda z, *shapes: 1 - inner(z, *shapes)


def _log_of_tail(tail: Variable, other: Variable) -> Variable:
    """Return the logarithm of a tail, by the other one where that is the smaller."""
    small, zero = tail < 0.5, tail <= 0
    of_small = log(where(small & ~zero, tail, 0.5))
    return where(zero, -math.inf, where(small, of_small, log1p(-where(small, 0.5, other))))


@in_single_precision
def _tail(
    family: Family, name: str, x: Variable, shapes: Shapes, loc: Any, scale: Any, log_scale: Any
) -> Variable:  # fmt: skip
    z = _standardized(x, loc, scale)
    below, above = family.sides(z, shapes)
    y = _tail_formula(family, name)(family.moved_inside(z, _either(below, above), shapes), *shapes)
    _, low, high = _TAILS[name]
    y = y if below is None else where(below, low, y)
    return y if above is None else where(above, high, y)


@in_single_precision
def _quantile(
    family: Family, upper: bool, q: Variable, shapes: Shapes, loc: Any, scale: Any, log_scale: Any
) -> Variable:
    formula, other = (family.isf, family.ppf) if upper else (family.ppf, family.isf)
    if formula is not None:
        z = formula(q, *shapes)
    elif other is not None:
        z = other(1 - q, *shapes)
    else:
        _missing(family, "quantiles")
    z = z if scale is None else z * scale
    return z if loc is None else z + loc  # type: ignore[no-any-return]  # a formula's


@in_single_precision
def _sample(shape: Shape, formula: Formula, shapes: Shapes, loc: Any, scale: Any) -> Variable:
    draws: Draws = draws_for(shape, *shapes, loc, scale)
    z = formula(draws, *shapes)
    z = z if scale is None else z * scale
    return z if loc is None else z + loc  # type: ignore[no-any-return]  # a formula's
