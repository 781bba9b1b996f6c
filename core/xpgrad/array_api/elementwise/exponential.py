"""Exponentials and logarithms, elementwise."""

import math

from xpgrad.array_api.shared.precision import narrowed, widened
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import elementwise
from xpgrad.types import AnyArray, Array, Namespace, Operand

LOG_2 = math.log(2)
LOG_10 = math.log(10)


@elementwise(x=lambda xp, gy, y: gy * y)
def exp(xp: Namespace, x: AnyArray, /) -> Array:
    """Exponential, elementwise."""
    return xp.exp(x)


@elementwise(x=lambda xp, gy, x: gy * xp.exp(x))
def expm1(xp: Namespace, x: AnyArray, /) -> Array:
    """Exponential minus 1, accurate near 0, elementwise."""
    return xp.expm1(x)


@elementwise(x=lambda xp, gy, x: gy / x)
def log(xp: Namespace, x: AnyArray, /) -> Array:
    """Natural logarithm, elementwise."""
    return xp.log(x)


@elementwise(x=lambda xp, gy, x: gy / (x + 1))
def log1p(xp: Namespace, x: AnyArray, /) -> Array:
    """Natural logarithm of ``1 + x``, accurate near 0, elementwise."""
    return xp.log1p(x)


def _log_rule(xp: Namespace, gy: Array, x: Array, x_spec: Spec, log_of_base: float) -> Array:
    return narrowed(xp, widened(xp, gy, x_spec) / (widened(xp, x, x_spec) * log_of_base), x_spec)


@elementwise(x=lambda xp, gy, x, x_spec: _log_rule(xp, gy, x, x_spec, LOG_2))
def log2(xp: Namespace, x: AnyArray, /) -> Array:
    """Logarithm to base 2, elementwise."""
    return xp.log2(x)


@elementwise(x=lambda xp, gy, x, x_spec: _log_rule(xp, gy, x, x_spec, LOG_10))
def log10(xp: Namespace, x: AnyArray, /) -> Array:
    """Logarithm to base 10, elementwise."""
    return xp.log10(x)


def weighted(xp: Namespace, gy: Array, x: Array, other: Array, log_of_base: float = 1.0) -> Array:
    """Return `gy` times the share of `x` in the sum of two powers of a base; 0 where both powers are 0."""
    infinite = (x == other) & xp.isinf(x)  # whose difference is NaN
    difference = xp.where(infinite, 0.0, xp.where(infinite, 0.0, x) - other)
    weight = xp.special.expit(difference * log_of_base)
    return xp.where(infinite & (x != xp.abs(x)), 0.0, gy * weight)


@elementwise(
    x1=lambda xp, gy, x1, x2: weighted(xp, gy, x1, x2),
    x2=lambda xp, gy, x1, x2: weighted(xp, gy, x2, x1),
)
def logaddexp(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Logarithm of ``exp(x1) + exp(x2)``, without overflow, elementwise.

    Where both inputs are minus infinity the gradient is 0.
    """
    return xp.logaddexp(x1, x2)
