"""Angles in their units, and the normalised sine."""

import math

from xpgrad.array_api.copying import imag, real
from xpgrad.array_api.magnitude import abs as abs_
from xpgrad.array_api.selection import where
from xpgrad.array_api.trigonometric import atan2, sin
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray


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
    y = atan2(imag(x), real(x)) if spec.complex else where(x < 0, math.pi, where(x == x, 0.0, x))  # a NaN stays
    return rad2deg(y) if deg else y


_TERMS = [(-1.0) ** k / math.factorial(2 * k + 1) for k in range(9)]


def sinc(x: AnyArray, /) -> Variable:
    """Normalised sine ``sin(pi x) / (pi x)``, elementwise; 1 at 0.

    Near 0 it is computed as a power series, so that it and its derivatives are right there.
    """
    z = as_variable(x) * math.pi
    small = abs_(z) < 0.5
    square = where(small, z * z, 0.0)
    series = square * _TERMS[-1] + _TERMS[-2]
    for term in _TERMS[-3::-1]:
        series = series * square + term
    away = where(small, 1.0, z)
    return where(small, series, sin(away) / away)
