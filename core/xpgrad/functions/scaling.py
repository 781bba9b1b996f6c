"""Sums and products with an array for some axes, and interpolation between two arrays."""

from typing import Any

from xpgrad.array_api import reshape
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.functions.checks import invalid, real_floating
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray

__all__ = ["bias", "linear_interpolate", "scale"]


def bias(x: AnyArray, y: AnyArray, axis: int = 1) -> Variable:
    """Return the sum of `x` and `y`, which is repeated along the axes of `x` that it lacks.

    Parameters
    ----------
    x : Variable or array, real floating-point
    y : Variable or array, real floating-point
        Of the shape of `x` from `axis` on, as far as it has axes.
    axis : int
        The axis of `x` that is the first axis of `y`.

    Raises
    ------
    InvalidType
        Dtypes or shapes are not as above.
    """
    return as_variable(x) + _aligned("bias", x, y, axis)


def scale(x: AnyArray, y: AnyArray, axis: int = 1) -> Variable:
    """Return the product of `x` and `y`, which is repeated along the axes of `x` that it lacks.

    Arguments are the same as in `bias`.
    """
    return as_variable(x) * _aligned("scale", x, y, axis)


@in_single_precision
def linear_interpolate(p: AnyArray, x: AnyArray, y: AnyArray) -> Variable:
    """Return ``p * x + (1 - p) * y``, elementwise, for arrays of one shape and dtype.

    Parameters
    ----------
    p, x, y : Variable or array, real floating-point

    Raises
    ------
    InvalidType
        Dtypes or shapes differ, or the dtype is not real floating-point.
    """
    specs = [real_floating(each, "linear_interpolate", name) for name, each in (("p", p), ("x", x), ("y", y))]
    if any(spec.shape != specs[0].shape or spec.dtype != specs[0].dtype for spec in specs):
        actual = "p is {!r}, x is {!r}, y is {!r}".format(*specs)
        raise invalid("linear_interpolate", "p, x and y of one shape and dtype", actual)
    p = as_variable(p)
    return p * as_variable(x) + (1.0 - p) * as_variable(y)


def _aligned(function: str, x: Any, y: Any, axis: int) -> Variable:
    """Return `y` with axes of length 1 inserted for axes present only in `x`."""
    spec, part = real_floating(x, function), real_floating(y, function, "y")
    after = spec.ndim - axis - part.ndim
    if axis < 0 or after < 0 or spec.shape[axis : axis + part.ndim] != part.shape:
        raise invalid(function, f"y of the shape of x from axis {axis} on", f"x is {spec!r}, y is {part!r}")
    return reshape(y, shape=(1,) * axis + part.shape + (1,) * after)
