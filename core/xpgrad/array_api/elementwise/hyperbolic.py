"""Hyperbolic functions and their inverses, elementwise."""

from xpgrad.array_api.elementwise.trigonometric import one_minus_square
from xpgrad.array_api.shared.precision import narrowed, widened
from xpgrad.backend.spec import Spec
from xpgrad.graph.primitive import elementwise
from xpgrad.types import AnyArray, Array, Namespace


@elementwise(x=lambda xp, gy, x: gy * xp.cosh(x))
def sinh(xp: Namespace, x: AnyArray, /) -> Array:
    """Hyperbolic sine, elementwise."""
    return xp.sinh(x)


@elementwise(x=lambda xp, gy, x: gy * xp.sinh(x))
def cosh(xp: Namespace, x: AnyArray, /) -> Array:
    """Hyperbolic cosine, elementwise."""
    return xp.cosh(x)


CANCELS = 1 / 32
"""Where ``1 - t * t`` is less than this number, its error may exceed 32 units in the last place."""


@elementwise(x=lambda xp, gy, t, y: gy * (-2 * (t * y)))
def tanh_slope(xp: Namespace, x: Array, t: Array, /) -> Array:
    """Derivative of `tanh` at `x`, from ``t = tanh(x)``, and from `x` where ``1 - t * t`` cancels, elementwise.

    It is a function of `x` only: `t` has no gradient.
    """
    slope = 1 - t * t
    if xp.spec_of(t).complex:
        return slope
    return xp.where(slope < CANCELS, (1 + xp.abs(t)) * (1 + xp.abs(t)) * xp.exp(-2 * xp.abs(x)), slope)


@elementwise(g=lambda xp, gy, x, t: xp.tanh_backward(gy, x, t), x=lambda xp, gy, t, y: gy * (-2 * (t * y)))
def tanh_backward(xp: Namespace, g: Array, x: Array, t: Array, /) -> Array:
    """Gradient of `tanh` as one function, so that the gradient of the gradient costs less; `t` has no gradient."""
    return g * xp.tanh_slope(x, t)


@elementwise(x=lambda xp, gy, x, y: xp.tanh_backward(gy, x, y))
def tanh(xp: Namespace, x: AnyArray, /) -> Array:
    """Hyperbolic tangent, elementwise."""
    return xp.tanh(x)


@elementwise(x=lambda xp, gy, x, x_spec: gy / (xp.sqrt(1 + x * x) if x_spec.complex else xp.hypot(xp.ones_like(x), x)))
def asinh(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverse hyperbolic sine, elementwise."""
    return xp.asinh(x)


# Two roots: the root of the product has the wrong sign in the left half of the complex plane.
@elementwise(x=lambda xp, gy, x: gy / xp.multiply(xp.sqrt(x - 1), xp.sqrt(x + 1)))
def acosh(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverse hyperbolic cosine, elementwise. The derivative at 1 is infinite."""
    return xp.acosh(x)


def _atanh_rule(xp: Namespace, gy: Array, x: Array, x_spec: Spec) -> Array:
    x = widened(xp, x, x_spec)
    return narrowed(xp, widened(xp, gy, x_spec) / one_minus_square(xp, x), x_spec)


@elementwise(x=_atanh_rule)
def atanh(xp: Namespace, x: AnyArray, /) -> Array:
    """Inverse hyperbolic tangent, elementwise. The derivative at -1 and 1 is infinite."""
    return xp.atanh(x)
