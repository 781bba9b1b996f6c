"""Integrals of oscillating and of Gaussian functions: sine, cosine, Fresnel and Dawson integrals, Owen's T."""

import math

from xpgrad.graph.variable import Variable
from xpgrad.special.constants import EULER, polynomial
from xpgrad.special.operands import composed, special
from xpgrad.special.quadrature import integral, unit_integral
from xpgrad.types import AnyArray, Array, Namespace, RealOperand

__all__ = [
    "cosine_integral", "dawsn", "erfi", "fresnel", "fresnel_cosine", "fresnel_sine", "hyperbolic_cosine_integral",
    "hyperbolic_sine_integral", "owens_t", "shichi", "sici", "sine_integral",
]  # fmt: skip

NEAR = 6.0
SINHC = tuple(1 / math.factorial(2 * k + 1) for k in range(9))


def _auxiliary(xp: Namespace, x: Array) -> tuple[Array, Array]:
    """Return the auxiliary functions f and g of NIST DLMF 6.7, for arguments from `NEAR` on."""
    square = (x * x)[..., None]
    low, high = xp.zeros_like(x), xp.full_like(x, 45.0)
    f = x * integral(xp, lambda s: xp.exp(-s) / (square + s * s), low, high, 32, 4)
    g = integral(xp, lambda s: s * xp.exp(-s) / (square + s * s), low, high, 32, 4)
    return f, g


@special(x=lambda xp, gy, x: gy * _sine_slope(xp, x))
def sine_integral(xp: Namespace, x: AnyArray, /) -> Array:
    """Integral of ``sin(t) / t`` from 0 to `x`, elementwise."""
    size = xp.abs(x)
    near, infinite = size < NEAR, xp.isinf(x)
    small = xp.where(near, size, 1.0)
    inner = small * unit_integral(xp, lambda u: _sinc(xp, small[..., None] * u), 32, small)
    large = xp.where(near | infinite, NEAR, size)
    f, g = _auxiliary(xp, large)
    outer = math.pi / 2 - f * xp.cos(large) - g * xp.sin(large)
    y = xp.where(near, inner, xp.where(infinite, math.pi / 2, outer))
    return xp.where(x < 0, -y, y)


def _sinc(xp: Namespace, x: Array) -> Array:
    zero = x == 0
    safe = xp.where(zero, 1.0, x)
    return xp.where(zero, 1.0, xp.sin(safe) / safe)


def _sine_slope(xp: Namespace, x: Array) -> Array:
    """Return ``sin(x) / x``: `sinc`, whose derivatives are accurate near 0, but whose argument is rounded."""
    near = xp.abs(x) < 1
    far = xp.where(near, 1.0, x)
    return xp.where(near, xp.special.sinc(xp.where(near, x, 0.0) / math.pi), xp.sin(far) / far)


@special(x=lambda xp, gy, x: gy * (xp.cos(x) / x))
def cosine_integral(xp: Namespace, x: AnyArray, /) -> Array:
    """Integral of ``cos(t) / t`` from infinity to the absolute value of `x`, elementwise.

    At 0 the result is minus infinity.
    """
    size = xp.abs(x)
    near, infinite = size < NEAR, xp.isinf(x)
    small = xp.where(near & (size > 0), size, 1.0)
    halves = 0.5 * small[..., None]
    inner = unit_integral(xp, lambda u: -2 * xp.sin(halves * u) ** 2 / u, 32, small) + EULER + xp.log(small)
    large = xp.where(near | infinite, NEAR, size)
    f, g = _auxiliary(xp, large)
    outer = xp.where(infinite, 0.0, f * xp.sin(large) - g * xp.cos(large))
    return xp.where(x == 0, -math.inf, xp.where(near, inner, outer))


@composed
def sici(x: AnyArray, /) -> tuple[Variable, Variable]:
    """Return the sine and the cosine integral, elementwise.

    The cosine integral uses the absolute value.
    """
    return sine_integral(x), cosine_integral(x)


def _sinhc(xp: Namespace, x: Array) -> Array:
    near = xp.abs(x) < 1
    square = xp.square(xp.where(near, x, 0.0))  # whose series has the digits of the derivative at small numbers
    large = xp.where(near, 1.0, x)
    return xp.where(near, polynomial(square, SINHC), xp.sinh(large) / large)


