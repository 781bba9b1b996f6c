"""Derivatives of incomplete gamma functions and of Student's distribution by large parameters.

They are an exponential factor times a series of powers of the reciprocal of the parameter. Its coefficients are power
series that are uniform in the other argument (N. M. Temme, SIAM J. Math. Anal. 10, 1979; NIST DLMF 8.12). Rational
recurrences from mixed derivatives give them.
"""

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from xpgrad.types import Array, Kernel, Namespace

MIN_SHAPE, FEW_TERMS_FROM, REPLACED_FROM = 30.0, 1000.0, 1e5
"""Parameters from which the expansions are used, from which fewer of their terms are used, and from which SciPy's
`gammainc` sums too few terms in the lower tail."""
MIN_DEGREES = 18.0
"""Degrees of freedom from which the expansion of Student's distribution is used."""
TERMS, OF_STUDENT, DEGREE = 13, 21, 36
SMALLEST = 1e-19
"""Terms of this size are left out."""
UNDERFLOW, STEPS = 745.0, 5
REACH = 2.0
"""Logarithms of ``1 + t**2 / df`` up to which the expansion is used."""
ROOT_2_PI = math.sqrt(2 * math.pi)


def _bernoulli(count: int) -> list[Fraction]:
    found = [Fraction(1)]
    for m in range(1, count):
        found.append(-sum((math.comb(m + 1, k) * b for k, b in enumerate(found)), Fraction(0)) / (m + 1))
    return found


def _exponential(log: list[Fraction]) -> list[Fraction]:
    """Return the power series of the exponential function of a power series without constant."""
    found = [Fraction(1)]
    for k in range(1, len(log)):
        found.append(sum((j * log[j] * found[k - j] for j in range(1, k + 1)), Fraction(0)) / k)
    return found


def _trimmed(rows: list[list[Fraction]], least: float, reach: float = 1.0) -> list[list[float]]:
    """Return rows of coefficients, the highest first, without those negligible for arguments up to `reach`."""
    found = []
    for k, row in enumerate(rows):
        size = max(i for i, c in enumerate(row) if i == 0 or abs(float(c)) * reach**i > SMALLEST * least**k)
        found.append([float(c) for c in row[size::-1]])
    return found


def _raised(first: list[Fraction], source: Callable[[int, int], Fraction]) -> list[list[Fraction]]:
    """Return rows of coefficients: each is the derivative of the last over its variable, plus ``source(k, m)``."""
    rows = [first]
    for k in range(1, TERMS):
        last = rows[-1]
        rows.append([source(k, m) + (m + 2) * last[m + 2] for m in range(DEGREE + 2 * (TERMS - 1 - k))])
    return rows


@functools.cache
def _gamma_rows() -> tuple[list[list[Fraction]], list[list[Fraction]], list[Fraction], list[Fraction]]:
    """Return coefficients of the derivative, the value, ``1 / gamma*(a)``, and this times ``log(a) - psi(a)``.

    The first two are power series in `eta` of the coefficients of ``1 / a**k``. ``eta**2 / 2`` is ``mu - log(1 + mu)``
    with ``mu = x / a - 1``, and `reciprocal` are the coefficients of ``1 / mu``, from ``1 / eta`` on.
    """
    count = DEGREE + 2 * TERMS + 3
    mu, reciprocal = [Fraction(0), Fraction(1)], [Fraction(1)]
    for m in range(2, count + 2):
        products = sum(((m + 1 - i) * mu[i] * mu[m + 1 - i] for i in range(2, m)), Fraction(0))
        mu.append((mu[m - 1] - products) / (m + 1))
    for j in range(1, count):
        reciprocal.append(-sum((mu[i + 1] * reciprocal[j - i] for i in range(1, j + 1)), Fraction(0)))
    bernoulli = _bernoulli(TERMS + 3)
    gamma = _exponential([Fraction(0)] + [-bernoulli[k + 1] / (k * (k + 1)) for k in range(1, TERMS)])
    psi = [Fraction(0)] + [(Fraction(3, 2) - k) * gamma[k - 1] for k in range(1, TERMS)]
    first = [Fraction(1), Fraction(-1, 2)] + [-c / 2 for c in reciprocal[1:]]
    slopes = _raised(first, lambda k, m: gamma[k] * first[m] + psi[k] * reciprocal[m + 1])
    return slopes, _raised(reciprocal[1:], lambda k, m: gamma[k] * reciprocal[m + 1]), gamma, psi


@functools.cache
def _gamma_coefficients(least: float) -> tuple[list[list[float]], list[list[float]]]:
    slopes, _, *scalars = _gamma_rows()
    return _trimmed(slopes, least)[1:], [[float(c) for c in reversed(row)] for row in scalars]


