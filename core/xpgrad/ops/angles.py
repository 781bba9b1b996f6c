"""Angles, in radians and degrees."""

import math

from xpgrad.array_api.elementwise.complex_parts import imag, real
from xpgrad.array_api.elementwise.trigonometric import atan2
from xpgrad.array_api.searching import where
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
    y = atan2(imag(x), real(x)) if spec.complex else where(x < 0, math.pi, where(x == x, 0.0, x))  # keeps NaN
    return rad2deg(y) if deg else y
