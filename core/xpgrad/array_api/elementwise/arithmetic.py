"""Elementwise arithmetic: sums, products, powers, roots, signs."""

from typing import Any

from xpgrad.array_api.shared.precision import narrowed, widened
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.graph.definition import identity
from xpgrad.graph.primitive import elementwise, operators
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray, Array, Namespace, Operand

SCALARS = bool, int, float, complex


@elementwise(label="_ + _", x1=identity, x2=identity)
def add(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Sum of two arrays, elementwise."""
    return xp.add(x1, x2)


@elementwise(label="_ - _", x1=identity, x2=lambda xp, gy: -gy)
def subtract(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Difference of two arrays, elementwise."""
    return xp.subtract(x1, x2)


@elementwise(label="_ * _", x1=lambda xp, gy, x2: gy * x2, x2=lambda xp, gy, x1: gy * x1)
def multiply(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Product of two arrays, elementwise."""
    return xp.multiply(x1, x2)


@elementwise(label="_ / _", x1=lambda xp, gy, x2: gy / x2, x2=lambda xp, gy, x2, y: -gy * y / x2)
def divide(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Quotient of two arrays, elementwise."""
    return xp.divide(x1, x2)


@elementwise(label="_ // _")
def floor_divide(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Quotient rounded towards minus infinity, elementwise; piecewise constant, so without a gradient."""
    return xp.floor_divide(x1, x2)


@elementwise(label="_ % _", x1=identity, x2=lambda xp, gy, x1, x2: -gy * (x1 // x2))
def remainder(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Remainder of the division, with the sign of the divisor, elementwise."""
    return xp.remainder(x1, x2)


def _power_base(xp: Namespace, gy: Array, x1: Array, x2: Array, x1_spec: Spec) -> Array:
    if isinstance(x2, SCALARS):
        return _constant_power_rule(xp, gy, x1, x2, x1_spec)
    gy, x1 = widened(xp, gy, x1_spec), widened(xp, x1, x1_spec)
    x2 = _promoted(xp, x2, gy)
    zero = xp.equal(x1, 0)  # here the derivative is 0 for x2 == 0, and its derivative by x2 is 0
    lower = xp.where(xp.logical_and(zero, xp.equal(x2, 0)), 1, xp.subtract(x2, 1))
    factor = xp.where(xp.logical_and(zero, xp.equal(x2, 1)), 1, x2)
    return narrowed(xp, gy * (factor * xp.pow(x1, lower)), x1_spec)


def _power_exponent(xp: Namespace, gy: Array, x1: Array, y: Array) -> Array:
    if isinstance(x1, SCALARS):
        x1 = xp.full_like(y, x1)  # a Python scalar has no logarithm in the standard
    x1 = _promoted(xp, x1, y)
    return gy * (y * xp.log(xp.where(xp.equal(x1, 0), 1, x1)))


def _promoted(xp: Namespace, x: Array, like: Array) -> Array:
    """Return `x` in the dtype of the result: a narrower one has fewer digits, a real one no logarithm of -1."""
    return x if x.dtype == like.dtype else xp.astype(x, like.dtype)


@elementwise(label="_ ** _", x1=_power_base, x2=_power_exponent)
def pow(xp: Namespace, x1: Operand, x2: Operand, /) -> Array:
    """Power of two arrays, elementwise.

    Where the base is 0, the derivative with respect to the exponent is 0; where a real base is negative, it is NaN.
    """
    return xp.pow(x1, x2)


def _constant_power_rule(xp: Namespace, gy: Array, x: Array, exponent: Any, x_spec: Spec) -> Array:
    if exponent == 0:
        return xp.zeros_like(gy)
    if exponent == 1:
        return gy
    gy, x = widened(xp, gy, x_spec), widened(xp, x, x_spec)
    if exponent == 2:
        return narrowed(xp, gy * (2 * x), x_spec)
    lower = xp.square(x) if exponent == 3 else xp.constant_power(x, exponent=exponent - 1)
    return narrowed(xp, gy * (exponent * lower), x_spec)


@elementwise(label="_ ** {exponent}", x=_constant_power_rule)
def constant_power(xp: Namespace, x: AnyArray, /, exponent: Any) -> Array:
    """Power of an array with one Python number as the exponent, which has no gradient."""
    return x**exponent


def _square_rule(xp: Namespace, gy: Array, x: Array) -> Array:
    half = gy * x  # x + x may overflow
    return half + half  # half the time of 2 * half on small arrays


@elementwise(label="_ ** 2", x=_square_rule)
def square(xp: Namespace, x: AnyArray, /) -> Array:
    """Square, elementwise."""
    return xp.square(x)


@elementwise(x=lambda xp, gy, y: 0.5 * gy / y)
def sqrt(xp: Namespace, x: AnyArray, /) -> Array:
    """Square root, elementwise. The derivative at 0 is infinite."""
    return xp.sqrt(x)


@elementwise(x=lambda xp, gy, y: gy * -(y * y))
def reciprocal(xp: Namespace, x: AnyArray, /) -> Array:
    """Reciprocal, elementwise."""
    return xp.reciprocal(x)


@elementwise(linear=("x",), label="__neg__", x=lambda xp, gy: -gy)
def negative(xp: Namespace, x: AnyArray, /) -> Array:
    """Numerical negative, elementwise."""
    return xp.negative(x)


@elementwise(linear=("x",), label="__pos__", x=identity)
def positive(xp: Namespace, x: AnyArray, /) -> Array:
    """Numerical positive: the same values, elementwise."""
    return xp.positive(x)


_operator_pow, _reflected_pow = operators(pow)


def _power(x1: Any, x2: Any, /) -> Any:
    """The operator ``**``: a Python number as the exponent needs neither its gradient nor the general rule."""
    kind = type(x2)
    if kind is int or kind is float or (not isinstance(x2, Variable) and plugins.is_scalar(x2)):
        exponent = x2.item() if kind is not int and hasattr(x2, "item") else x2
        spec = x1._node.spec
        if spec is not None and spec.differentiable and (spec.complex or not isinstance(exponent, complex)):
            return square(x1) if exponent == 2 else constant_power(x1, exponent=exponent)
    return _operator_pow(x1, x2)


_power.__qualname__ = "pow"  # Python's name in errors
power_operators = _power, _reflected_pow
