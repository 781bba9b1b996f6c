"""The beta function, binomial coefficients, and other quotients of gamma functions."""

import math
from typing import Any, SupportsIndex

from xpgrad.graph.variable import Variable
from xpgrad.special.gamma_functions import LOG_ROOT_2_PI, STIRLING_FROM, gammaln, stirling_error
from xpgrad.special.operands import as_floating, special
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = ["beta", "betaln", "binom", "multigammaln", "poch"]


@special(
    a=lambda xp, gy, a, b: gy * (xp.special.psi(a) - xp.special.psi(a + b)),
    b=lambda xp, gy, a, b: gy * (xp.special.psi(b) - xp.special.psi(a + b)),
)
def betaln(xp: Namespace, a: RealOperand, b: RealOperand, /) -> Array:
    """Logarithm of the absolute value of the beta function, elementwise."""
    positive = (a > 0) & (b > 0)
    p, q = xp.where(positive, a, 1.0), xp.where(positive, b, 1.0)
    small, large = xp.minimum(p, q), xp.maximum(p, q)
    both = (
        LOG_ROOT_2_PI - 0.5 * xp.log(small) - small * xp.log1p(large / small) - (large - 0.5) * xp.log1p(small / large)
    )
    both = both + stirling_error(xp, small) + stirling_error(xp, large) - stirling_error(xp, p + q)
    near = xp.where(
        large < STIRLING_FROM, xp.special.gammaln(p) + xp.special.gammaln(q) - xp.special.gammaln(p + q), both
    )
    a, b = xp.where(positive, 1.5, a), xp.where(positive, 1.5, b)
    return xp.where(positive, near, xp.special.gammaln(a) + xp.special.gammaln(b) - xp.special.gammaln(a + b))


@special(
    a=lambda xp, gy, a, b, y: gy * (y * (xp.special.psi(a) - xp.special.psi(a + b))),
    b=lambda xp, gy, a, b, y: gy * (y * (xp.special.psi(b) - xp.special.psi(a + b))),
)
def beta(xp: Namespace, a: RealOperand, b: RealOperand, /) -> Array:
    """Beta function, ``gamma(a) * gamma(b) / gamma(a + b)``, elementwise."""
    return (
        xp.special.gammasgn(a) * xp.special.gammasgn(b) * xp.special.gammasgn(a + b) * xp.exp(xp.special.betaln(a, b))
    )


@special(
    n=lambda xp, gy, n, k, y: gy * (y * (xp.special.psi(n + 1) - xp.special.psi(n - k + 1))),
    k=lambda xp, gy, n, k, y: gy * (y * (xp.special.psi(n - k + 1) - xp.special.psi(k + 1))),
)
def binom(xp: Namespace, n: RealOperand, k: RealOperand, /) -> Array:
    """Binomial coefficient of real numbers, elementwise.

    For integers with k > n the result is 0, and its gradient NaN.
    """
    whole = xp.round(xp.clip(k, 0.0, 20.0))
    exact = k == whole
    product = xp.ones_like(n + k)
    for i in range(1, 21):
        product = product * xp.where(i <= whole, (n - whole + i) / i, 1.0)
    n, k = xp.where(exact, 1.0, n), xp.where(exact, 0.5, k)
    sign = xp.special.gammasgn(n + 1) * xp.special.gammasgn(k + 1) * xp.special.gammasgn(n - k + 1)
    return xp.where(
        exact,
        product,
        sign * xp.exp(xp.special.gammaln(n + 1) - xp.special.gammaln(k + 1) - xp.special.gammaln(n - k + 1)),
    )


@special(
    z=lambda xp, gy, z, m, y: gy * (y * (xp.special.psi(z + m) - xp.special.psi(z))),
    m=lambda xp, gy, z, m, y: gy * (y * xp.special.psi(z + m)),
)
def poch(xp: Namespace, z: RealOperand, m: RealOperand, /) -> Array:
    """Pochhammer symbol, ``gamma(z + m) / gamma(z)``, elementwise."""
    return (
        xp.special.gammasgn(z + m) * xp.special.gammasgn(z) * xp.exp(xp.special.gammaln(z + m) - xp.special.gammaln(z))
    )


def multigammaln(a: AnyArray, d: SupportsIndex, /) -> Variable:
    """Return the logarithm of the multivariate gamma function of dimension `d`, elementwise.

    Parameters
    ----------
    a : Variable or array, real
        Greater than ``(d - 1) / 2``.
    d : int
    """
    (a,) = as_floating("multigammaln", (a,))
    total: Any = int(d) * (int(d) - 1) / 4 * math.log(math.pi)
    for j in range(int(d)):
        total = gammaln(a - j / 2) + total
    y: Variable = total
    return y