@special(x=lambda xp, gy, x: gy * _sinhc(xp, x))
def hyperbolic_sine_integral(xp: Namespace, x: AnyArray, /) -> Array:
    """Integral of ``sinh(t) / t`` from 0 to `x`, elementwise."""
    size = xp.abs(x)
    near = size < NEAR
    small = xp.where(near, size, 1.0)
    inner = small * unit_integral(xp, lambda u: _sinhc(xp, small[..., None] * u), 32, small)
    large = xp.where(near, NEAR, size)
    outer = 0.5 * (xp.special.expi(large) + xp.special.exp1(large))
    y = xp.where(near, inner, outer)
    return xp.where(x < 0, -y, y)


@special(x=lambda xp, gy, x: gy * (xp.cosh(x) / x))
def hyperbolic_cosine_integral(xp: Namespace, x: AnyArray, /) -> Array:
    """Hyperbolic cosine integral of the absolute value of `x`, elementwise.

    It is the sum of Euler's constant, ``log(x)``, and the integral of ``(cosh(t) - 1) / t`` from 0 to `x`.

    At 0 the result is minus infinity.
    """
    size = xp.abs(x)
    near = size < NEAR
    small = xp.where(near & (size > 0), size, 1.0)
    halves = 0.5 * small[..., None]
    inner = unit_integral(xp, lambda u: 2 * xp.sinh(halves * u) ** 2 / u, 32, small) + EULER + xp.log(small)
    large = xp.where(near, NEAR, size)
    outer = 0.5 * (xp.special.expi(large) - xp.special.exp1(large))
    return xp.where(x == 0, -math.inf, xp.where(near, inner, outer))


@composed
def shichi(x: AnyArray, /) -> tuple[Variable, Variable]:
    """Return the hyperbolic sine and cosine integral, elementwise.

    The second integral uses the absolute value.
    """
    return hyperbolic_sine_integral(x), hyperbolic_cosine_integral(x)


@special(x=lambda xp, gy, x: gy * xp.sin(_quarter_turns(xp, x)))
def fresnel_sine(xp: Namespace, x: AnyArray, /) -> Array:
    """Integral of ``sin(pi * t * t / 2)`` from 0 to `x`, elementwise."""
    return _fresnel(xp, x, True)


@special(x=lambda xp, gy, x: gy * xp.cos(_quarter_turns(xp, x)))
def fresnel_cosine(xp: Namespace, x: AnyArray, /) -> Array:
    """Integral of ``cos(pi * t * t / 2)`` from 0 to `x`, elementwise."""
    return _fresnel(xp, x, False)


def _quarter_turns(xp: Namespace, x: Array) -> Array:
    """Return ``pi / 2 * x * x`` without whole turns.

    The product of the integer part and the rest is exact: together they have the digits of `x`.
    """
    whole = xp.where(xp.abs(x) < 1, 0.0, xp.round(x))
    rest, four = x - whole, xp.full_like(x, 4.0)
    square = xp.remainder(xp.remainder(whole, four) ** 2, four) + xp.remainder(2 * (whole * rest), four) + rest * rest
    return (0.5 * math.pi) * square


def _fresnel(xp: Namespace, x: Array, sine: bool) -> Array:
    """Return one of the integrals: Gauss's rule, and for large arguments the auxiliary functions of NIST DLMF 7.12."""
    size = xp.abs(x)
    far, infinite = size > 5, xp.isinf(x)
    small = xp.where(far, 1.0, size)
    wave = xp.sin if sine else xp.cos
    inner = integral(xp, lambda t: wave((0.5 * math.pi) * (t * t)), xp.zeros_like(small), small, 48, 2)
    large = xp.where(far & ~infinite, size, 6.0)
    square = math.pi * large * large
    f, g = xp.ones_like(large), xp.ones_like(large)
    for k in range(9, 0, -1):
        f = 1 - f * ((4 * k - 3) * (4 * k - 1) / (square * square))
        g = 1 - g * ((4 * k - 1) * (4 * k + 1) / (square * square))
    f, g = f / (math.pi * large), g / (math.pi * large * square)
    angle = _quarter_turns(xp, large)
    cos, sin = xp.cos(angle), xp.sin(angle)
    outer = 0.5 - f * cos - g * sin if sine else 0.5 + f * sin - g * cos
    y = xp.where(far, xp.where(infinite, 0.5, outer), inner)
    return xp.where(x < 0, -y, y)


@composed
def fresnel(x: AnyArray, /) -> tuple[Variable, Variable]:
    """Return Fresnel's sine and cosine integral, elementwise."""
    return fresnel_sine(x), fresnel_cosine(x)


