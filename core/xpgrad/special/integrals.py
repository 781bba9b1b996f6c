"""Functions that are integrals: exponential integrals, the dilogarithm, complete elliptic integrals."""

import math

from xpgrad.array_api.elementwise.exponential import exp
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.special.constants import BERNOULLI, EULER, polynomial
from xpgrad.special.operands import composed, composed_of_order, special, where_scalars
from xpgrad.special.quadrature import integral, trapezoids, weighted_sum
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = ["ellipk", "ellipkm1", "ellipkm1_of", "exp1", "expi", "expn", "expn_of", "hyp1f1", "spence"]


def _expn_slope(xp: Namespace, x: Array, n: int) -> Array:
    return -xp.exp(-x) / x if n == 1 else -xp.special.expn_of(x, n=n - 1)


@special(x=lambda xp, gy, x, n: gy * _expn_slope(xp, x, n))
def expn_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Exponential integral of order `n` from 1 on, the integral of ``exp(-x * t) / t**n`` from 1 on, elementwise.

    Below 0 the result is NaN.

    Notes
    -----
    The integral over ``v = log(t)``; for order 1 and small `x`, the power series (NIST DLMF 6.6.2).
    """
    inside = (x > 0) & ~xp.isinf(x)
    safe = xp.where(inside, x, 1.0)
    high = xp.log1p(40 / safe)
    if n > 1:
        high = xp.minimum(high, xp.full_like(high, 40 / (n - 1)))
    column = safe[..., None]
    y = integral(xp, lambda v: xp.exp(-column * xp.expm1(v) + (1 - n) * v), xp.zeros_like(high), high, 32, 3)
    y = y * xp.exp(-safe)
    if n == 1:
        small = xp.where(safe < 0.5, safe, 0.5)
        series = polynomial(-small, tuple(1 / (k * math.factorial(k)) for k in range(1, 18)))
        y = xp.where(safe < 0.5, small * series - EULER - xp.log(small), y)
    edge = xp.where(x == 0, math.inf if n == 1 else 1 / (n - 1), where_scalars(xp, x > 0, 0.0, math.nan, x))
    return xp.where(inside, y, edge)


@composed_of_order("order")
def expn(n: int, x: AnyArray, /) -> Variable:
    """Return the exponential integral of order `n`, elementwise, for `x` not negative."""
    return expn_of(x, n=n) if n else exp(-as_variable(x)) / x


@special(x=lambda xp, gy, x: gy * (-xp.exp(-x) / x))
def exp1(xp: Namespace, x: AnyArray, /) -> Array:
    """Exponential integral of order 1, elementwise.

    At 0 the result is infinite, below it NaN.
    """
    return xp.special.expn_of(x, n=1)


@special(x=lambda xp, gy, x: gy * (xp.exp(x) / x))
def expi(xp: Namespace, x: AnyArray, /) -> Array:
    """Exponential integral Ei, elementwise.

    At 0 the result is minus infinity.
    """
    negative = x < 0
    large = x > 40
    middle = xp.where(negative | large | (x == 0), 1.0, x)
    term = total = middle
    for k in range(2, 130):
        term = term * (middle / k)
        total = total + term / k
    middle = EULER + xp.log(middle) + total
    big = xp.where(large, x, 41.0)
    series = xp.ones_like(big)
    for k in range(35, 0, -1):  # the asymptotic series; its smallest term is the 40th
        series = 1 + series * (k / big)
    tail = xp.exp(big) / big * series
    below = -xp.special.expn_of(xp.where(negative, xp.negative(x), 1.0), n=1)
    return xp.where(x == 0, -math.inf, xp.where(negative, below, xp.where(large, tail, middle)))


def _spence_slope(xp: Namespace, x: Array) -> Array:
    near = xp.abs(x - 1) < 0.5
    away = xp.where(near, 2.0, x)
    inner = xp.special.log1prel_of(xp.where(near, x - 1, 0.0), n=0)
    return xp.where(near, -inner, xp.log(away) / (1 - away))


@special(x=lambda xp, gy, x: gy * _spence_slope(xp, x))
def spence(xp: Namespace, x: AnyArray, /) -> Array:
    """Spence's function, the integral of ``log(t) / (1 - t)`` from 1 to `x`, elementwise: the dilogarithm of ``1 - x``.

    Below 0 the result is NaN.

    Notes
    -----
    The series in ``log(x)`` whose coefficients are Bernoulli numbers, and the reflections of NIST DLMF 25.12.
    """
    inside = x > 0
    safe = xp.where(inside, x, 1.0)
    high = safe > 2
    base = xp.where(high, 1 / safe, safe)
    low = base < 0.5
    reflected = xp.where(low, 1 - base, base)
    u = -xp.log(reflected)
    coefficients = tuple(b / math.factorial(2 * j + 1) for j, b in enumerate(BERNOULLI[:12], 1))
    value = u - u * u / 4 + u**3 * polynomial(u * u, coefficients)
    log = xp.log(base)
    value = xp.where(low, math.pi**2 / 6 - log * xp.log1p(-xp.where(low, base, 0.0)) - value, value)
    value = xp.where(high, -0.5 * log * log - value, value)
    return xp.where(inside, value, where_scalars(xp, x == 0, math.pi**2 / 6, math.nan, x))


@special(x=lambda xp, gy, x: gy * (-0.5 * xp.special.ellipkm1_of(x, n=1)))
def ellipkm1(xp: Namespace, x: AnyArray, /) -> Array:
    """Complete elliptic integral of the first kind for the complementary parameter ``x = 1 - m``, elementwise.

    At 0 the result is infinite, below it NaN.

    Notes
    -----
    The arithmetic-geometric mean.
    """
    inside = x > 0
    root = xp.sqrt(xp.where(inside, x, 1.0))
    a = xp.ones_like(root)
    for _ in range(12):
        a, root = 0.5 * (a + root), xp.sqrt(a * root)
    return xp.where(inside, math.pi / (a + root), where_scalars(xp, x == 0, math.inf, math.nan, x))


def first_integrals(xp: Namespace, x: Array, count: int) -> tuple[Array, Array]:
    """Return the integral K of the first kind for ``x = 1 - m``, and ``(K - E) / (m * K)``, E of the second kind.

    13 steps suffice for all numbers, 9 steps for numbers from 1e-16 to 1e17.
    In the sum ``1 - E / K`` of squares of differences from the arithmetic-geometric mean (NIST DLMF 19.8), each is
    ``m`` times a square that is computed without a difference.
    """
    a, b, m = xp.ones_like(x), xp.sqrt(x), 1 - x
    term, share, weight = xp.ones_like(x), xp.full_like(x, 0.5), 1.0
    for _ in range(count):
        a, b = 0.5 * (a + b), xp.sqrt(a * b)
        ratio = term / (4 * a)
        term = m * (ratio * ratio)
        share = share + weight * term
        weight *= 2
    return math.pi / (a + b), share


@special(x=lambda xp, gy, x, n: gy * (-(n + 0.5) * xp.special.ellipkm1_of(x, n=n + 1)))
def ellipkm1_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Integral of ``sin(u)**(2 * n) / (1 - (1 - x) * sin(u)**2)**(n + 1 / 2)`` over a right angle, elementwise.

    `x` is positive.

    Notes
    -----
    The arithmetic-geometric mean for order 1. Above, the trapezoidal rule for the logarithm of ``tan(u)``, whose error
    falls exponentially.
    """
    inside = x > 0
    if n == 1:
        plain = inside & ~xp.isinf(x)
        safe = xp.where(plain, x, 1.0)
        first, share = first_integrals(xp, safe, 13)
        return xp.where(plain, first * (1 - share) / safe, xp.where(inside, 0.0, xp.full_like(x, math.nan)))
    small, large = inside & (x < 1e-17), (x > 1e17) & ~xp.isinf(x)
    safe = xp.where(inside & ~small & ~large, x, 1.0)
    half = -0.5 * xp.log(safe)  # if positive, the integrand is constant from 0 to about here
    low = -40 / (2 * n + 1) + xp.minimum(half, xp.zeros_like(half))
    high = 40 + xp.maximum(half, xp.zeros_like(half))
    width, count = high - low, 400

    def f(u: Array) -> Array:
        v = low[..., None] + width[..., None] * u
        e, rest = xp.exp(2 * v), half[..., None]
        shifted = 2 * (v - rest)
        both = (2 * n + 1) * v - 0.5 * xp.log1p(e)
        return xp.exp(both - (n + 0.5) * xp.log1p(xp.exp(shifted)))

    total = weighted_sum(xp, f, *trapezoids(count, 1.0), width) * width
    total = xp.where(small, _first_term(xp, xp.where(small, x, 1.0), n, 0.0), total)
    total = xp.where(large, _first_term(xp, xp.where(large, x, 1.0), n, -0.5), total)
    return xp.where(inside, total, math.nan)


