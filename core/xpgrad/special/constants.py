"""Coefficients of series, computed at the first import, and Horner's rule."""

import math
from fractions import Fraction

from xpgrad.types import Array

EULER = 0.5772156649015329


def _bernoulli(count: int) -> tuple[float, ...]:
    """Return the Bernoulli numbers of even index from 2 on."""
    found = [Fraction(1)]
    for m in range(1, 2 * count + 1):
        found.append(-sum((math.comb(m + 1, k) * b for k, b in enumerate(found)), Fraction(0)) / (m + 1))
    return tuple(float(found[2 * j]) for j in range(1, count + 1))


BERNOULLI = _bernoulli(14)
STIRLING = tuple(b / (2 * j * (2 * j - 1)) for j, b in enumerate(BERNOULLI[:9], 1))


def _zeta_less_one(s: int) -> float:
    """Return ``zeta(s) - 1`` by the Euler–Maclaurin formula from 20 on."""
    n = 20
    tail = n ** (1 - s) / (s - 1) + n**-s / 2
    factor = s * n ** (-s - 1.0)
    for j, b in enumerate(BERNOULLI[:8], 1):
        tail += b / math.factorial(2 * j) * factor
        factor *= (s + 2 * j - 1) * (s + 2 * j) / n**2
    return math.fsum([*(k**-s for k in range(2, n)), tail])


# log(gamma(2 + z)) = (1 - EULER) z + sum of these times z**k, from k = 2 on (DLMF 5.7.3)
LOG_GAMMA_2 = tuple((-1) ** k * _zeta_less_one(k) / k for k in range(2, 33))


def polynomial(x: Array, coefficients: tuple[float, ...]) -> Array:
    """Return the polynomial with these coefficients, the constant first, by Horner's rule."""
    total = 0.0 * x + coefficients[-1]
    for c in coefficients[-2::-1]:
        total = total * x + c
    return total


def derivative_of_cotangent(n: int) -> tuple[float, ...]:
    """Return the coefficients of the derivative of order `n` of ``cot(pi * x)``, as a polynomial in the cotangent."""
    found = [0.0, 1.0]
    for _ in range(n):
        slope = [i * c for i, c in enumerate(found)][1:]
        padded = [*slope, 0.0, 0.0]
        found = [-math.pi * (c + (padded[i - 2] if i > 1 else 0.0)) for i, c in enumerate(padded)]
    return tuple(found)
