"""The error functions, the logarithm of the gamma function and its derivatives, of complex numbers."""

import math
from typing import Any

from xpgrad.array_api.data_types import to_floating
from xpgrad.array_api.elementwise.magnitude import real
from xpgrad.graph.primitive import elementwise
from xpgrad.graph.variable import Variable
from xpgrad.special.constants import BERNOULLI, derivative_of_cotangent, polynomial
from xpgrad.special.operands import composed
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = ["complex_polygamma_of", "voigt_profile", "wofz"]

SLOPE = 2 / math.sqrt(math.pi)
STEP = 0.5  # of the trapezoidal rule, whose error is exp(-(pi / STEP)**2)
FADING = tuple(math.gamma(k + 1.5) for k in range(32))
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
    first, second = xp.where(between, 1.0, z), xp.where(between, z, 1.0)  # no pole lies on a node
    whole, half = 0.5 / first, xp.zeros_like(z)
    for k in range(1, 15):
        whole = whole + math.exp(-((k * STEP) ** 2)) / (first + (k * STEP) ** 2 / first)
        half = half + math.exp(-(((k - 0.5) * STEP) ** 2)) / (second + ((k - 0.5) * STEP) ** 2 / second)
    near = xp.real(z) < math.pi / STEP
    at = xp.where(near, z, 0.25)
    turned = xp.exp((-2 * math.pi / STEP) * at)
    residue = 2 * turned / xp.where(between, 1 + turned, turned - 1)
    residue = xp.where(near, residue * _gauss(xp, 1j * at), 0.0)
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


def _wofz_slope(xp: Namespace, x: Array, y: Array) -> Array:
    """Return the derivative, above the real axis far from 0 by its asymptotic series, whose terms do not cancel."""
    size, height = xp.abs(x), xp.imag(x)  # on the axis exp(-x * x), which the series lacks, is the real part
    far = ((size > 6.5) & (height > 0.01)) | ((size > 9) & (height > 1e-18))
    square = 1 / xp.square(xp.where(far, x, 7j))
    return xp.where(far, -2j / math.pi * square * polynomial(square, FADING), 1j * SLOPE - 2 * x * y)


@elementwise(label="wofz", extension="special", x=lambda xp, gy, x, y: gy * _wofz_slope(xp, x, y))
def complex_wofz(xp: Namespace, x: Array, /) -> Array:
    """Faddeeva function ``exp(-x * x) * erfc(-1j * x)`` of complex numbers, elementwise.

    Parameters
    ----------
    x : Variable or array, complex
    """
    lower = xp.imag(x) < 0
    upper = xp.where(lower, -x, x)
    turned = -1j * upper  # in the right half
    near = xp.abs(upper) < 1
    inner = _gauss(xp, xp.where(near, upper, 0.0)) * (1 - _erf_inside(xp, xp.where(near, turned, 0.0)))
    y = xp.where(near, inner, _scaled(xp, xp.where(near, 1.0, turned)))
    return xp.where(lower, 2 * _gauss(xp, xp.where(lower, x, 0.0)) - y, y)


@composed
def voigt_profile(x: RealOperand, sigma: RealOperand, gamma: RealOperand, /) -> Variable:
    """Return the density of a Voigt profile, elementwise.

    It is that of the sum of a normal variable of the standard deviation `sigma`, which is positive, and a Cauchy
    variable of half width `gamma`, which is not negative.
    Relative errors are up to 1e-10, those of derivatives too.
    """
    deviation: Any = sigma
    z = (x + 1j * gamma) / (math.sqrt(2) * deviation)
    y: Variable = real(complex_wofz(z)) / (math.sqrt(2 * math.pi) * deviation)
    return y


def wofz(z: AnyArray, /) -> Variable:
    """Return the Faddeeva function ``exp(-z * z) * erfc(-1j * z)``, which is complex, elementwise.

    Parameters
    ----------
    z : Variable or array, floating-point, real or complex
    """
    z = to_floating(z)
    return complex_wofz(z if z.node.spec.complex else z + 0j)


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
