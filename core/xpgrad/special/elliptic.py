"""Elliptic integrals and functions beyond the complete integral of the first kind, by families of integrals.

Each family is closed under differentiation: NIST DLMF 19.2, 19.16 and 22.20.
"""

import math
from typing import cast

from xpgrad.array_api.elementwise.arithmetic import sqrt
from xpgrad.array_api.elementwise.trigonometric import cos, sin
from xpgrad.array_api.searching import where
from xpgrad.graph.variable import Variable
from xpgrad.special.integrals import ellipkm1, first_integrals
from xpgrad.special.operands import composed, special
from xpgrad.special.quadrature import integral, trapezoids, weighted_sum
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = [
    "agm", "carlson", "ellipe", "ellipe_of", "ellipeinc", "ellipj", "ellipkinc", "elliprc", "elliprd", "elliprf",
    "elliptic_of", "jacobi_am",
]  # fmt: skip


@special(m=lambda xp, gy, m: gy * (-0.5 * xp.special.ellipe_of(m, n=1)))
def ellipe(xp: Namespace, m: AnyArray, /) -> Array:
    """Complete elliptic integral of the second kind for the parameter `m`, up to 1, elementwise.

    Above 1 the result is NaN; at 1 the derivative is infinite.
    """
    return xp.special.ellipe_of(m, n=0)


@special(m=lambda xp, gy, m, n: gy * ((n - 0.5) * xp.special.ellipe_of(m, n=n + 1)))
def ellipe_of(xp: Namespace, m: AnyArray, /, n: int) -> Array:
    """Integral of ``sin(u)**(2 * n) * (1 - m * sin(u)**2)**(1 / 2 - n)`` over a right angle, elementwise.

    `m` is up to 1.

    Notes
    -----
    The arithmetic-geometric mean for order 1. Otherwise, the trapezoidal rule for the logarithm of ``tan(u)``, whose
    error falls exponentially.
    """
    inside, far = m < 1, m < -1e17
    if n == 1:
        first, share = first_integrals(xp, 1 - xp.where(inside & ~far, m, 0.0), 9)
        total = xp.where(far, 1 / xp.sqrt(xp.where(far, xp.abs(m), 1.0)), first * share)
        return xp.where(inside, total, xp.where(m == 1, math.inf, xp.full_like(m, math.nan)))
    rest = xp.where(inside & ~far, 1 - m, 1.0)
    half = -0.5 * xp.log(rest)
    low = -40 / (2 * n + 1) + xp.minimum(half, xp.zeros_like(half))
    width, count = 40 + xp.maximum(half, xp.zeros_like(half)) - low, 400

    def f(at: Array) -> Array:
        v = low[..., None] + width[..., None] * at
        slope = (0.5 - n) * xp.log1p(xp.exp(2 * (v - half[..., None])))
        return xp.exp((2 * n + 1) * v + slope - 1.5 * xp.log1p(xp.exp(2 * v)))

    total = weighted_sum(xp, f, *trapezoids(count, 1.0), width) * width
    total = xp.where(far, xp.pow(xp.where(far, xp.abs(m), 1.0), 0.5 - n), total)  # the first term of an expansion
    edge = 1.0 if n == 0 else math.inf
    return xp.where(inside, total, xp.where(m == 1, edge, xp.full_like(m, math.nan)))


def _integrand(xp: Namespace, phi: Array, m: Array, n: int, power: float) -> Array:
    sine = xp.sin(phi)
    square = sine * sine
    cosine = xp.cos(phi)
    rest = xp.where(m < 0.5, 1 - m * square, cosine * cosine + (1 - m) * square)  # neither's slope cancels
    return square**n * rest ** (power - n)