def _first_term(xp: Namespace, x: Array, n: int, power: float) -> Array:
    """Return the first term of the expansion of `ellipkm1_of` for small `x`, or for large `x` with the power -1/2.

    The term of order 0 is ``x**power * (log(4) ± log(x) / 2)`` (NIST DLMF 19.12), the other terms are proportional to
    its derivatives.
    """
    plain, of_log = math.log(4), -0.5 if power == 0 else 0.5
    for k in range(n):
        plain, of_log = (power * plain + of_log) / -(k + 0.5), power * of_log / -(k + 0.5)
        power -= 1
    return xp.pow(x, power) * (plain + of_log * xp.log(x))


@composed
def ellipk(m: AnyArray, /) -> Variable:
    """Return the complete elliptic integral of the first kind for the parameter `m`, up to 1, elementwise."""
    return ellipkm1(1 - m)


@special(no_gradient=["a", "b"], x=lambda xp, gy, a, b, x: gy * (a / b * xp.special.hyp1f1(a + 1, b + 1, x)))
def hyp1f1(xp: Namespace, a: RealOperand, b: RealOperand, x: RealOperand, /) -> Array:
    """Confluent hypergeometric function, elementwise.

    The default body is accurate for `x` between -50 and 50 and moderate `a` and `b`.

    Notes
    -----
    The power series, after Kummer's transformation where `x` is negative (NIST DLMF 13.2).
    """
    negative = x < 0
    a, size = xp.where(negative, b - a, a), xp.abs(x)
    term = total = xp.ones_like(a + b + size)
    for k in range(160):
        term = term * ((a + k) / (b + k) * (size / (k + 1)))
        total = total + term
    return total * xp.exp(xp.where(negative, x, 0.0))
