"""Derivatives of incomplete gamma and beta functions, and of tails of distributions, by series chosen by the arguments.

The default bodies compute all formulas for all elements.
"""

import math
from typing import Any

import numpy as np

from xpgrad.types import Array, Kernel, Namespace

LARGEST = 30.0
"""Shapes and limits up to which the power series is used."""
CANCELLING = 0.03
"""Derivatives below this are not computed from a series of terms of both signs, which add up to about 1."""
FAR = 2.0
"""Limits from which the continued fraction of the upper tail converges fast, above the shape."""
NEGLIGIBLE = 1e-20
MAX_TERMS = 400
FRACTION_FROM = 2.5
"""Arguments from which the difference from the asymptote cancels more than four bits."""
TERMS = 40
"""Terms of the fraction at the smallest argument for which it is used."""
DEGREES = 0.01, 15.0
"""Degrees of freedom for which derivatives of Student's distribution by them are power series, without cancellation."""
FEW, OF_FEW, OF_MANY = 3.0, 0.5, 0.25
"""Few degrees of freedom, and the ``t**2 / (df + t**2)`` up to which terms of the power series that starts at 0 cancel
less than those of the other, for few and more degrees."""
SHIFTS = 12
OF_PSI = (1 / 16, -1 / 128, 1 / 256, -17 / 4096, 31 / 4096, -691 / 32768, 5461 / 65536)
"""Coefficients of the asymptotic series of `_psi_rise`, in ``1 / b**2``."""
ROOT_2, ROOT_PI = math.sqrt(2), math.sqrt(math.pi)


def gammainc_moment(library: Any, xp: Namespace, default: Kernel) -> Kernel:
    """Return the integrals of orders 1 and 2, for derivatives of `gammainc` by its parameter, by power series.

    The terms of the series ``sum(x**(a + k) * exp(-x) / gamma(a + k + 1))`` are differentiated. All derivatives are
    negative up to about the median. Small derivatives in the upper tail are those of Legendre's continued fraction.
    Other arguments, for which terms cancel, are left to the default kernel.
    """

    def kernel(a: Array, x: Array, /, n: int) -> Array:
        if n > 2 or not a.size or not x.size:
            return default(a, x, n=n)
        dtype = np.result_type(a, x)
        a, x = np.broadcast_arrays(a, x)
        if not a.ndim:
            return kernel(a[None], x[None], n=n).reshape(())
        near = (a > 0) & (a <= LARGEST) & (x > 0) & (x <= LARGEST)
        if not near.any():
            return default(a, x, n=n)
        whole = bool(near.all())
        at, to = (a, x) if whole else (a[near], x[near])
        at, to = at.astype(np.float64), to.astype(np.float64)
        found, left = (_slope if n == 1 else _second_moment)(library, at, to)
        tail = ~left & (to > FAR) & (to > at)
        if n == 1 and tail.any():
            found[tail] = _upper_slope(library, at[tail], to[tail])
            left |= tail
        if whole and left.all():
            return found.astype(dtype, copy=False)
        y, missing = np.empty(a.shape, dtype), ~near
        y[near], missing[near] = found.ravel(), ~left.ravel()
        if missing.any():
            y[missing] = default(a[missing], x[missing], n=n)
        return y

    return kernel


def _slope(library: Any, a: Array, x: Array) -> tuple[Array, Array]:
    """Return the derivatives of `gammainc` by the parameter, and a mask of those without cancellation."""
    term = x**a * np.exp(-x) / library.gamma(a + 1)
    slope = np.log(x) - library.psi(a + 1)
    same_sign = slope <= 0
    total, step, product = term * slope, a + 1, np.empty_like(a)
    least, most, rest, k = float(a.min()), float(x.max()), 1.0, 1
    while rest > NEGLIGIBLE:
        np.divide(1.0, step, out=product)
        slope -= product
        product *= x
        term *= product
        np.multiply(term, slope, out=product)
        total += product
        step += 1
        rest *= most / (least + k)
        k += 1
    return total, same_sign | (total < -CANCELLING)


def _second_moment(library: Any, a: Array, x: Array) -> tuple[Array, Array]:
    """Return the integrals of order 2, and a mask of those without cancellation.

    Terms of those from 0 to `x` are the terms of `gammainc` times ``(log(x) - psi(a + k + 1))**2 + psi'(a) - psi'(a + k
    + 1)``, which are all positive. Those from `x` on are what these lack of ``psi'(a)``.
    """
    term = x**a * np.exp(-x) / library.gamma(a + 1)
    slope, rise = np.log(x) - library.psi(a + 1), 1 / (a * a)
    total, step, product, square = term * (slope * slope + rise), a + 1, np.empty_like(a), np.empty_like(a)
    least, most, rest, k = float(a.min()), float(x.max()), 1.0, 1
    while rest > NEGLIGIBLE:
        np.divide(1.0, step, out=product)
        slope -= product
        rise += np.multiply(product, product, out=square)
        product *= x
        term *= product
        np.multiply(slope, slope, out=square)
        square += rise
        square *= term
        total += square
        step += 1
        rest *= most / (least + k)
        k += 1
    low, whole = np.minimum(a, 1.0), library.polygamma(1, a)
    left = x < np.where(a < 1, np.exp((library.gammaln(low + 1) - math.log(2)) / low), a)
    above = total - whole
    return np.where(left, total, above), left | (above < -whole / 12)