@special(
    phi=lambda xp, gy, phi, m, n, power: gy * _integrand(xp, phi, m, n, power),
    m=lambda xp, gy, phi, m, n, power: gy * ((n - power) * xp.special.elliptic_of(phi, m, n=n + 1, power=power)),
)
def elliptic_of(xp: Namespace, phi: RealOperand, m: RealOperand, /, n: int, power: float) -> Array:
    """Integral of ``sin(u)**(2 * n) * (1 - m * sin(u)**2)**(power - n)`` from 0 to `phi`, elementwise.

    Parameters
    ----------
    phi, m : Variable or array, real
        ``m * sin(u)**2`` less than 1 up to `phi`; otherwise the result is NaN.
    n : int
    power : float
        -1/2 for the integral of the first kind, 1/2 for the second kind.

    Notes
    -----
    Whole half-turns, then Gauss's rule in the inverse Gudermannian of the angle, in which the integrand is smooth.
    """
    phi, m = xp.broadcast_arrays(phi, m)
    turns = xp.round(phi / math.pi)
    angle = phi - turns * math.pi
    inside = xp.where((turns == 0) | (m > 1), 0.0, m)
    whole = xp.special.ellipkm1_of(1 - inside, n=n) if power < 0 else xp.special.ellipe_of(inside, n=n)
    y = _up_to(xp, angle, m, n, power) + xp.where(turns == 0, 0.0, 2 * turns * whole)
    square = xp.sin(angle) ** 2
    outside = (m * square > 1) | ((m > 1) & (turns != 0))
    return xp.where(outside, math.nan, y)


def _up_to(xp: Namespace, angle: Array, m: Array, n: int, power: float) -> Array:
    high = xp.minimum(xp.asinh(xp.abs(xp.tan(angle))), xp.full_like(angle, 38.0))  # the tangent may be infinite
    safe = xp.where(m * xp.sin(angle) ** 2 > 1, 0.0, m)
    low = xp.zeros_like(high)
    column = safe[..., None]

    def f(u: Array) -> Array:
        tanh, cosh = xp.tanh(u), xp.cosh(u)
        rest = 1 - column + column / (cosh * cosh)
        return tanh ** (2 * n) * rest ** (power - n) / cosh

    y = integral(xp, f, low, high, 32, 12)
    return xp.where(angle < 0, -y, y)


@special(
    phi=lambda xp, gy, phi, m: gy * _integrand(xp, phi, m, 0, -0.5),
    m=lambda xp, gy, phi, m: gy * (0.5 * xp.special.elliptic_of(phi, m, n=1, power=-0.5)),
)
def ellipkinc(xp: Namespace, phi: RealOperand, m: RealOperand, /) -> Array:
    """Incomplete elliptic integral of the first kind, elementwise.

    ``m * sin(u)**2`` is less than 1 up to the angle `phi`.
    Relative errors are up to 1e-11, including derivatives.
    """
    return xp.special.elliptic_of(phi, m, n=0, power=-0.5)


@special(
    phi=lambda xp, gy, phi, m: gy * _integrand(xp, phi, m, 0, 0.5),
    m=lambda xp, gy, phi, m: gy * (-0.5 * xp.special.elliptic_of(phi, m, n=1, power=0.5)),
)
def ellipeinc(xp: Namespace, phi: RealOperand, m: RealOperand, /) -> Array:
    """Incomplete elliptic integral of the second kind, elementwise.

    ``m * sin(u)**2`` is less than 1 up to the angle `phi`.
    Relative errors are up to 1e-11, including derivatives.
    """
    return xp.special.elliptic_of(phi, m, n=0, power=0.5)


@special(
    u=lambda xp, gy, m, y: gy * _integrand(xp, y, m, 0, 0.5),
    m=lambda xp, gy, m, y: gy * (-0.5 * xp.special.elliptic_of(y, m, n=1, power=-0.5) * _integrand(xp, y, m, 0, 0.5)),
)
def jacobi_am(xp: Namespace, u: RealOperand, m: RealOperand, /) -> Array:
    """Amplitude of Jacobi's elliptic functions, the inverse of `ellipkinc` in its first argument, elementwise.

    The parameter `m` is from 0 to 1; otherwise the result is NaN.

    Notes
    -----
    The descending Landen transformation.
    """
    u, m = xp.broadcast_arrays(u, m)
    inside = (m >= 0) & (m < 1)
    safe = xp.where(inside, m, 0.5)
    a, b, c = xp.ones_like(safe), xp.sqrt(1 - safe), xp.sqrt(safe)
    ratios = []
    for _ in range(8):
        a, b, c = 0.5 * (a + b), xp.sqrt(a * b), 0.5 * (a - b)
        ratios.append(c / a)
    phi = 2.0 ** len(ratios) * a * u
    for ratio in ratios[::-1]:
        phi = 0.5 * (phi + xp.asin(ratio * xp.sin(phi)))
    return xp.where(inside, phi, xp.where(m == 1, xp.atan(xp.sinh(u)), math.nan))


