"""Kelvin functions: parts of Bessel functions on a diagonal of the plane, and their derivatives of any order.

Power series near 0, then the integrals of NIST DLMF 10.9 and 10.32, then Hankel's expansions of DLMF 10.17 and 10.40.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

from xpgrad.graph.variable import Variable
from xpgrad.special.bessel import angles, hankel
from xpgrad.special.constants import EULER, polynomial
from xpgrad.special.operands import composed, special
from xpgrad.special.quadrature import trapezoids, weighted_sum
from xpgrad.types import AnyArray, Array, Namespace

__all__ = [
    "bei", "bei_of", "beip", "ber", "ber_of", "berp", "kei", "kei_of", "keip", "kelvin", "ker", "ker_of", "kerp",
]  # fmt: skip

NEAR, FAR = 3.0, 30.0
Terms = dict[int, tuple[float, float]]
"""A sum of ``(a + b * log(x / 2)) * x**power``, by powers."""


def _derived(terms: Terms, n: int) -> Terms:
    for _ in range(n):
        terms = {power - 1: (a * power + b, b * power) for power, (a, b) in terms.items() if power or b}
    return terms


@functools.cache
def _first_terms(n: int, imaginary: bool) -> Terms:
    """Return the power series of the derivative `n` of ber or bei (DLMF 10.65.1)."""
    terms: Terms = {}
    for k in range(int(imaginary), 26, 2):
        terms[2 * k] = (-1) ** (k // 2) / (4**k * math.factorial(k) ** 2), 0.0
    return _derived(terms, n)


@functools.cache
def _second_terms(n: int, imaginary: bool) -> Terms:
    """Return the series of the derivative `n` of ker or kei (DLMF 10.65.2)."""
    terms: Terms = {}
    own, other = _first_terms(0, imaginary), _first_terms(0, not imaginary)
    for power, (a, _) in own.items():
        terms[power] = a * (math.fsum(1 / j for j in range(1, power // 2 + 1)) - EULER), -a
    for power, (a, _) in other.items():
        terms[power] = a * math.pi / 4 * (-1 if imaginary else 1), 0.0
    return _derived(terms, n)


def _series(xp: Namespace, x: Array, terms: Terms, with_logarithm: bool) -> Array:
    last = max(terms)
    plain, of_log = ([terms.get(power, (0.0, 0.0))[i] for power in range(last + 1)] for i in (0, 1))
    y = polynomial(x, tuple(plain))
    if with_logarithm:
        y = y + xp.log(0.5 * x) * polynomial(x, tuple(of_log))
    for power, (a, _) in terms.items():
        if power < 0:
            y = y + a * x**power
    return y


def _asymptotic(xp: Namespace, x: Array, n: int, imaginary: bool, sign: int) -> Array:
    """Return a part of the derivative `n` of ``exp(sign * w * x) / sqrt(w * x)``, `w` a diagonal, times a series."""
    series = [(-sign) ** k * c for k, c in enumerate(hankel(0, 34))]
    for _ in range(n):
        before = [0.0, *series[:-1]]
        series = [sign * c - (k - 0.5) * b for k, (c, b) in enumerate(zip(series, before, strict=True))]
    inverse = 1 / x
    real = polynomial(inverse, tuple(c * math.cos(0.25 * math.pi * k) for k, c in enumerate(series)))
    other = polynomial(inverse, tuple(-c * math.sin(0.25 * math.pi * k) for k, c in enumerate(series)))
    grown = sign * math.sqrt(0.5) * x
    turn = (0.25 * n - 0.125) * math.pi
    sine, cosine = xp.sin(grown), xp.cos(grown)
    cosine, sine = cosine * math.cos(turn) - sine * math.sin(turn), sine * math.cos(turn) + cosine * math.sin(turn)
    part = sine * real + cosine * other if imaginary else cosine * real - sine * other
    return xp.exp(grown) * part * xp.sqrt(inverse)


def _first_kind(xp: Namespace, x: Array, n: int, imaginary: bool) -> Array:
    """Return a part of the derivative `n` of the mean of ``cos(w * x * sin(u))``, `w` a diagonal of the plane."""
    size = xp.abs(x)
    near, far = size < NEAR, size > FAR
    inner = _series(xp, xp.where(near, size, 0.0), _first_terms(n, imaginary), False)
    outer = _asymptotic(xp, xp.where(far, size, FAR), n, imaginary, 1) / math.sqrt(2 * math.pi)
    arg = xp.where(near | far, 1.0, size)[..., None] * math.sqrt(0.5)
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

    y = xp.where(near, inner, xp.where(far, outer, weighted_sum(xp, f, *angles(64), size)))
    return xp.where(x < 0, -y, y) if n % 2 else y


def _second_kind(xp: Namespace, x: Array, n: int, imaginary: bool) -> Array:
    """Return a part of the derivative `n` of the integral of ``exp(-w * x * cosh(t))`` from 0 on, `w` a diagonal."""
    near, far = x < NEAR, x > FAR
    inner = _series(xp, xp.where(near & (x > 0), x, 1.0), _second_terms(n, imaginary), True)
    outer = _asymptotic(xp, xp.where(far & ~xp.isinf(x), x, FAR), n, imaginary, -1) * math.sqrt(0.5 * math.pi)
    safe = xp.where(near | far, NEAR, x)
    end, count = xp.acosh(1 + 60 / safe), 120
    for _ in range(2):
        end = xp.acosh(1 + (60 + n * end) / safe)
    arg = safe[..., None] * math.sqrt(0.5)

    def f(u: Array) -> Array:
        cosh = xp.cosh(end[..., None] * u)
        wave = 0.25 * n * math.pi - arg * cosh
        return (-cosh) ** n * xp.exp(-arg * cosh) * (xp.sin(wave) if imaginary else xp.cos(wave))

    y = end * weighted_sum(xp, f, *trapezoids(count), safe)
    y = xp.where(near, inner, xp.where(far, outer, y))
    at_zero = {(0, True): -math.pi / 4, (1, True): 0.0, (0, False): math.inf, (1, False): -math.inf}
    edge = at_zero.get((n, imaginary), math.nan)
    return xp.where(xp.isinf(x) & (x > 0), 0.0, xp.where(x > 0, y, xp.where(x == 0, edge, math.nan * x)))


def _functions(
    name: str, values: Callable[..., Array], imaginary: bool, note: str = ""
) -> tuple[Callable[[AnyArray], Variable], Callable[[AnyArray], Variable], Callable[..., Variable]]:
    """Return a Kelvin function, its derivative, and the function of its derivatives of any order."""
    any_order = f"{name}_of"

    def function(xp: Namespace, x: AnyArray, /) -> Array:
        return getattr(xp.special, any_order)(x, n=0)

    def of_order(xp: Namespace, x: AnyArray, /, n: int) -> Array:
        return values(xp, x, n, imaginary)

    def derivative(x: AnyArray, /) -> Variable:
        y: Variable = made[1](x, n=1)
        return y

    texts = (
        (function, name, f"Kelvin function {name}, elementwise.{note}"),
        (derivative, f"{name}p", f"Return the derivative of `{name}`, elementwise."),
        (
            of_order,
            any_order,
            f"Derivative of `{name}` of order `n`, elementwise{', for positive `x`' if note else ''}.",
        ),
    )
    for each, title, text in texts:
        each.__name__ = each.__qualname__ = title
        each.__doc__ = text
    made: tuple[Any, Any] = (
        special(x=lambda xp, gy, x: gy * getattr(xp.special, any_order)(x, n=1))(function),
        special(x=lambda xp, gy, x, n: gy * getattr(xp.special, any_order)(x, n=n + 1))(of_order),
    )
    return made[0], derivative, made[1]


ber, berp, ber_of = _functions("ber", _first_kind, False)
bei, beip, bei_of = _functions("bei", _first_kind, True)
ker, kerp, ker_of = _functions("ker", _second_kind, False, "\n\nAt 0 the result is infinite, below it NaN.")
kei, keip, kei_of = _functions("kei", _second_kind, True, "\n\nBelow 0 the result is NaN.")


@composed
def kelvin(x: AnyArray, /) -> tuple[Variable, Variable, Variable, Variable]:
    """Return ``ber + 1j * bei``, ``ker + 1j * kei``, and their derivatives, elementwise."""
    return ber(x) + 1j * bei(x), ker(x) + 1j * kei(x), berp(x) + 1j * beip(x), kerp(x) + 1j * keip(x)