OF_LOGARITHM = [1 / k for k in range(35, 1, -2)]
"""Coefficients of even powers of `u` in ``(atanh(u) - u) / u**3``, the highest first."""


def log_excess(x: Array) -> Array:
    """Return ``x - log(1 + x)``, without cancellation."""
    near = (x >= -0.5) & (x <= 1)
    small = x if near.all() else np.where(near, x, 0.0)
    u = small / (2 + small)
    square = u * u
    total = small * u - 2 * u * square * polynomial(square, OF_LOGARITHM)
    return total if small is x else np.where(near, total, x - np.log1p(x))


def log1prel_of(library: Any, xp: Namespace, default: Kernel) -> Kernel:
    """Return the derivatives of orders 0 and 1 in closed form, near 0 with a series instead of an integral."""

    def kernel(x: Array, /, n: int) -> Array:
        if n > 1 or not x.ndim:
            return default(x, n=n)
        zero, near = x == 0, np.abs(x) < 0.5
        safe = np.where(zero, 1.0, x).astype(x.dtype)
        ratio = np.where(zero, 1.0, np.log1p(safe) / safe).astype(x.dtype)
        if n == 0:
            return ratio
        u = np.where(near, x, 0.0).astype(x.dtype)
        u /= 2 + u
        rest = 1 - u
        inner = rest * (0.5 - 0.5 * u * rest * polynomial(u * u, OF_LOGARITHM) - 1 / (1 + u))
        return np.where(near, inner, (1 / (1 + safe) - ratio) / safe)

    return kernel


def polynomial(x: Array, coefficients: list[float]) -> Array:
    """Return the polynomial with these coefficients, the highest first, by Horner's rule."""
    total = np.full_like(x, coefficients[0])
    for c in coefficients[1:]:
        total *= x
        total += c
    return total


def gamma_derivative(a: Array, x: Array, n: int) -> Array:
    """Return the derivatives of order `n`, 1 or 2, of `gammainc` by the parameter; NaN far from the median.

    There, the power series converge slowly.
    """
    y = np.empty_like(x)
    for least, part in ((MIN_SHAPE, a < FEW_TERMS_FROM), (FEW_TERMS_FROM, a >= FEW_TERMS_FROM)):
        if part.any():
            y[part] = _gamma_derivative(a[part], x[part], n, least)
    return y


def _scales(a: Array, x: Array) -> tuple[Array, Array, Array]:
    """Return ``x / a - 1``, ``eta**2 / 2`` and `eta`."""
    mu = (x - a) / a
    half = log_excess(mu)
    return mu, half, np.copysign(np.sqrt(2 * half), mu)


def _gamma_derivative(a: Array, x: Array, n: int, least: float) -> Array:
    rows, (gamma, psi) = _gamma_coefficients(least)
    inverse, (mu, half, eta) = 1 / a, _scales(a, x)
    log, beyond, exponent = mu - half, np.abs(eta) > 1, a * half
    eta = np.clip(eta, -1, 1)
    total, weighted = np.zeros_like(a), np.zeros_like(a)
    for k in range(len(rows), 0, -1):
        row = polynomial(eta, rows[k - 1])
        total += row
        total *= inverse
        if n == 2:
            weighted += k * row
            weighted *= inverse
    total += np.divide(log, mu, out=np.ones_like(mu), where=mu != 0)
    if n == 2:
        moved = log * polynomial(inverse, gamma) + polynomial(inverse, psi)
        total = moved - half * total - (0.5 * total + weighted) * inverse
    y = -np.exp(-exponent) / (ROOT_2_PI * np.sqrt(a)) * total
    return np.where(beyond & (exponent < UNDERFLOW), math.nan, y)


def _in_lower_tail(a: Array, x: Array, given: Array) -> tuple[Array, Array, Array] | None:
    """Return where SciPy's results are replaced, with the parameters and `given` numbers there; None if nowhere."""
    far = (a >= REPLACED_FROM) & (x < a - 4 * np.sqrt(a)) & (given > 0) & (a < math.inf)
    if not far.any():
        return None
    at, numbers = (np.broadcast_to(z, far.shape)[far].astype(np.float64) for z in (a, given))
    return far, at, numbers


