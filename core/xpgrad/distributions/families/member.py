"""Members of families, with shapes, a location and a scale."""

import math
from dataclasses import dataclass
from typing import Any

from xpgrad.array_api import broadcast_shapes, broadcast_to, exp, full_like, isfinite, log, where
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.distributions.families.family import Family, Formula, Shapes, bound_of, either, missing, tail
from xpgrad.distributions.families.search import searched
from xpgrad.distributions.sampling import Draws, draws_for
from xpgrad.graph.variable import Variable
from xpgrad.special.operands import as_floating
from xpgrad.types import AnyArray, Shape


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
    def ends(self) -> tuple[Any, Any]:
        """Quantiles for 0 and 1: the ends of the support, the lower one less 1 for integers."""
        low, high = bound_of(self.family.low, self.shapes), bound_of(self.family.high, self.shapes)
        ends = -math.inf if low is None else low - int(self.family.integers), math.inf if high is None else high
        first, last = (_times(end, self.scale) for end in ends)
        return (first, last) if self.loc is None else (first + self.loc, last + self.loc)

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
        """Return `n` independent samples with shape ``(n, *batch_shape)``."""
        formula = self.family.sample
        if formula is None:
            if self.family.ppf is None:
                missing(self.family, "samples")
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
            missing(self.family, name)
        return formula(*self.shapes)

    def _placed(self, value: Any) -> Variable:
        """Return a point of the standard form as one of this member."""
        if isinstance(value, float) and value == 0 and self.loc is not None:
            return self._full(self.loc)
        value = _times(value, self.scale)
        return self._full(value if self.loc is None else value + self.loc)

    def _full(self, value: Any) -> Variable:
        """Broadcast `value` to the common shape of all parameters."""
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
    outside = either(*family.sides(z, shapes))
    y = family.logpdf(family.moved_inside(z, outside, shapes), *shapes)
    if scale is not None:
        y = y - (_log_of(scale) if log_scale is None else log_scale)
    return y if outside is None else where(outside, -math.inf, y)


@in_single_precision
def _tail(
    family: Family, name: str, x: Variable, shapes: Shapes, loc: Any, scale: Any, log_scale: Any
) -> Variable:  # fmt: skip
    return tail(family, name, _standardized(x, loc, scale), shapes)


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
        z = searched(family, q, shapes, upper)
    z = z if scale is None else z * scale
    moved: Variable = z if loc is None else z + loc
    return moved


@in_single_precision
def _sample(shape: Shape, formula: Formula, shapes: Shapes, loc: Any, scale: Any) -> Variable:
    draws: Draws = draws_for(shape, *shapes, loc, scale)
    z = formula(draws, *shapes)
    z = z if scale is None else z * scale
    moved: Variable = z if loc is None else z + loc
    return moved