@composed
def ellipj(u: RealOperand, m: RealOperand, /) -> tuple[Variable, Variable, Variable, Variable]:
    """Return Jacobi's elliptic functions sn, cn, dn, and the amplitude, elementwise.

    The parameter `m` is from 0 to 1.
    """
    phi = jacobi_am(u, m)
    sn, cn = sin(phi), cos(phi)
    return sn, cn, sqrt(where(cast("Variable", m) < 0.5, 1 - m * (sn * sn), cn * cn + (1 - m) * (sn * sn))), phi


@composed
def agm(a: RealOperand, b: RealOperand, /) -> Variable:
    """Return the arithmetic-geometric mean of positive numbers, elementwise, within a factor of 1e200 of each other."""
    a, b = cast("Variable", a), cast("Variable", b)
    total = a + b
    return (0.25 * math.pi) * total / ellipkm1((a / total) * (b / total) * 4)


@special(
    a=lambda xp, gy, a, b, c, i, j, k: gy * (-(i + 0.5) * xp.special.carlson(a, b, c, i=i + 1, j=j, k=k)),
    b=lambda xp, gy, a, b, c, i, j, k: gy * (-(j + 0.5) * xp.special.carlson(a, b, c, i=i, j=j + 1, k=k)),
    c=lambda xp, gy, a, b, c, i, j, k: gy * (-(k + 0.5) * xp.special.carlson(a, b, c, i=i, j=j, k=k + 1)),
)
def carlson(xp: Namespace, a: RealOperand, b: RealOperand, c: RealOperand, /, i: int, j: int, k: int) -> Array:
    """Integral from 0 on of ``(t + a)**(-1/2 - i) * (t + b)**(-1/2 - j) * (t + c)**(-1/2 - k)``, elementwise.

    `a`, `b` and `c` are not negative, and at most one is 0; else the result is infinite or NaN.

    Notes
    -----
    The trapezoidal rule for the logarithm of `t`, whose error falls exponentially; accurate for inputs within a factor
    of 1e40 of each other.
    """
    ends, powers = xp.broadcast_arrays(a, b, c), (i, j, k)
    inside = (ends[0] >= 0) & (ends[1] >= 0) & (ends[2] >= 0)
    lost = xp.zeros_like(ends[0])  # twice the exponent of t in the denominator for the inputs that are 0
    for end, n in zip(ends, powers, strict=True):
        lost = lost + (2 * n + 1) * xp.astype(end == 0, lost.dtype)
    ones = [xp.where(inside & (lost < 2), end, 1.0) for end in ends]
    largest = xp.log(xp.maximum(xp.maximum(ones[0], ones[1]), ones[2]))
    positive = [xp.where(end > 0, end, xp.exp(largest)) for end in ones]
    least = xp.log(xp.minimum(xp.minimum(positive[0], positive[1]), positive[2]))
    low, count = least - 80, 500
    width = largest + 80 / (1 + i + j + k) - low

    def f(at: Array) -> Array:
        v = low[..., None] + width[..., None] * at
        total, t = v, xp.exp(v)
        for end, n in zip(ones, powers, strict=True):
            total = total - (n + 0.5) * xp.log(t + end[..., None])
        return xp.exp(total)

    y = weighted_sum(xp, f, *trapezoids(count, 1.0), width) * width
    return xp.where(inside, xp.where(lost < 2, y, math.inf), math.nan)


@composed
def elliprf(x: RealOperand, y: RealOperand, z: RealOperand, /) -> Variable:
    """Return Carlson's symmetric elliptic integral of the first kind, elementwise.

    The inputs are not negative, at most one input is 0, and the other inputs are within a factor of 1e40 of each other.
    """
    return 0.5 * carlson(x, y, z, i=0, j=0, k=0)


@composed
def elliprd(x: RealOperand, y: RealOperand, z: RealOperand, /) -> Variable:
    """Return Carlson's symmetric elliptic integral of the second kind, elementwise.

    The inputs are not negative, `z` is positive, at most one of `x` and `y` is 0, and nonzero inputs are within a
    factor of 1e40 of each other.
    """
    return 1.5 * carlson(x, y, z, i=0, j=0, k=1)


@composed
def elliprc(x: RealOperand, y: RealOperand, /) -> Variable:
    """Return Carlson's degenerate elliptic integral, elementwise.

    `x` is not negative, and `y` is positive and within a factor of 1e40 of `x`; for negative `y` the result is NaN,
    where SciPy gives a principal value.
    """
    return 0.5 * carlson(x, y, y, i=0, j=0, k=0)