def _dawson_slope(xp: Namespace, x: Array, y: Array) -> Array:
    far = xp.abs(x) > 6.6
    inverse = 1 / xp.where(far, x, 6.6)
    return xp.where(far, -0.5 * inverse * inverse * _dawson_series(xp, inverse, 2, 40), 1 - 2 * x * y)


def _dawson_series(xp: Namespace, inverse: Array, first: int, last: int) -> Array:
    """Return the part from number `first` on of the asymptotic series, divided by the summand before (DLMF 7.12)."""
    series, square = xp.ones_like(inverse), 0.5 * inverse * inverse
    for k in range(last, first - 1, -1):
        series = 1 + series * ((2 * k - 1) * square)
    return series


@special(x=lambda xp, gy, x, y: gy * _dawson_slope(xp, x, y))
def dawsn(xp: Namespace, x: AnyArray, /) -> Array:
    """Dawson's integral, ``exp(-x * x)`` times the integral of ``exp(t * t)`` from 0 to `x`, elementwise.

    Notes
    -----
    The integral over an angle of `x` times the tangent is smooth: Gauss's rule, and an asymptotic series for large `x`.
    """
    size = xp.abs(x)
    far = size > 8
    small = xp.where(far, 1.0, size)
    high = xp.where(small > 3, 1 - 3 / xp.where(small > 3, small, 3.0), 0.0)
    column = small[..., None]

    def f(u: Array) -> Array:
        return xp.exp(-(column * column) * (1 - u) * (1 + u))

    wide = integral(xp, f, xp.zeros_like(high), high, 32, 2) + integral(xp, f, high, xp.ones_like(high), 32, 2)
    inverse = 1 / xp.where(far, size, 9.0)
    y = xp.where(far, 0.5 * inverse * _dawson_series(xp, inverse, 1, 24), small * wide)
    return xp.where(x < 0, -y, y)


@special(x=lambda xp, gy, x: gy * ((2 / math.sqrt(math.pi)) * xp.exp(x * x)))
def erfi(xp: Namespace, x: AnyArray, /) -> Array:
    """Imaginary error function, the integral of ``2 / sqrt(pi) * exp(t * t)`` from 0 to `x`, elementwise."""
    return (2 / math.sqrt(math.pi)) * xp.special.dawsn(x) * xp.exp(x * x)


def _owens_by_h(xp: Namespace, h: Array, a: Array) -> Array:
    return -xp.exp(-0.5 * (h * h)) * xp.special.erf(a * h * math.sqrt(0.5)) / math.sqrt(8 * math.pi)


def _owens_by_a(xp: Namespace, h: Array, a: Array) -> Array:
    rest = 1 + a * a
    return xp.exp(-0.5 * (h * h) * rest) / (2 * math.pi * rest)


@special(h=lambda xp, gy, h, a: gy * _owens_by_h(xp, h, a), a=lambda xp, gy, h, a: gy * _owens_by_a(xp, h, a))
def owens_t(xp: Namespace, h: RealOperand, a: RealOperand, /) -> Array:
    """Owen's T function, the integral of ``exp(-h**2 * (1 + t**2) / 2) / (2 * pi * (1 + t**2))`` to `a`, elementwise.

    Notes
    -----
    Gauss's rule for a slope up to 1, and the reflection of D. B. Owen (1956) beyond.
    """
    h, a = xp.broadcast_arrays(xp.abs(h), a)
    slope = xp.abs(a)
    steep = slope > 1
    inverse = 1 / xp.where(steep, slope, 1.0)
    inner = _owens_integral(xp, xp.where(steep, h * slope, h), xp.where(steep, inverse, slope))
    ndtr = xp.special.ndtr
    tail, steep_tail = ndtr(xp.negative(h)), ndtr(xp.negative(h * slope))
    reflected = 0.5 * (tail + steep_tail) - tail * steep_tail - inner
    y = xp.where(steep, reflected, inner)
    return xp.where(a < 0, -y, y)


def _owens_integral(xp: Namespace, h: Array, a: Array) -> Array:
    square = (0.5 * h * h)[..., None]
    high = xp.where(h > 9, xp.minimum(a, 9 / xp.where(h > 9, h, 9.0)), a)

    def f(t: Array) -> Array:
        rest = 1 + t * t
        return xp.exp(-square * rest) / rest

    return integral(xp, f, xp.zeros_like(high), high, 32, 2) / (2 * math.pi)