def gammainc(library: Any, a: Array, x: Array) -> Array:
    """Return SciPy's function, except in the lower tail for parameters from `REPLACED_FROM` on."""
    y = library.gammainc(a, x)
    if (found := _in_lower_tail(a, x, x)) is None:
        return y
    y, (far, at, to) = np.asarray(y), found
    _, half, eta = _scales(at, to)
    total = np.zeros_like(at)
    for row in reversed(_trimmed(_gamma_rows()[1], REPLACED_FROM)):
        total /= at
        total += polynomial(np.maximum(eta, -1), row)
    root = np.sqrt(0.5 * at)
    y[far] = np.exp(-at * half) * (0.5 * library.erfcx(-eta * root) - total / (2 * math.sqrt(math.pi) * root))
    return y


def gammaincinv(library: Any, a: Array, p: Array) -> Array:
    """Return SciPy's function, with steps of Newton's method on the logarithm of `gammainc` where that differs."""
    y = library.gammaincinv(a, p)
    if (found := _in_lower_tail(a, y, p)) is None:
        return y
    y, (far, at, goal) = np.asarray(y), found
    x = y[far].astype(np.float64)
    for _ in range(STEPS):
        value, (_, half, _) = gammainc(library, at, x), _scales(at, x)
        hazard = np.exp(-at * half) * np.sqrt(at) / (ROOT_2_PI * x * value)
        x -= np.log(value / goal) / hazard
    y[far] = x
    return y


@functools.cache
def _student_rows() -> list[list[Fraction]]:
    """Return power series in ``w = log(1 + t**2 / df)`` of the coefficients of ``1 / df**k``.

    `below` are the coefficients of ``1 / (exp(w) - 1)``, from ``1 / w`` on, `kappa` those of the density at 0, and
    `shape` those of ``sqrt(y / w)`` with ``y = 1 - exp(-w)``.
    """
    count = DEGREE + OF_STUDENT + 1
    bernoulli, half = _bernoulli(count + 1), Fraction(1, 2)
    below = [b / math.factorial(j) for j, b in enumerate(bernoulli)]
    shape = _exponential([Fraction(0), Fraction(-1, 4)] + [half * below[j] / j for j in range(2, count)])
    kappa = _exponential(
        [Fraction(0)] + [(1 - 2 ** (k + 1)) * bernoulli[k + 1] / (k * (k + 1)) for k in range(1, OF_STUDENT)]
    )
    first = [Fraction(0), half * half] + [half * c for c in below[2:count]]
    rows = [[sum((first[i] * shape[m - i] for i in range(m + 1)), Fraction(0)) for m in range(count)]]
    for k in range(1, OF_STUDENT):
        last, fall = rows[-1], kappa[k - 1]
        rows.append([
            kappa[k] * rows[0][m] + fall * ((k - 1) * (2 * rows[0][m + 1] + shape[m + 1]) - half * shape[m])
            + (2 * m + 3) * last[m + 1]
            for m in range(count - k - 1)
        ])  # fmt: skip
    return rows


@functools.cache
def _student_coefficients(least: float) -> list[list[float]]:
    return _trimmed(_student_rows(), least, REACH)


def student_slope(df: Array, t: Array, n: int) -> Array:
    """Return the derivatives of order `n`, 1 or 2, of `stdtr` by the degrees of freedom; NaN far from 0."""
    y = np.empty_like(t)
    for least, part in ((MIN_DEGREES, df < FEW_TERMS_FROM), (FEW_TERMS_FROM, df >= FEW_TERMS_FROM)):
        if part.any():
            y[part] = _student_slope(df[part], t[part], n, _student_coefficients(least))
    return y


def _student_slope(df: Array, t: Array, n: int, rows: list[list[float]]) -> Array:
    inverse = 1 / df
    square = t * t * inverse
    w = np.log1p(square)
    beyond, exponent = w > REACH, 0.5 * df * w
    shape = np.sqrt(np.divide(w, square, out=np.ones_like(w), where=(square > 0) & (w < UNDERFLOW)))
    w = np.minimum(w, REACH)
    total, weighted, slope, first = np.zeros((4, *df.shape))
    for k, row in reversed(list(enumerate(rows))):
        total *= inverse
        first = polynomial(w, row)
        total += first
        if n == 2:
            weighted *= inverse
            weighted += k * first
            slope *= inverse
            slope += polynomial(w, [m * c for m, c in zip(range(len(row) - 1, 0, -1), row, strict=False)] or [0.0])
    if n == 2:
        y = -np.expm1(-w)
        change = 1 + np.divide(y, w, out=np.ones_like(w), where=w > 0)
        total = (
            -(square * shape * first / np.sqrt(1 + square) + 0.5 * change * inverse) * total
            - (weighted + y * slope) * inverse
        )
    result = t * inverse * shape * np.exp(-exponent) / ROOT_2_PI * total
    return np.where(beyond & (exponent < UNDERFLOW), math.nan, result)
