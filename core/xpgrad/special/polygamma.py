"""The derivatives of the logarithm of the gamma function, and the zeta function, which gives them."""

import math
from typing import Any

from xpgrad.array_api.creation import zeros_like
from xpgrad.array_api.elementwise.exponential import exp
from xpgrad.array_api.searching import where
from xpgrad.graph.variable import Variable
from xpgrad.special.complex_functions import complex_polygamma_of
from xpgrad.special.constants import BERNOULLI, derivative_of_cotangent, polynomial
from xpgrad.special.gamma_functions import gamma, gammaln, psi_excess, sine, sine_and_cosine
from xpgrad.special.operands import as_floating, special, where_scalars
from xpgrad.types import WHOLE, AnyArray, Array, Namespace, RealOperand

__all__ = ["digamma", "polygamma", "polygamma_of", "psi", "zeta", "zeta_moment", "zetac"]


@special(of_complex=lambda x: complex_polygamma_of(x, n=0), x=lambda xp, gy, x: gy * xp.special.polygamma_of(x, n=1))
def psi(xp: Namespace, x: AnyArray, /) -> Array:
    """Digamma function, the derivative of `gammaln`, elementwise.

    At 0 the result is infinite, at negative integers NaN.
    """
    pole = (x <= 0) & (x == xp.floor(x))
    safe = xp.where(pole, 1.0, x)
    negative = safe < 0
    size = xp.where(negative, 1 - safe, safe)
    positive = xp.log(size) - psi_excess(xp, size)
    sine, cosine = sine_and_cosine(xp, xp.where(negative, safe, 0.5))
    result = xp.where(negative, positive - math.pi * cosine / sine, positive)
    return xp.where(pole, xp.where(x == 0, xp.copysign(xp.full_like(x, math.inf), xp.negative(x)), math.nan), result)


digamma = psi


@special(x=lambda xp, gy, x, n: gy * xp.special.polygamma_of(x, n=n + 1))
def polygamma_of(xp: Namespace, x: Array, /, n: int) -> Array:
    """Derivative of `psi` of order `n`, elementwise.

    At 0 and negative integers the result is NaN.
    """
    if n == 0:
        return xp.special.psi(x)
    negative = x < 0
    factor = (-1) ** (n + 1) * float(math.factorial(n))  # beyond 20! it does not fit in an int64
    value = factor * _sum_of_powers(xp.where(x == 0, 1.0, xp.where(negative, 1 - x, x)), n + 1)
    sine, cosine = sine_and_cosine(xp, xp.where(negative, x, 0.5))
    pole = sine == 0
    cotangent = cosine / xp.where(pole, 1.0, sine)
    reflected = (-1) ** n * value - math.pi * polynomial(cotangent, derivative_of_cotangent(n))
    return xp.where(negative, xp.where(pole, math.nan, reflected), xp.where(x == 0, math.nan, value))


def _sum_of_powers(x: Array, s: int) -> Array:
    """Return the sum of ``1 / (x + k)**s`` over k >= 0, by Euler–Maclaurin summation after 12 summands."""
    total: Any = 0.0
    for k in range(12):
        total = total + _power(1 / (x + k), s)
    inverse = 1 / (x + 12)
    coefficients, rising = [1 / (s - 1)], 1.0
    for j, b in enumerate(BERNOULLI[:12], 1):
        rising *= float(s) if j == 1 else (s + 2 * j - 3) * (s + 2 * j - 2)
        coefficients.append(b / math.factorial(2 * j) * rising)
    return total + _power(inverse, s - 1) * (polynomial(inverse * inverse, tuple(coefficients)) + 0.5 * inverse)


