"""Kelvin functions: parts of Bessel functions on a diagonal of the plane, by the integrals of NIST DLMF 10.9 and 10.32.

A derivative of any order is an integral of the same kind.
"""

import math

from xpgrad.graph.variable import Variable
from xpgrad.special.bessel import angles
from xpgrad.special.operands import composed, special
from xpgrad.special.quadrature import trapezoids, weighted_sum
from xpgrad.types import AnyArray, Array, Namespace

__all__ = [
    "bei", "bei_of", "beip", "ber", "ber_of", "berp", "kei", "kei_of", "keip", "kelvin", "ker", "ker_of", "kerp",
]  # fmt: skip

LARGEST = 120.0


def _first_kind(xp: Namespace, x: Array, n: int, imaginary: bool) -> Array:
    """Return a part of the derivative `n` of the mean of ``cos(w * x * sin(u))``, `w` a diagonal of the plane."""
    inside = xp.abs(x) <= LARGEST
    arg = xp.where(inside, x, 0.0)[..., None] * math.sqrt(0.5)
    turn = 0.75 * n * math.pi

    def f(u: Array) -> Array:
        sine = xp.sin(u)
        wave, grown = -arg * sine + 0.5 * n * math.pi, arg * sine
        real, other = xp.cos(wave) * xp.cosh(grown), -xp.sin(wave) * xp.sinh(grown)
        part = (
            other * math.cos(turn) + real * math.sin(turn)
            if imaginary
            else (real * math.cos(turn) - other * math.sin(turn))
        )
        return sine**n * part

    return xp.where(inside, weighted_sum(xp, f, *angles(128), arg[..., 0]), math.nan)


def _second_kind(xp: Namespace, x: Array, n: int, imaginary: bool) -> Array:
    """Return a part of the derivative `n` of the integral of ``exp(-w * x * cosh(t))`` from 0 on, `w` a diagonal."""
    inside = (x > 0) & ~xp.isinf(x)
    safe = xp.where(inside, x, 1.0)
    end, count = xp.acosh(1 + 60 / safe), 300
    for _ in range(2):
        end = xp.acosh(1 + (60 + n * end) / safe)
    arg = safe[..., None] * math.sqrt(0.5)

    def f(u: Array) -> Array:
        cosh = xp.cosh(end[..., None] * u)
        wave = 0.25 * n * math.pi - arg * cosh
        return (-cosh) ** n * xp.exp(-arg * cosh) * (xp.sin(wave) if imaginary else xp.cos(wave))

    y = end * weighted_sum(xp, f, *trapezoids(count), safe)
    edge = -math.pi / 4 if imaginary and n == 0 else math.inf if n == 0 else math.nan
    return xp.where(inside, y, xp.where(x == 0, edge, xp.where(x > 0, 0.0, xp.full_like(x, math.nan))))


@special(x=lambda xp, gy, x, n: gy * xp.special.ber_of(x, n=n + 1))
def ber_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Derivative of `ber` of order `n`, elementwise, for `x` from -120 to 120, with NaN beyond."""
    return _first_kind(xp, x, n, False)


@special(x=lambda xp, gy, x, n: gy * xp.special.bei_of(x, n=n + 1))
def bei_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Derivative of `bei` of order `n`, elementwise, for `x` from -120 to 120, with NaN beyond."""
    return _first_kind(xp, x, n, True)


@special(x=lambda xp, gy, x, n: gy * xp.special.ker_of(x, n=n + 1))
def ker_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Derivative of `ker` of order `n`, elementwise, for positive `x`."""
    return _second_kind(xp, x, n, False)


@special(x=lambda xp, gy, x, n: gy * xp.special.kei_of(x, n=n + 1))
def kei_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Derivative of `kei` of order `n`, elementwise, for positive `x`."""
    return _second_kind(xp, x, n, True)


@special(x=lambda xp, gy, x: gy * xp.special.ber_of(x, n=1))
def ber(xp: Namespace, x: AnyArray, /) -> Array:
    """Kelvin function ber, elementwise.

    The default body is for `x` from -120 to 120, with NaN beyond.
    """
    return xp.special.ber_of(x, n=0)


@special(x=lambda xp, gy, x: gy * xp.special.bei_of(x, n=1))
def bei(xp: Namespace, x: AnyArray, /) -> Array:
    """Kelvin function bei, elementwise.

    The default body is for `x` from -120 to 120, with NaN beyond.
    """
    return xp.special.bei_of(x, n=0)


@special(x=lambda xp, gy, x: gy * xp.special.ker_of(x, n=1))
def ker(xp: Namespace, x: AnyArray, /) -> Array:
    """Kelvin function ker, elementwise.

    At 0 the result is infinite, below it NaN.
    """
    return xp.special.ker_of(x, n=0)


@special(x=lambda xp, gy, x: gy * xp.special.kei_of(x, n=1))
def kei(xp: Namespace, x: AnyArray, /) -> Array:
    """Kelvin function kei, elementwise.

    Below 0 the result is NaN.
    """
    return xp.special.kei_of(x, n=0)


def berp(x: AnyArray, /) -> Variable:
    """Return the derivative of `ber`, elementwise."""
    return ber_of(x, n=1)


def beip(x: AnyArray, /) -> Variable:
    """Return the derivative of `bei`, elementwise."""
    return bei_of(x, n=1)


def kerp(x: AnyArray, /) -> Variable:
    """Return the derivative of `ker`, elementwise."""
    return ker_of(x, n=1)


def keip(x: AnyArray, /) -> Variable:
    """Return the derivative of `kei`, elementwise."""
    return kei_of(x, n=1)


@composed
def kelvin(x: AnyArray, /) -> tuple[Variable, Variable, Variable, Variable]:
    """Return ``ber + 1j * bei``, ``ker + 1j * kei``, and their derivatives, elementwise."""
    return ber(x) + 1j * bei(x), ker(x) + 1j * kei(x), berp(x) + 1j * beip(x), kerp(x) + 1j * keip(x)