def _upper_slope(library: Any, a: Array, x: Array) -> Array:
    """Return the derivatives of `gammainc` by the parameter, from the fraction for its complement (DLMF 8.9.2)."""
    start = x + 1 - a
    count = 10 + math.ceil(100 / float(x.min()))
    below, slope = start + 2 * count, np.full_like(a, -1.0)
    for k in range(count, 0, -1):
        share = k / below
        product = (k - a) * share
        slope *= product
        slope /= below
        slope += share
        slope -= 1
        np.subtract(start + 2 * (k - 1), product, out=below)
    upper = x**a * np.exp(-x) / (library.gamma(a) * below)
    return -upper * (np.log(x) - library.psi(a) - slope / below)


def erfc_quotient_of(library: Any, xp: Namespace, default: Kernel) -> Kernel:
    """Return the quotient of order 1 from `erfcx` for small arguments, and from a fraction of few terms for others."""

    def kernel(z: Array, /, n: int) -> Array:
        if n != 1 or z.itemsize != 8:
            return default(z, n=n)
        with np.errstate(all="ignore"):
            y = np.asarray(1 / (ROOT_PI * library.erfcx(z)) - z)
        far = z > FRACTION_FROM
        if far.any():
            large = z[far] if z.ndim else z.reshape(1)
            doubled, outer = 2 * large, np.zeros_like(large)
            for k in range(TERMS, 0, -1):
                outer *= 2 * (k + 1)
                outer += doubled
                np.divide(1.0, outer, out=outer)
            y[far] = outer
        return y

    return kernel


def mills_excess(library: Any, xp: Namespace, default: Kernel) -> Kernel:
    """Return the excess with each of its two formulas computed only for the elements that need it."""

    def kernel(x: Array, /) -> Array:
        if not x.ndim:
            return default(x)
        low, y = x < 0, np.empty_like(x)
        left, right = x[low], x[~low]
        y[low] = ROOT_2 * xp.special.erfc_quotient_of(left * (-1 / ROOT_2), n=1)
        y[~low] = right + xp.special.inverse_mills(right)
        return y

    return kernel


def betainc_moment(library: Any, xp: Namespace, default: Kernel) -> Kernel:
    """Return the integrals of order 1, the derivatives of `betainc` by its parameters, by a power series if possible.

    The series is that of Gauss for the smaller of `x` and ``1 - x``, differentiated term by term.
    """

    def kernel(a: Array, b: Array, x: Array, /, m: int, n: int) -> Array:
        if m + n != 1 or not a.size or not b.size or not x.size:
            return default(a, b, x, m=m, n=n)
        dtype = np.result_type(a, b, x)
        a, b, x = np.broadcast_arrays(a, b, x)
        if not a.ndim:
            return kernel(a[None], b[None], x[None], m=m, n=n).reshape(())
        near = (np.minimum(a, b) > 0) & (np.maximum(a, b) <= LARGEST) & (x > 0) & (x < 1)
        if not near.any():
            return default(a, b, x, m=m, n=n)
        at, to, limit = (z[near].astype(np.float64) for z in (a, b, x))
        swap = limit > 0.5
        first, second = np.where(swap, to, at), np.where(swap, at, to)
        low = np.minimum(limit, 1 - limit)
        found, exact = _beta_slope(library, first, second, low, swap ^ (m == 1))
        y, missing = np.empty(a.shape, dtype), ~near
        y[near], missing[near] = np.where(swap, -found, found), ~exact
        if missing.any():
            y[missing] = default(a[missing], b[missing], x[missing], m=m, n=n)
        return y

    return kernel


def _beta_slope(library: Any, a: Array, b: Array, x: Array, by_first: Array) -> tuple[Array, Array]:
    """Return the derivatives of `betainc` by `a` where `by_first`, else by `b`, and a mask of accurate ones.

    The terms are ``x**(a + k) * (1 - x)**b * gamma(a + b + k) / (gamma(a + k + 1) * gamma(b))``.
    """
    log = np.log(np.where(by_first, x, 1 - x))
    term = x**a * np.exp(b * np.log1p(-x)) / (a * library.beta(a, b))
    whole, own = library.psi(a + b), library.psi(np.where(by_first, a + 1, b))
    slope = log + whole - own
    size = CANCELLING * np.maximum(1.0, np.abs(whole) + np.abs(own))
    same_sign = np.where(by_first, slope <= -size, slope >= size)  # of all later terms too, which are larger
    total, both, step = term * slope, a + b, a + 1
    over = np.where(by_first, step - both, step)  # 1 / both - 1 / step, or 1 / both, is this divided by their product
    grown = np.where(by_first, 0.0, 1.0)
    top, product = float(x.max()), np.empty_like(a)
    rest, most, least, k = 1.0, float(b.max()), float(a.min()), 0
    while rest > NEGLIGIBLE and k < MAX_TERMS:
        np.multiply(both, step, out=product)
        np.divide(over, product, out=product)
        slope += product
        np.divide(both, step, out=product)
        product *= x
        term *= product
        np.multiply(term, slope, out=product)
        total += product
        both += 1
        step += 1
        over += grown
        rest *= top * max(1.0, (least + most + k) / (least + 1 + k))
        k += 1
    return total, same_sign | (np.abs(total) > size)


