"""Elementwise functions that the standard lacks: NumPy's, angles, and comparisons with tolerances."""

import math
from typing import Any

from xpgrad.array_api.elementwise.exponential import LOG_2, weighted
from xpgrad.array_api.elementwise.logical import isfinite, isnan
from xpgrad.array_api.elementwise.magnitude import abs as abs_
from xpgrad.array_api.elementwise.magnitude import imag, real
from xpgrad.array_api.elementwise.trigonometric import atan2
from xpgrad.array_api.searching import where
from xpgrad.array_api.utility import all as all_
from xpgrad.backend.plugins import plugins
from xpgrad.graph.primitive import elementwise
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.special.operands import promoted
from xpgrad.types import AnyArray, Array, Namespace, Operand


@elementwise(x1=lambda xp, gy: gy, x2=lambda xp, gy, x1, x2, y: -gy * xp.round((x1 - y) / x2))
def fmod(xp: Namespace, x1: Array, x2: Array, /) -> Array:
    """Remainder of the division, with the sign of `x1`, elementwise; it is exact.

    Parameters
    ----------
    x1, x2 : Variable or array, real
        The gradient of `x2` is minus the truncated quotient.
    """
    remainder, negative = abs(x1) % abs(x2), x1 < 0
    if isinstance(negative, bool):  # of a scalar
        return -remainder if negative else remainder
    return xp.where(negative, -remainder, remainder)


@promoted
@elementwise(
    x1=lambda xp, gy, x1, x2: weighted(xp, gy, x1, x2, LOG_2),
    x2=lambda xp, gy, x1, x2: weighted(xp, gy, x2, x1, LOG_2),
)
def logaddexp2(xp: Namespace, x1: Array, x2: Array, /) -> Array:
    """Logarithm to base 2 of ``2**x1 + 2**x2``, without overflow, elementwise.

    Where both inputs are minus infinity the gradient is 0.
    """
    larger = xp.maximum(x1, x2)
    more = xp.log1p(xp.exp(abs(x1 - x2) * -LOG_2)) / LOG_2
    return larger + xp.where(x1 == x2, 1.0, more)  # the difference of equal infinities is NaN


def deg2rad(x: AnyArray, /) -> Variable:
    """An angle in radians from one in degrees, elementwise."""
    return as_variable(x) * (math.pi / 180)


def rad2deg(x: AnyArray, /) -> Variable:
    """An angle in degrees from one in radians, elementwise."""
    return as_variable(x) * (180 / math.pi)


def angle(x: AnyArray, /, *, deg: bool = False) -> Variable:
    """Argument of a complex number, from -pi to pi (in degrees if `deg`), elementwise.

    Parameters
    ----------
    x : Variable or array, floating-point
        A real number has the angle 0 or pi, with derivative 0.
    """
    x = as_variable(x)
    spec = x.node.spec
    y = atan2(imag(x), real(x)) if spec.complex else where(x < 0, math.pi, where(x == x, 0.0, x))  # keeps NaN
    return rad2deg(y) if deg else y


def isclose(a: Operand, b: Operand, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Variable:
    """Whether ``abs(a - b) <= atol + rtol * abs(b)``, elementwise; no gradient.

    Parameters
    ----------
    a, b : Variable, array or scalar
        At least one is an array; they broadcast. Infinities are close only to equal infinities.
    rtol, atol : float
    equal_nan : bool
        Whether NaNs are close to each other.
    """
    a, b = (_inexact(x, y) for x, y in ((a, b), (b, a)))
    finite = isfinite(a) & isfinite(b)
    distance = abs_(where(finite, a, 0.0) - where(finite, b, 0.0))
    near = where(finite, distance <= rtol * abs_(where(finite, b, 0.0)) + atol, a == b)
    return near | (isnan(a) & isnan(b)) if equal_nan else near


def _inexact(x: Any, other: Any) -> Variable:
    """Return `x`, an array or a scalar to compare with the array `other`, as a floating-point constant."""
    if plugins.is_scalar(x) or not hasattr(x, "shape"):
        spec = as_variable(other).node.spec
        dtype = spec.dtype if spec.differentiable else None
        x = spec.backend.asarray(x, dtype=dtype, device=spec.device)
    x = as_variable(as_array(x))
    return x if x.node.spec.differentiable else x * 1.0  # type: ignore[no-any-return]  # as above


def allclose(a: Operand, b: Operand, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Variable:
    """Whether all elements are close, as in `isclose`; a 0-d boolean."""
    return all_(isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan))