def _power(x: Array, n: int) -> Array:
    """Return ``x**n`` for a positive integer, by repeated squares."""
    if n == 1:
        return x
    half = _power(x, n // 2)
    return half * half * x if n % 2 else half * half


def polygamma(n: RealOperand, x: RealOperand, /) -> Variable:
    """Return the derivative of `psi` of order `n`, elementwise.

    Parameters
    ----------
    n : int, or Variable or array of non-negative integers
        It has no gradient.
    x : Variable or array, real, positive
        Elsewhere the result is NaN.
    """
    if isinstance(n, WHOLE):
        return polygamma_of(x, n=int(n))
    order, x = as_floating("polygamma", (n, x))
    order = Variable(order.array, requires_grad=False)
    xp = x.__array_namespace__()
    sign = 2 * xp.remainder(order, 2.0) - 1
    higher = sign * gamma(order + 1) * zeta_moment(order + 1 + xp.astype(order == 0, x.dtype), x, m=0)
    y: Variable = xp.where(order == 0, psi(x), higher)
    return y


@special(
    x=lambda xp, gy, x, q, m: gy * (-xp.special.zeta_moment(x, q, m=m + 1)),
    q=lambda xp, gy, x, q, m: gy * _zeta_slope(xp, x, q, m),
)
def zeta_moment(xp: Namespace, x: RealOperand, q: RealOperand, /, m: int) -> Array:
    """Sum of ``log(q + k)**m / (q + k)**x`` over k from 0 on, elementwise: derivatives of the Hurwitz zeta function.

    At ``x == 1`` the result is infinite; below -1/2, and where q is not positive, it is NaN.

    Notes
    -----
    Euler–Maclaurin summation from the 12th summand on. Each derivative of a summand is a polynomial of its logarithm.
    """
    valid = (x > -0.5) & (x != 1) & (q > 0)
    s, q = xp.where(valid, x, 2.0), xp.where(valid, q, 1.0)
    total = xp.zeros_like(s + q)
    for k in range(12):
        total = total + (xp.log(q + k) ** m if m else 1.0) * xp.pow(q + k, -s)
    a = q + 12
    log, power = xp.log(a), xp.pow(a, -s)
    part: Any = 0.0
    for i in range(m + 1):
        part = part + math.perm(m, i) * log ** (m - i) / (s - 1) ** (i + 1)
    total = total + a * power * part + 0.5 * power * log**m
    # f = P(log a) a**(-s - j), from which f' = (P' - (s + j) P) a**(-s - j - 1)
    coefficients: list[Any] = [*[0.0] * m, 1.0]
    derivative = 0
    for j, b in enumerate(BERNOULLI[:12], 1):
        while derivative < 2 * j - 1:
            higher = [*(i * c for i, c in enumerate(coefficients) if i), 0.0]
            falling = zip(higher, coefficients, strict=True)
            coefficients = [(h - (s + derivative) * c) / a for h, c in falling]
            derivative += 1
        value = sum(c * log**i for i, c in enumerate(coefficients))
        total = total - (b / math.factorial(2 * j)) * power * value
    return xp.where(valid, total, where_scalars(xp, (x == 1) & (m == 0), math.inf, math.nan, total))


def _zeta_slope(xp: Namespace, x: Array, q: Array, m: int) -> Array:
    slope = -x * xp.special.zeta_moment(x + 1, q, m=m)
    return slope + m * xp.special.zeta_moment(x + 1, q, m=m - 1) if m else slope


def zeta(x: RealOperand, q: RealOperand | None = None, /) -> Variable:
    """Return the Hurwitz zeta function, the sum of ``(q + k)**-x`` over k from 0 on, elementwise.

    Parameters
    ----------
    x : Variable or array, real
        Infinite at 1. Below 1 the result is NaN, except for Riemann's function.
    q : Variable or array, real, positive, or None for 1, which gives Riemann's function
    """
    if q is None:
        (x,) = as_floating("zeta", (x,))
        return 1 + zetac(x)
    x, q = as_floating("zeta", (x, q))
    return zeta_moment(x + where(x < 1, math.nan, zeros_like(x)), q, m=0)


def zetac(x: AnyArray, /) -> Variable:
    """Return Riemann's zeta function minus 1, elementwise, accurate for large `x`.

    Relative errors are up to 1e-13, including derivatives.

    Parameters
    ----------
    x : Variable or array, real
        Infinite at 1.

    Notes
    -----
    Below -1/2 the reflection of NIST DLMF 25.4.
    """
    (x,) = as_floating("zetac", (x,))
    low = x <= -0.5
    right, left = where(low, 2.0, x), where(low, 1 - x, 2.0)
    quarter = sine(x.__array_namespace__(), where(low, 0.5 * x, 0.5))
    size = exp(gammaln(left) - math.log(2 * math.pi) * left)
    reflected = 2 * (quarter * size * (1 + zeta_moment(left, 2.0, m=0))) - 1
    return where(low, reflected, zeta_moment(right, 2.0, m=0))
