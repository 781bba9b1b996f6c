"""The error function, the logarithm of the gamma function and its derivatives, of complex numbers."""

import math
from typing import Any

from xpgrad.graph.primitive import elementwise
from xpgrad.special.constants import BERNOULLI, derivative_of_cotangent, polynomial
from xpgrad.types import Array, Namespace

__all__ = ["complex_polygamma_of"]

SLOPE = 2 / math.sqrt(math.pi)
STEP = 0.5  # of the trapezoidal rule, whose error is exp(-(pi / STEP)**2)
MACLAURIN = tuple((-1) ** k / (math.factorial(k) * (2 * k + 1)) for k in range(24))
SHIFT = 12


def _complex(xp: Namespace, x: Array, y: Array, like: Array) -> Array:
    return xp.astype(x, like.dtype) + 1j * xp.astype(y, like.dtype)


def _gauss(xp: Namespace, z: Array) -> Array:
    """Return ``exp(-z * z)``."""
    x, y = xp.real(z), xp.imag(z)
    size = xp.exp((y - x) * (y + x))
    return _complex(xp, size * xp.cos(2 * x * y), -size * xp.sin(2 * x * y), z)


def _scaled(xp: Namespace, z: Array) -> Array:
    """Return ``exp(z * z) * erfc(z)`` right of the imaginary axis, except near 0.

    The trapezoidal rule, minus the residue of its pole, with the nodes that are farther from the pole (F. Matta,
    A. Reichel: Uniform computation of the error function and other related functions, Math. Comp. 25, 1971).
    """
    turns = xp.abs(xp.imag(z)) / STEP
    between = xp.abs(turns - xp.round(turns)) < 0.25
    whole, half = 0.5 / z, xp.zeros_like(z)
    for k in range(1, 15):
        whole = whole + math.exp(-((k * STEP) ** 2)) / (z + (k * STEP) ** 2 / z)
        half = half + math.exp(-(((k - 0.5) * STEP) ** 2)) / (z + ((k - 0.5) * STEP) ** 2 / z)
    near = xp.real(z) < math.pi / STEP
    at = xp.where(near, z, 0.25)
    turned = xp.exp((-2 * math.pi / STEP) * at)
    residue = 2 * turned / xp.where(between, 1 + turned, turned - 1)
    residue = xp.where(near, residue / _gauss(xp, at), 0.0)
    return (2 * STEP / math.pi) * xp.where(between, half, whole) + residue


def _erfc_outside(xp: Namespace, z: Array) -> Array:
    left = xp.real(z) < 0
    z = xp.where(left, -z, z)
    y = _gauss(xp, z) * _scaled(xp, z)
    return xp.where(left, 2 - y, y)


def _erf_inside(xp: Namespace, z: Array) -> Array:
    return SLOPE * z * polynomial(z * z, MACLAURIN)


@elementwise(label="erf", extension="special", x=lambda xp, gy, x: gy * (SLOPE * xp.exp(-x * x)))
def complex_erf(xp: Namespace, x: Array, /) -> Array:
    """Error function of complex numbers, elementwise.

    Parameters
    ----------
    x : Variable or array, complex
    """
    near = xp.abs(x) < 1
    outer = 1 - _erfc_outside(xp, xp.where(near, 1.0, x))
    return xp.where(near, _erf_inside(xp, xp.where(near, x, 0.0)), outer)


@elementwise(label="erfc", extension="special", x=lambda xp, gy, x: gy * (-SLOPE * xp.exp(-x * x)))
def complex_erfc(xp: Namespace, x: Array, /) -> Array:
    """Complementary error function of complex numbers, elementwise.

    Parameters
    ----------
    x : Variable or array, complex
    """
    near = xp.abs(x) < 0.7
    outer = _erfc_outside(xp, xp.where(near, 1.0, x))
    return xp.where(near, 1 - _erf_inside(xp, xp.where(near, x, 0.0)), outer)


def _right_and_up(xp: Namespace, z: Array) -> tuple[Array, Array, Array, Array]:
    """Return masks of the left and lower half plane, `z` in the upper half, and its reflection to the right half."""
    lower = xp.imag(z) < 0
    upper = xp.where(lower, xp.conj(z), z)
    left = xp.real(z) < 0.5
    return left, lower, upper, xp.where(left, 1 - upper, upper)


def _turned_less_one(xp: Namespace, z: Array) -> Array:
    """Return ``exp(2 * pi * 1j * z) - 1`` of numbers above the real axis, without cancellation."""
    half, fall = math.pi * (xp.real(z) - xp.round(xp.real(z))), -2 * math.pi * xp.imag(z)
    sine = xp.sin(half)
    real = xp.expm1(fall) * xp.cos(2 * half) - 2 * sine * sine
    return _complex(xp, real, xp.exp(fall) * xp.sin(2 * half), z)


@elementwise(label="loggamma", extension="special", x=lambda xp, gy, x: gy * xp.special.complex_polygamma_of(x, n=0))
def complex_loggamma(xp: Namespace, x: Array, /) -> Array:
    """Logarithm of the gamma function of complex numbers, elementwise, analytic except on the negative real axis.

    Parameters
    ----------
    x : Variable or array, complex

    Notes
    -----
    Recurrence, Stirling's series and reflection (NIST DLMF 5.5, 5.11).
    """
    left, lower, upper, z = _right_and_up(xp, x)
    moved = z + SHIFT
    inverse = 1 / moved
    series = polynomial(inverse * inverse, tuple(b / (2 * j * (2 * j - 1)) for j, b in enumerate(BERNOULLI[:9], 1)))
    y = (moved - 0.5) * xp.log(moved) - moved + 0.5 * math.log(2 * math.pi) + inverse * series
    for k in range(SHIFT):
        y = y - xp.log(z + k)
    low = xp.where(left, upper, 0.25 + 1j)
    log_sine = 1j * math.pi * (0.5 - low) - math.log(2) + xp.log(-_turned_less_one(xp, low))
    y = xp.where(left, math.log(math.pi) - log_sine - y, y)
    return xp.where(lower, xp.conj(y), y)


@elementwise(extension="special", x=lambda xp, gy, x, n: gy * xp.special.complex_polygamma_of(x, n=n + 1))
def complex_polygamma_of(xp: Namespace, x: Array, /, n: int) -> Array:
    """Derivative of order ``n + 1`` of the logarithm of the gamma function of complex numbers, elementwise.

    Parameters
    ----------
    x : Variable or array, complex
    n : int
        Nonnegative order.
    """
    left, lower, upper, z = _right_and_up(xp, x)
    sign, inverse = (-1) ** (n + 1), 1 / (z + SHIFT)
    terms: list[Any] = [sign * math.factorial(n) / 2 * inverse ** (n + 1)]
    terms.append(sign * math.factorial(n - 1) * inverse**n if n else xp.log(z + SHIFT))
    for j, b in enumerate(BERNOULLI[:9], 1):
        terms.append(sign * b * math.factorial(2 * j + n - 1) / math.factorial(2 * j) * inverse ** (2 * j + n))
    for k in range(SHIFT):
        terms.append(sign * math.factorial(n) / (z + k) ** (n + 1))
    y: Any = sum(terms)
    turned = _turned_less_one(xp, xp.where(left, upper, 0.25 + 1j))
    cotangent = 1j * (turned + 2) / turned
    reflected = (-1) ** n * y - math.pi * polynomial(cotangent, derivative_of_cotangent(n))
    y = xp.where(left, reflected, y)
    return xp.where(lower, xp.conj(y), y)
