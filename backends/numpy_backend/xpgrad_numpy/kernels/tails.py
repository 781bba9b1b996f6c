"""Derivatives of incomplete gamma and beta functions, and of tails of distributions, by series chosen by the arguments.

The default bodies compute all formulas for all elements.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad.types import Array, Kernel, Namespace
from xpgrad_numpy.kernels import expansions

LARGEST = 30.0
"""Shapes and limits up to which the power series of the second derivative is used."""
MIN_PARAMETER, MAX_SHAPE, MAX_PARAMETER = 1e-100, 1500.0, 1e7
"""Parameters for which series and fractions are used: the number of their terms grows as the square root."""
CANCELLING = 1e-5
"""Sums that are this much smaller than their terms have too few digits."""
FAR = 2.0
"""Limits from which the continued fraction of the upper tail converges fast, above the shape."""
NEGLIGIBLE = 1e-20
UNCHANGED = 2e-16
"""Relative changes of a sum that end its series or fraction."""
ROUND, MAX_TERMS = 8, 10_000
"""Number of terms after which elements that converged are left out, and after which the rest are NaN."""
FRACTION_FROM = 2.5
"""Arguments from which the difference from the asymptote cancels more than four bits."""
TERMS = 40
"""Terms of the fraction at the smallest argument for which it is used."""
FEWEST = 0.01, 0.1
"""Degrees of freedom from which the first and the second derivative of Student's distribution by them are power series
whose terms cancel little."""
FEW, OF_FEW, OF_MANY = 3.0, 0.5, 0.25
"""Few degrees of freedom, and the ``t**2 / (df + t**2)`` up to which terms of the power series that starts at 0 cancel
less than those of the other, for few and more degrees."""
SHIFTS = 12
OF_PSI = (1 / 16, -1 / 128, 1 / 256, -17 / 4096, 31 / 4096, -691 / 32768, 5461 / 65536)
"""Coefficients of the asymptotic series of `_psi_rise`, in ``1 / b**2``."""
ROOT_2, ROOT_PI = math.sqrt(2), math.sqrt(math.pi)


def gammainc_slope(library: Any, xp: Namespace, default: Kernel) -> Kernel:
    """Return the derivatives of orders 1 and 2 of `gammainc` by its parameter.

    Of large parameters they come from expansions. Otherwise those of order 1 are `gammainc` or its complement,
    whichever is used for small values, times the derivatives of their logarithms; those of order 2 are power series.
    Arguments for which these converge slowly, or cancel, are left to the default kernel.
    """

    def kernel(a: Array, x: Array, /, n: int) -> Array:
        if n not in (1, 2) or not a.size or not x.size:
            return default(a, x, n=n)
        dtype = np.result_type(a, x)
        a, x = np.broadcast_arrays(a, x)
        if not a.ndim:
            return kernel(a[None], x[None], n=n).reshape(())
        near = (a >= MIN_PARAMETER) & (a < math.inf) & (x > 0) & (x < math.inf)
        found = _gamma_derivative(library, a[near].astype(np.float64), x[near].astype(np.float64), n)
        return _completed(near, found, dtype, lambda rest: default(a[rest], x[rest], n=n))

    return kernel


def _gamma_derivative(library: Any, a: Array, x: Array, n: int) -> Array:
    """Return the derivative of order `n`, NaN where it is left to the default kernel."""
    y, many = np.full_like(x, math.nan), a >= expansions.MIN_SHAPE
    if many.any():
        y[many] = expansions.gamma_derivative(a[many], x[many], n)
    rest = np.isnan(y) & ((a <= MAX_SHAPE) if n == 1 else (np.maximum(a, x) <= LARGEST))
    if rest.any():
        y[rest] = (_gamma_slope if n == 1 else _gamma_curvature)(library, a[rest], x[rest])
    return y


def _completed(near: Array, found: Array, dtype: Any, rest: Callable[[Array], Array]) -> Array:
    """Return the `found` values where `near`, and elsewhere and for NaN those that ``rest(mask)`` computes."""
    y, missing = np.empty(near.shape, dtype), ~near
    y[near], missing[near] = found, np.isnan(found)
    if missing.any():
        y[missing] = rest(missing)
    return y


def _gamma_slope(library: Any, a: Array, x: Array) -> Array:
    """Return the derivatives of `gammainc` by the parameter, NaN where they cancel.

    They are from the series of positive terms ``x**k * gamma(a + 1) / gamma(a + k + 1)`` (DLMF 8.7.1), and in the upper
    tail from the fraction of the complement (DLMF 8.9.2).
    """
    y, upper = np.empty_like(x), x > np.maximum(a, FAR)
    at, to = a[upper], x[upper]
    y[upper] = _scaled(-library.gammaincc(at, to), np.log(to), -library.psi(at), -_upper_slope(at, to))
    at, to = a[~upper], x[~upper]
    y[~upper] = _scaled(library.gammainc(at, to), np.log(to), -library.psi(at + 1), -_lower_slope(at, to))
    return y


def _scaled(value: Array, *slopes: Array) -> Array:
    """Return the value times the sum of the slopes; NaN where they cancel."""
    total = sum(slopes)
    return np.where(np.abs(total) < CANCELLING * sum(map(np.abs, slopes)), math.nan, value * total)


def _lower_slope(a: Array, x: Array) -> Array:
    """Return minus the derivative by `a` of the logarithm of the series for `gammainc`."""
    total, fall, term, rise, step, share = (np.full_like(a, value) for value in (1, 0, 1, 0, 0, 0))
    step += a
    rest, k = 1.0, 0
    while rest > NEGLIGIBLE:
        step += 1
        np.divide(1.0, step, out=share)
        rise += share
        term *= np.multiply(share, x, out=share)
        total += term
        fall += np.multiply(term, rise, out=share)
        k += 1
        rest = float((term * rise).max(initial=0.0)) if k % ROUND == 0 else rest
    return fall / total


def _upper_slope(a: Array, x: Array) -> Array:
    """Return the derivative by `a` of the logarithm of the fraction for `gammaincc`."""
    start, slope = x + 1 - a, np.full_like(a, -1.0)
    count = 8 + math.ceil(100 / float(x.min(initial=math.inf)) + 3 * math.sqrt(float(a.max(initial=0.0))))
    below = start + 2 * count
    for k in range(count, 0, -1):
        inverse = 1 / below
        product = inverse * k
        product *= k - a
        slope *= product
        slope += k
        slope *= inverse
        slope -= 1
        np.subtract(start + 2 * (k - 1), product, out=below)
    slope /= below
    return slope


def _gamma_curvature(library: Any, a: Array, x: Array) -> Array:
    """Return the second derivatives of `gammainc` by the parameter, NaN where their sum cancels.

    Its terms are those of `gammainc` times ``(log(x) - psi(a + k + 1))**2 - psi'(a + k + 1)``.
    """
    term = x**a * np.exp(-x) / library.gamma(a + 1)
    slope, fall = np.log(x) - library.psi(a + 1), library.polygamma(1, a + 1)
    total, most, step, product = term * (slope * slope - fall), np.zeros_like(a), a + 1, np.empty_like(a)
    least, largest, rest, k = float(a.min()), float(x.max()), 1.0, 1
    while rest > NEGLIGIBLE:
        np.maximum(most, term * (slope * slope + fall), out=most)
        np.divide(1.0, step, out=product)
        slope -= product
        fall -= product * product
        product *= x
        term *= product
        np.multiply(slope, slope, out=product)
        product -= fall
        product *= term
        total += product
        step += 1
        rest *= largest / (least + k)
        k += 1
    return np.where(np.abs(total) < most / 12, math.nan, total)


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


def betainc_slope(library: Any, xp: Namespace, default: Kernel) -> Kernel:
    """Return the integrals of order 1, the derivatives of `betainc` by its parameters, from its continued fraction."""

    def kernel(a: Array, b: Array, x: Array, /, m: int, n: int) -> Array:
        if m + n != 1 or not a.size or not b.size or not x.size:
            return default(a, b, x, m=m, n=n)
        dtype = np.result_type(a, b, x)
        a, b, x = np.broadcast_arrays(a, b, x)
        if not a.ndim:
            return kernel(a[None], b[None], x[None], m=m, n=n).reshape(())
        near = (np.minimum(a, b) >= MIN_PARAMETER) & (np.maximum(a, b) <= MAX_PARAMETER) & (x > 0) & (x < 1)
        at, to, limit = (z[near].astype(np.float64) for z in (a, b, x))
        swap = limit > (at + 1) / (at + to + 2)
        first, second, low = np.where(swap, to, at), np.where(swap, at, to), np.where(swap, 1 - limit, limit)
        found = np.where(swap, -1.0, 1.0) * _beta_slope(library, first, second, low, swap ^ (m == 1))
        return _completed(near, found, dtype, lambda rest: default(a[rest], b[rest], x[rest], m=m, n=n))

    return kernel


def _beta_slope(library: Any, a: Array, b: Array, x: Array, by_first: Array) -> Array:
    """Return the derivatives of `betainc` by `a` where `by_first`, else by `b`, from the fraction of DLMF 8.17.22."""

    def step(k: int, a: Array, b: Array, x: Array, by_first: Array) -> tuple[Array, Array]:
        m, before, last = k // 2, a + (k - 1), a + k
        scale = 1 / (before * last)
        share = x * scale
        if k % 2:
            first = a + m
            both, plain = first + b, share * -first
            return plain * both, plain - by_first * (both * share * scale * (m * last - first * before))
        share *= m
        value = share * (b - m)
        return value, share - by_first * (share + value * (before + last) * scale)

    slope = _fraction_slope(step, a, b, x, by_first)
    log = np.log(np.where(by_first, x, 1 - x))
    psi = library.psi(np.where(by_first, a + 1, b))
    return _scaled(library.betainc(a, b, x), log, library.psi(a + b), -psi, -slope)


def _fraction_slope(step: Callable[..., tuple[Array, Array]], *arguments: Array) -> Array:
    """Return the derivative of the logarithm of a fraction, by the method of Lentz; NaN where it converges slowly.

    Parameters
    ----------
    step : callable
        Called with the number of a term, from 1, and the arguments; it returns the partial numerator and its
        derivative. Partial denominators are 1.
    arguments : array
        Arrays of one dimension.
    """
    size, k = arguments[0].size, 1
    found, index = np.full(size, math.nan), np.arange(size)
    total, above_slope, below, below_slope = np.zeros((4, size))
    inverse = np.ones(size)
    while index.size and k < MAX_TERMS:
        over, over_slope = step(k, *arguments)
        share = over * inverse
        above_slope = (over_slope - share * above_slope) * inverse
        inverse = 1 / (1 + share)
        bend = over_slope * below + over * below_slope
        below = 1 / (1 + over * below)
        rate = above_slope * inverse
        bend *= below
        change = rate - bend
        below_slope = -bend * below
        total += change
        if k % ROUND == 0:
            busy = ~(np.abs(change) <= UNCHANGED * (np.abs(total) + np.abs(rate)))
            if 10 * np.count_nonzero(busy) < 9 * busy.size:
                found[index[~busy]] = total[~busy]
                index, total, inverse, above_slope, below, below_slope = (
                    z[busy] for z in (index, total, inverse, above_slope, below, below_slope)
                )
                arguments = tuple(z[busy] for z in arguments)
        k += 1
    return found


def stdtr_slope(library: Any, xp: Namespace, default: Kernel) -> Kernel:
    """Return the derivatives of orders 1 and 2 of `stdtr` by the degrees of freedom, if there are many by expansions.

    If there are few, they are Gauss's power series for `betainc`, with terms whose limit depends on the degrees of
    freedom, too.
    """

    def kernel(df: Array, t: Array, /, n: int) -> Array:
        dtype = np.result_type(df, t)
        df, t = np.broadcast_arrays(df, t)
        if not df.ndim:
            return kernel(df[None], t[None], n=n).reshape(())
        near = (df >= FEWEST[0]) & (df < math.inf) & (np.abs(t) <= 1e30)
        if n not in (1, 2) or not near.any():
            return default(df, t, n=n)
        found = _student_slope(library, df[near].astype(np.float64), t[near].astype(np.float64), n)
        return _completed(near, found, dtype, lambda rest: default(df[rest], t[rest], n=n))

    return kernel


def _student_slope(library: Any, df: Array, t: Array, n: int) -> Array:
    """Return the derivatives of order `n`, 1 or 2, NaN where they are left to the default kernel."""
    y, many = np.full_like(t, math.nan), df > expansions.MIN_DEGREES
    if many.any():
        y[many] = expansions.student_slope(df[many], t[many], n)
    square, rest = t * t, np.isnan(y) & (df >= FEWEST[n - 1])
    inner = square <= df * np.where(df <= FEW, OF_FEW / (1 - OF_FEW), OF_MANY / (1 - OF_MANY))
    for part, slope in ((rest & inner, _student_inner), (rest & ~inner, _student_outer)):
        if part.any():
            y[part] = np.copysign(0.5, t[part]) * slope(library, df[part], square[part], n)
    return y


def _student_inner(library: Any, df: Array, square: Array, n: int) -> Array:
    """Return the derivatives of the probability of ``t**2`` below `square`, by powers of ``square / (df + square)``.

    `slope` and `bend` are derivatives of the logarithms of the terms ``x**(1 / 2 + k) * (1 - x)**b * gamma(b + 1 / 2 +
    k) / (gamma(k + 3 / 2) * gamma(b))``, `b` half `df`.
    """
    b, x = 0.5 * df, square / (df + square)
    term = np.sqrt(x) * np.exp(-b * np.log1p(square / df)) * (2 / library.beta(0.5, b))
    slope = _psi_rise(b) + 0.5 * (x / df - expansions.log_excess(-x))
    below, factor, product = df + 1, x * (b + 0.5), np.empty_like(df)
    fall, rest, k = (1 - x) / df, 1.0, 0
    total, bend = term * slope, None
    if n == 2:
        bend = 0.25 * (library.polygamma(1, b + 0.5) - library.polygamma(1, b)) + 0.5 * (fall * fall + x * x / df)
        total = term * (slope * slope + bend)
    top, most = float(x.max(initial=0.0)), float(b.max(initial=0.0))
    while rest > NEGLIGIBLE:
        slope -= fall
        slope += np.divide(1.0, below, out=product)
        term *= factor
        term *= 1 / (k + 1.5)
        if n == 2:
            bend += fall * fall - product * product
            total += term * (slope * slope + bend)
        else:
            total += np.multiply(term, slope, out=product)
        below += 2
        factor += x
        rest *= top * max(1.0, (most + 0.5 + k) / (k + 1.5))
        k += 1
    return total


def _student_outer(library: Any, df: Array, square: Array, n: int) -> Array:
    """Return the derivatives of the probability of ``t**2`` below `square`, by powers of ``df / (df + square)``."""
    b, x = 0.5 * df, df / (df + square)
    log, rise = np.log1p(square / df), square / (df + square) / df
    term = np.sqrt(1 - x) * np.exp(-b * log) / (b * library.beta(0.5, b))
    slope = 0.5 * (df * rise - x / df - log + library.psi(b + 0.5) - library.psi(b + 1))
    over, below, product = b + 0.5, b + 1, np.empty_like(df)
    total, bend = term * slope, None
    if n == 2:
        bend = 0.25 * (library.polygamma(1, over) - library.polygamma(1, below))
        bend += 0.5 * (df * rise * rise + (x / df) ** 2)
        total = term * (slope * slope + bend)
    top, rest = float(x.max(initial=0.0)), 1.0
    while rest > NEGLIGIBLE:
        term *= x
        term *= np.divide(over, below, out=product)
        slope += rise
        np.multiply(over, below, out=product)
        slope += np.divide(0.25, product, out=product)
        if n == 2:
            bend -= rise * (1 + x) / df + 2 * product * product * (over + below)
            total += term * (slope * slope + bend)
        else:
            total += np.multiply(term, slope, out=product)
        over += 1
        below += 1
        rest *= top
    return -total


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
