"""Bessel and Struve functions of real order, by the integrals of NIST DLMF 10.9, 10.32 and 11.5.

`kve`, whose integral converges fast, has a gradient with respect to the order as well.
"""

import math
from typing import Any, cast

from xpgrad.array_api.elementwise.exponential import exp
from xpgrad.array_api.elementwise.trigonometric import cos, sin
from xpgrad.backend.kernels import kernel
from xpgrad.graph.variable import Variable
from xpgrad.special.gamma_functions import sine_and_cosine
from xpgrad.special.operands import composed, special
from xpgrad.special.quadrature import integral, trapezoids, weighted_sum
from xpgrad.types import Array, Namespace, RealOperand

__all__ = [
    "hankel1", "hankel1e", "hankel2", "hankel2e", "iv", "ive", "jv", "jve", "kn", "kv", "kve", "kve_moment",
    "modstruve", "struve", "yv", "yve",
]  # fmt: skip

LARGEST = 100.0  # the integrals of oscillating functions have nodes for no more


def _signs(xp: Namespace, v: Array, x: Array) -> tuple[Array, Array, Array, Array]:
    """Return order, ``abs(x)``, whether the order is an integer, and -1 where it is odd and `x` negative, else 1."""
    v, x = xp.broadcast_arrays(v, x)
    whole = v == xp.round(v)
    odd = whole & (xp.remainder(v, xp.full_like(v, 2.0)) == 1)
    return v, xp.abs(x), whole, xp.where(odd & (x < 0), -1.0, xp.ones_like(x))


def _end(xp: Namespace, v: Array, x: Array) -> Array:
    """Return a `t` from which on ``exp(v * t - x * sinh(t))`` is negligible."""
    end = xp.asinh(45 / x)
    for _ in range(4):
        end = xp.asinh((45 + xp.abs(v) * end) / x)
    return end


def _wave(xp: Namespace, v: Array, x: Array, function: Any) -> Array:
    order, size = v[..., None], x[..., None]
    zero = xp.zeros_like(x)
    return integral(xp, lambda u: function(size * xp.sin(u) - order * u), zero, zero + math.pi, 48, 4) / math.pi


def _by_series(xp: Namespace, v: Array, x: Array, sign: int) -> tuple[Array, Array]:
    """Return a mask of small `x`, and their sums of ``sign**k * (x / 2)**(2 * k + v) / (k! * gamma(k + v + 1))``."""
    whole = v == xp.round(v)
    odd = whole & (v < 0) & (xp.remainder(v, xp.full_like(v, 2.0)) == 1)
    order = xp.where(whole, xp.abs(v), v)
    near = (x * x < 4 * (order + 1)) & (order > -1)
    order, half = xp.where(near, order, 0.0), 0.5 * xp.where(near, x, 1.0)
    term = total = xp.pow(half, order) * xp.special.rgamma(order + 1)
    for k in range(1, 40):
        term = term * (sign * (half * half) / (k * (k + order)))
        total = total + term
    return near, xp.where(odd, sign * total, total)


def _where_defined(xp: Namespace, v: Array, x: Array, value: Any, expansion: Any, at_zero: Any) -> Array:
    """Return `value` of ``abs(x)``, or its `expansion` where that is large, with its sign; NaN where undefined."""
    order, size, whole, sign = _signs(xp, v, x)
    far = size > 25 + 0.5 * order * order
    inside = (size > 0) & (size <= LARGEST) & (xp.abs(order) <= LARGEST) & ~far
    y = value(order, xp.where(inside, size, 1.0))
    y = sign * xp.where(far, expansion(order, xp.where(far, size, 25 + 0.5 * order * order)), y)
    y = xp.where((inside | far) & (whole | (xp.broadcast_to(x, y.shape) > 0)), y, math.nan)
    return xp.where(size == 0, at_zero(order), y)