def stdtr_slope(library: Any, xp: Namespace, default: Kernel) -> Kernel:
    """Return the derivative of `stdtr` by the degrees of freedom, by power series if there are few.

    The series are those of `betainc_moment`, here with terms whose limit depends on the degrees of freedom, too.
    """

    def kernel(df: Array, t: Array, /) -> Array:
        dtype = np.result_type(df, t)
        df, t = np.broadcast_arrays(df, t)
        near = (df >= DEGREES[0]) & (df <= DEGREES[1]) & (np.abs(t) <= 1e30)
        if not near.any():
            return default(df, t)
        of, at = df[near].astype(np.float64), t[near].astype(np.float64)
        square, found = at * at, np.empty_like(of)
        inner = square <= of * np.where(of <= FEW, OF_FEW / (1 - OF_FEW), OF_MANY / (1 - OF_MANY))
        found[inner] = _student_inner(library, of[inner], square[inner])
        found[~inner] = -_student_outer(library, of[~inner], square[~inner])
        y, missing = np.empty(df.shape, dtype), ~near
        y[near] = np.copysign(0.5, at) * found
        if missing.any():
            y[missing] = default(df[missing], t[missing])
        return y

    return kernel


def _student_inner(library: Any, df: Array, square: Array) -> Array:
    """Return the derivatives of the probability of ``t**2`` below `square`, by powers of ``square / (df + square)``.

    The terms are ``x**(1 / 2 + k) * (1 - x)**b * gamma(b + 1 / 2 + k) / (gamma(k + 3 / 2) * gamma(b))``, `b` half `df`.
    """
    b, x = 0.5 * df, square / (df + square)
    term = np.sqrt(x) * np.exp(-b * np.log1p(square / df)) * (2 / library.beta(0.5, b))
    slope = _psi_rise(b) + 0.5 * (x / df - _log_excess(x))
    total, below, factor, product = term * slope, df + 1, x * (b + 0.5), np.empty_like(df)
    fall, rest, k = (1 - x) / df, 1.0, 0
    top, most = float(x.max(initial=0.0)), float(b.max(initial=0.0))
    while rest > NEGLIGIBLE:
        slope -= fall
        slope += np.divide(1.0, below, out=product)
        term *= factor
        term *= 1 / (k + 1.5)
        total += np.multiply(term, slope, out=product)
        below += 2
        factor += x
        rest *= top * max(1.0, (most + 0.5 + k) / (k + 1.5))
        k += 1
    return total


def _student_outer(library: Any, df: Array, square: Array) -> Array:
    """Return the derivatives of the probability of ``t**2`` above `square`, by powers of ``df / (df + square)``."""
    b, x = 0.5 * df, df / (df + square)
    log, rise = np.log1p(square / df), square / (df + square) / df
    term = np.sqrt(1 - x) * np.exp(-b * log) / (b * library.beta(0.5, b))
    slope = 0.5 * (df * rise - x / df - log + library.psi(b + 0.5) - library.psi(b + 1))
    total, over, below, product = term * slope, b + 0.5, b + 1, np.empty_like(df)
    top, rest = float(x.max(initial=0.0)), 1.0
    while rest > NEGLIGIBLE:
        term *= x
        term *= np.divide(over, below, out=product)
        slope += rise
        np.multiply(over, below, out=product)
        slope += np.divide(0.25, product, out=product)
        total += np.multiply(term, slope, out=product)
        over += 1
        below += 1
        rest *= top
    return total


def _psi_rise(b: Array) -> Array:
    """Return ``(psi(b + 1 / 2) - psi(b)) / 2 - 1 / (4 * b)``, without cancellation."""
    total, at = np.zeros_like(b), b.copy()
    for _ in range(SHIFTS):
        total += 0.125 / (at * (at + 0.5) * (at + 1))
        at += 1
    w, inner = 1 / (at * at), np.zeros_like(b)
    for coefficient in reversed(OF_PSI):
        inner *= w
        inner += coefficient
    return total + inner * w


def _log_excess(x: Array) -> Array:
    """Return ``-x - log(1 - x)`` for `x` from 0 to `OF_FEW`, without cancellation."""
    u = x / (2 - x)
    square, total = u * u, np.zeros_like(x)
    for k in range(35, 1, -2):
        total *= square
        total += 1 / k
    return x * u + 2 * (u * square * total)