def _waves_by_hankel(xp: Namespace, v: Array, x: Array) -> tuple[Array, Array]:
    """Return the Bessel functions of the first and second kind of large arguments, by Hankel's expansion."""
    inverse = 1 / x
    x = xp.where(xp.isinf(x), 0.0, x)  # where the functions are 0
    term = xp.ones_like(v + x)
    sums = [term, xp.zeros_like(term)]
    for k in range(1, 40):
        term = term * ((v * v - (k - 0.5) ** 2) * (inverse * (0.5 / k)))
        sums[k % 2] = sums[k % 2] + (-1) ** (k // 2) * term
    p, q = sums
    sine, cosine = sine_and_cosine(xp, 0.5 * v + 0.25)
    real = xp.cos(x) * cosine + xp.sin(x) * sine
    imaginary = xp.sin(x) * cosine - xp.cos(x) * sine
    scale = xp.sqrt(2 / math.pi * inverse)
    return scale * (p * real - q * imaginary), scale * (p * imaginary + q * real)


def _one_at_zero(xp: Namespace, v: Array) -> Array:
    return xp.where(v == 0, 1.0, xp.where((v > 0) | (v == xp.round(v)), 0.0, xp.full_like(v, math.inf)))


def _slope(xp: Namespace, of: Any, v: Array, x: Array, y: Array, sign: int) -> Array:
    """Return the derivative of a function of the first kind: half the sum of its neighbours, the first times `sign`.

    For orders near 0, the order less 1 would be rounded.
    """
    near = (xp.abs(v) < 0.5) & (x != 0)
    step = xp.where(v < 0, -1.0, xp.ones_like(v))
    other = xp.where(near, v + step, v + 1)
    following = of(other, x) if sign > 0 else -xp.where(near, step, 1.0) * of(other, x)
    beside = xp.abs(v) * (xp.where(near, y, 0.0) / xp.where(near, x, 1.0)) + following
    return xp.where(near, beside, 0.5 * (of(xp.where(near, 0.0, v - 1), x) + following))


@special(no_gradient=["v"], x=lambda xp, gy, v, x, y: gy * _slope(xp, xp.special.jv, v, x, y, -1))
def jv(xp: Namespace, v: RealOperand, x: RealOperand, /) -> Array:
    """Bessel function of the first kind of real order, elementwise.

    `x` is not negative unless the order `v` is an integer. The default body is for orders from -100 to 100, with NaN
    for `x` above 100 and below half the square of the order.
    Relative errors are up to 1e-12, including derivatives.
    """

    def value(order: Array, size: Array) -> Array:
        near, small = _by_series(xp, order, size, -1)
        end = _end(xp, order, size)
        column, arg = order[..., None], size[..., None]
        decaying = integral(xp, lambda t: xp.exp(-arg * xp.sinh(t) - column * t), xp.zeros_like(end), end, 32, 4)
        turn = sine_and_cosine(xp, order)[0]
        large = _wave(xp, order, size, xp.cos) - xp.where(turn == 0, 0.0, turn / math.pi * decaying)
        return xp.where(near, small, large)

    return _where_defined(
        xp, v, x, value, lambda v, x: _waves_by_hankel(xp, v, x)[0], lambda order: _one_at_zero(xp, order)
    )


@special(no_gradient=["v"], x=lambda xp, gy, v, x: gy * (0.5 * (xp.special.yv(v - 1, x) - xp.special.yv(v + 1, x))))
def yv(xp: Namespace, v: RealOperand, x: RealOperand, /) -> Array:
    """Bessel function of the second kind of real order, elementwise.

    At 0 the result is minus infinity, below it NaN. The default body is for inputs as of `jv`.
    Relative errors are up to 1e-12, including derivatives.
    """

    def value(order: Array, size: Array) -> Array:
        end, turn = _end(xp, order, size), sine_and_cosine(xp, order)[1][..., None]
        column, arg = order[..., None], size[..., None]

        def decaying(t: Array) -> Array:
            sinh = -arg * xp.sinh(t)
            return xp.exp(sinh + column * t) + turn * xp.exp(sinh - column * t)

        waves, long = _wave(xp, order, size, xp.sin), xp.where(end > 20, end, 20.0)
        falling = integral(xp, decaying, xp.zeros_like(end), end, 32, 4)
        falling = xp.where(end > 20, _by_distance(xp, lambda u: decaying(long[..., None] * u), long), falling)
        return waves - falling / math.pi

    y = _where_defined(
        xp, v, x, value, lambda v, x: _waves_by_hankel(xp, v, x)[1], lambda order: xp.full_like(order, -math.inf)
    )
    return xp.where(x < 0, math.nan, y)


def _scaled_slope(xp: Namespace, v: Array, x: Array, y: Array) -> Array:
    limit = 18 + 0.25 * v * v
    far = xp.abs(x) > limit
    near = xp.where(far, 1.0, x)
    inner = _slope(xp, xp.special.ive, v, near, y, 1) - xp.sign(near) * y
    _, outer = _scaled_by_hankel(xp, v, xp.where(far, xp.abs(x), limit))
    odd = (v == xp.round(v)) & (xp.remainder(v, xp.full_like(v, 2.0)) == 1)
    return xp.where(far, xp.where((x < 0) & ~odd, -outer, outer), inner)


def _scaled_by_hankel(xp: Namespace, v: Array, x: Array) -> tuple[Array, Array]:
    """Return `ive` and its derivative by Hankel's expansion, without cancellation, for large `x`."""
    inverse = 1 / x
    term = total = xp.ones_like(v + x)
    slope = -0.5 * term
    for k in range(1, 40):
        term = term * (((k - 0.5) ** 2 - v * v) * (inverse * (0.5 / k)))
        total, slope = total + term, slope - (k + 0.5) * term
    scale = xp.sqrt((0.5 / math.pi) * inverse)
    return scale * total, scale * slope * inverse


@special(no_gradient=["v"], x=lambda xp, gy, v, x, y: gy * _scaled_slope(xp, v, x, y))
def ive(xp: Namespace, v: RealOperand, x: RealOperand, /) -> Array:
    """Modified Bessel function of the first kind of real order, times ``exp(-abs(x))``, elementwise.

    Inputs are as of `jv`.

    Relative errors are up to 1e-12, including derivatives.
    """

    def value(order: Array, size: Array) -> Array:
        end = _end(xp, order, size)
        column, arg = order[..., None], size[..., None]
        zero = xp.zeros_like(size)
        waves = integral(xp, lambda u: xp.exp(arg * (xp.cos(u) - 1)) * xp.cos(column * u), zero, zero + math.pi, 48, 4)
        decaying = integral(xp, lambda t: xp.exp(-arg * (xp.cosh(t) + 1) - column * t), zero, end, 32, 4)
        turn = sine_and_cosine(xp, order)[0]
        near, small = _by_series(xp, order, size, 1)
        return xp.where(near, xp.exp(-size) * small, (waves - xp.where(turn == 0, 0.0, turn * decaying)) / math.pi)

    return _where_defined(
        xp, v, x, value, lambda v, x: _scaled_by_hankel(xp, v, x)[0], lambda order: _one_at_zero(xp, order)
    )


@special(no_gradient=["v"], x=lambda xp, gy, v, x, y: gy * _slope(xp, xp.special.iv, v, x, y, 1))
def iv(xp: Namespace, v: RealOperand, x: RealOperand, /) -> Array:
    """Modified Bessel function of the first kind of real order, elementwise, for inputs as of `ive`.

    Relative errors are up to 1e-12, including derivatives.
    """
    return xp.exp(xp.abs(x)) * xp.special.ive(v, x)


def _falling(xp: Namespace, size: Array, x: Array, m: int, k: int) -> tuple[Array, Any]:
    """Return an upper limit for the integral of `kve_moment`, and the integrand, a function of the part of it."""
    end = xp.acosh(1 + 60 / x)
    for _ in range(4):
        end = xp.acosh(1 + (60 + (size + k) * end) / x)
    column, arg = xp.expand_dims(size, axis=-1), xp.expand_dims(x, axis=-1)

    def f(u: Array) -> Array:
        t = xp.expand_dims(end, axis=-1) * u
        half, turn = xp.sinh(0.5 * t), column * t
        rise = 2 * (half * half)
        falling = 0.5 * xp.expm1(-2 * turn) if m % 2 else 0.5 * xp.exp(-2 * turn)
        both = xp.exp(turn - arg * rise) * (-falling if m % 2 else 0.5 + falling)
        return both * t**m * rise**k if m or k else both

    return end, f


@kernel(arrays=2, parameters=("m", "k", "nodes"), extension="special")
def kve_integral(xp: Namespace, v: Array, x: Array, /, m: int, k: int, nodes: int) -> Array:
    """Return `kve_moment` for orders `v` not negative and arguments `x` that are not too small, nor infinite."""
    end, f = _falling(xp, v, x, m, k)
    return end * weighted_sum(xp, f, *trapezoids(nodes), x)


def _by_distance(xp: Namespace, f: Any, end: Array) -> Array:
    """Return `end` times the integral of `f` from 0 to 1: Gauss's rule on parts that double from the end on.

    For small `x` the integrand is about constant, or exponential, until it falls near the end.
    """
    total, high = xp.zeros_like(end), xp.ones_like(end)
    for part in range(8):
        low = xp.maximum(1 - 6 * (2.0**part) / end, xp.zeros_like(end))
        total = total + integral(xp, f, low, high, 24 if part else 64)
        high = low
    return end * total


@special(
    v=lambda xp, gy, v, x, m, k: gy * xp.special.kve_moment(v, x, m=m + 1, k=k),
    x=lambda xp, gy, v, x, m, k: gy * -xp.special.kve_moment(v, x, m=m, k=k + 1),
)
def kve_moment(xp: Namespace, v: RealOperand, x: RealOperand, /, m: int, k: int) -> Array:
    """Integral of ``t**m * cosh(v * t) * (cosh(t) - 1)**k * exp(-x * (cosh(t) - 1))`` from 0 on, elementwise.

    For odd `m` it has ``sinh(v * t)`` instead of ``cosh(v * t)``. These are the derivatives of `kve`.

    Parameters
    ----------
    v, x : Variable or array, real, `x` positive
    m, k : int
    """
    v, x = xp.broadcast_arrays(v, x)
    inside = (x > 0) & ~xp.isinf(x)
    safe, size = xp.where(inside, x, 1.0), xp.abs(v)
    end, f = _falling(xp, size, safe, m, k)
    y = xp.where(end > 20, _by_distance(xp, f, end), xp.special.kve_integral(size, safe, m=m, k=k, nodes=200))
    y = xp.where(v < 0, -y, y) if m % 2 else y
    return xp.where(inside, y, xp.where(x == 0, math.inf, xp.where(x > 0, 0.0, xp.full_like(x, math.nan))))


@special(
    v=lambda xp, gy, v, x: gy * xp.special.kve_moment(v, x, m=1, k=0),
    x=lambda xp, gy, v, x: gy * -xp.special.kve_moment(v, x, m=0, k=1),
)
def kve(xp: Namespace, v: RealOperand, x: RealOperand, /) -> Array:
    """Modified Bessel function of the second kind of real order, times ``exp(x)``, elementwise.

    Both inputs have gradients. At ``x == 0`` the result is infinite, below it NaN.
    Relative errors are up to 1e-12, including derivatives.
    """
    return xp.special.kve_moment(v, x, m=0, k=0)


@composed
def kv(v: RealOperand, x: RealOperand, /) -> Variable:
    """Return the modified Bessel function of the second kind of real order, elementwise.

    Both inputs have gradients. At ``x == 0`` the result is infinite, below it NaN.
    Relative errors are up to 1e-12, including derivatives.
    """
    return kve(v, x) * exp(-cast("Variable", x))


@composed
def kn(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return `kv` of an integer order, elementwise.

    Relative errors are up to 1e-12, including derivatives.
    """
    return kv(n, x)


@composed
def hankel1(v: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Hankel function of the first kind of real order, which is complex, elementwise; inputs as of `yv`."""
    return jv(v, x) + 1j * yv(v, x)


@composed
def hankel2(v: RealOperand, x: RealOperand, /) -> Variable:
    """Return the Hankel function of the second kind of real order, the conjugate of `hankel1`, elementwise."""
    return jv(v, x) - 1j * yv(v, x)


def _turn(x: Any, unit: complex) -> Variable:
    return cos(x) + unit * sin(x)


@composed
def hankel1e(v: RealOperand, x: RealOperand, /) -> Variable:
    """Return ``hankel1(v, x) * exp(-1j * x)``, which changes slowly, elementwise."""
    return hankel1(v, x) * _turn(x, -1j)


@composed
def hankel2e(v: RealOperand, x: RealOperand, /) -> Variable:
    """Return ``hankel2(v, x) * exp(1j * x)``, which changes slowly, elementwise."""
    return hankel2(v, x) * _turn(x, 1j)


@composed
def jve(v: RealOperand, x: RealOperand, /) -> Variable:
    """Return `jv`, which for real numbers needs no scale, elementwise."""
    return jv(v, x)


@composed
def yve(v: RealOperand, x: RealOperand, /) -> Variable:
    """Return `yv`, which for real numbers needs no scale, elementwise."""
    return yv(v, x)


def _power(xp: Namespace, v: Array, x: Array, shift: float) -> Array:
    return xp.pow(0.5 * x, v) * xp.special.rgamma(v + shift) / math.sqrt(math.pi)


def _order_over(xp: Namespace, v: Array, x: Array, y: Array) -> Array:
    origin = x == 0
    return v * xp.where(origin, 0.0, y / xp.where(origin, 1.0, x))


def _struve(xp: Namespace, v: Array, x: Array, wave: Any) -> Array:
    v, size, whole, sign = _signs(xp, v, x)
    inside = (size <= LARGEST) & (v >= 0) & (v <= LARGEST)
    order, arg = xp.where(inside, v, 0.0), xp.where(inside, size, 1.0)
    end = 40 / (2 * order + 1) + 0.5 * xp.log1p(4 * arg / (2 * order + 1))
    column, power = arg[..., None], -2 * order[..., None] - 1

    def f(u: Array) -> Array:  # the cosine of the angle is tanh(u)
        return wave(column * xp.tanh(u)) * xp.pow(xp.cosh(u), power)

    middle = xp.minimum(end, xp.full_like(end, 4.0))  # the wave is fast up to about here
    y = integral(xp, f, xp.zeros_like(end), middle, 48, 8) + integral(xp, f, middle, end, 32, 3)
    y = 2 * _power(xp, order, arg, 0.5) * y
    sign = xp.where(xp.broadcast_to(x, y.shape) < 0, -sign, xp.ones_like(y))
    return xp.where(inside & (whole | (sign > 0)), sign * y, math.nan)


@special(
    no_gradient=["v"],
    x=lambda xp, gy, v, x, y: gy * (_order_over(xp, v, x, y) - xp.special.struve(v + 1, x) + _power(xp, v, x, 1.5)),
)
def struve(xp: Namespace, v: RealOperand, x: RealOperand, /) -> Array:
    """Struve function of real order, elementwise.

    `x` is not negative unless the order `v` is an integer. The default body is for `v` from 0 on and both up to 100,
    with NaN beyond.
    Relative errors are up to 1e-11, including derivatives.
    """
    return _struve(xp, v, x, xp.sin)


@special(
    no_gradient=["v"],
    x=lambda xp, gy, v, x, y: gy * (_order_over(xp, v, x, y) + xp.special.modstruve(v + 1, x) + _power(xp, v, x, 1.5)),
)
def modstruve(xp: Namespace, v: RealOperand, x: RealOperand, /) -> Array:
    """Modified Struve function of real order, elementwise, for inputs as of `struve`.

    Relative errors are up to 1e-11, including derivatives.
    """
    return _struve(xp, v, x, xp.sinh)
