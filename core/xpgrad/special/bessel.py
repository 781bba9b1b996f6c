"""Bessel functions of integer order, and Airy functions with their derivatives.

Their power series near 0, then the integrals of NIST DLMF 10.9 by rules that converge exponentially, then Hankel's
expansions for large arguments. Airy functions are computed by Bessel functions of the orders 1/3 and 2/3, and by series
(NIST DLMF 9).
"""

import math
from typing import Any

from xpgrad.graph.variable import Variable
from xpgrad.special.constants import EULER, polynomial
from xpgrad.special.operands import composed, composed_of_order, special, where_scalars
from xpgrad.special.quadrature import integral, weighted_sum
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["airy", "airy_of", "j0", "j1", "jn", "jn_of", "y0", "y1", "yn", "yn_of"]

FAR = 25.0  # Hankel's expansion above this
ANGLES = 48
MAX_STEPS = 10_000
"""Steps of a recurrence."""


def hankel(n: int, count: int = 22) -> tuple[float, ...]:
    """Return the coefficients of Hankel's expansion in ``1 / x``."""
    coefficients = [1.0]
    for k in range(1, count):
        coefficients.append(coefficients[-1] * (4 * n * n - (2 * k - 1) ** 2) / (8 * k))
    return tuple(coefficients)


def power_series(x: Array, n: int, sign: int, count: int) -> Array:
    """Return the sum of ``sign**k * (x / 2)**(2 * k + n) / (k! * (k + n)!)``."""
    half = 0.5 * x
    coefficients = tuple(sign**k / (math.factorial(k) * math.factorial(k + n)) for k in range(count))
    return (half**n if n else 1.0) * polynomial(half * half, coefficients)


def _asymptotic(xp: Namespace, x: Array, n: int) -> tuple[Array, Array]:
    """Return the Bessel functions of the first and second kind of large arguments."""
    inverse = 1 / x
    x = xp.where(xp.isinf(x), 0.0, x)  # where the functions are 0
    square = inverse * inverse
    coefficients = hankel(n)
    p = polynomial(square, tuple((-1) ** k * c for k, c in enumerate(coefficients[::2])))
    q = inverse * polynomial(square, tuple((-1) ** k * c for k, c in enumerate(coefficients[1::2])))
    turn = (0.5 * n + 0.25) * math.pi
    sine, cosine = xp.sin(x), xp.cos(x)
    real = cosine * math.cos(turn) + sine * math.sin(turn)
    imaginary = sine * math.cos(turn) - cosine * math.sin(turn)
    scale = xp.sqrt(2 / math.pi * inverse)
    return scale * (p * real - q * imaginary), scale * (p * imaginary + q * real)


def angles(count: int = ANGLES) -> tuple[list[float], list[float]]:
    """Return nodes and weights of the midpoint rule on [0, pi], exact for frequencies below ``2 * count``."""
    return [(k + 0.5) * math.pi / count for k in range(count)], [1 / count] * count


def _j_slope(xp: Namespace, x: Array, n: int) -> Array:
    if n == 0:
        return -xp.special.j1(x)
    return 0.5 * (_first_kind(xp, x, n - 1) - _first_kind(xp, x, n + 1))


def _first_kind(xp: Namespace, x: Array, n: int) -> Array:
    """Return `jn_of`; of order 0 or 1 by a function that is accurate for large arguments on every backend."""
    return xp.special.jn_of(x, n=n) if n > 1 else xp.special.j1(x) if n else xp.special.j0(x)


@special(x=lambda xp, gy, x, n: gy * _j_slope(xp, x, n))
def jn_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Bessel function of the first kind of order `n`, elementwise; the default body is for orders up to about 8."""
    size = xp.abs(x)
    near, far = size < 2, size > FAR
    small = power_series(xp.where(near, size, 0.0), n, -1, 16)
    middle = xp.where(near | far, 1.0, size)[..., None]
    inner = weighted_sum(xp, lambda u: xp.cos(n * u - middle * xp.sin(u)), *angles(), size)
    outer, _ = _asymptotic(xp, xp.where(far, size, FAR), n)
    y = xp.where(near, small, xp.where(far, outer, inner))
    return xp.where(x < 0, -y, y) if n % 2 else y


@special(x=lambda xp, gy, x: gy * -xp.special.j1(x))
def j0(xp: Namespace, x: AnyArray, /) -> Array:
    """Bessel function of the first kind of order 0, elementwise."""
    return _first_with_far(xp, x, 0)


@special(x=lambda xp, gy, x: gy * _j_slope(xp, x, 1))
def j1(xp: Namespace, x: AnyArray, /) -> Array:
    """Bessel function of the first kind of order 1, elementwise."""
    return _first_with_far(xp, x, 1)


def _first_with_far(xp: Namespace, x: Array, n: int) -> Array:
    """Return `jn_of`, with Hankel's expansion for large arguments, which the kernel may reduce inaccurately."""
    size = xp.abs(x)
    far = size > FAR
    outer, _ = _asymptotic(xp, xp.where(far, size, FAR), n)
    outer = xp.where(x < 0, -outer, outer) if n else outer
    return xp.where(far, outer, xp.special.jn_of(xp.where(far, 1.0, x), n=n))


@composed_of_order("order")
def jn(n: int, x: AnyArray, /) -> Variable:
    """Return the Bessel function of the first kind of order `n`, elementwise."""
    return jn_of(x, n=n)


def _harmonic(k: int) -> float:
    return math.fsum(1 / j for j in range(1, k + 1))


def logarithmic_series(xp: Namespace, x: Array, n: int, sign: int, count: int = 20) -> tuple[Array, Array]:
    """Return two terms whose sum is ``pi / 2`` times a function of the second kind of order 0 or 1 (DLMF 10.8, 10.31).

    The second one is the pole, which the function of order 1 has at 0. With the sign 1 they are the coefficients of the
    modified function, times -1 for the order 0.
    """
    half = 0.5 * x
    of_log = (xp.log(half) + EULER) * power_series(x, n, sign, count)
    coefficients = tuple(
        sign**k * (_harmonic(k) + _harmonic(k + n)) / (2 * math.factorial(k) * math.factorial(k + n))
        for k in range(count)
    )
    return of_log - (half if n else 1.0) * polynomial(half * half, coefficients), 1 / x if n else 0.0 * x


def _second_kind(xp: Namespace, x: Array, n: int) -> Array:
    """Return the function of the second kind of order 0 or 1, from a power series and from Schläfli's integrals."""
    valid, near = x > 0, x < 2
    far = x > FAR
    smooth, pole = logarithmic_series(xp, xp.where(valid & near, x, 1.0), n, -1)
    safe = xp.where(near | far, 2.0, x)
    column = safe[..., None]
    zero = xp.zeros_like(safe)
    waves = integral(xp, lambda u: xp.sin(column * xp.sin(u) - n * u), zero, zero + math.pi, 64)
    top = xp.asinh(45 / safe)

    def falling(t: Array) -> Array:
        return (2.0 if n == 0 else 2 * xp.sinh(t)) * xp.exp(-column * xp.sinh(t))

    inner = (waves - integral(xp, falling, zero, top, 32, 3)) / math.pi
    inner = xp.where(near, (2 / math.pi) * (smooth - pole), inner)
    _, outer = _asymptotic(xp, xp.where(far, x, FAR), n)
    return xp.where(valid, xp.where(far, outer, inner), where_scalars(xp, x == 0, -math.inf, math.nan, x))


@special(x=lambda xp, gy, x, y, n: gy * (xp.special.y0(x) - y / x if n else -xp.special.y1(x)))
def yn_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Bessel function of the second kind of order `n`, which is 0 or 1, elementwise."""
    return _second_kind(xp, x, n)


def _second_with_far(xp: Namespace, x: Array, n: int) -> Array:
    """Return `yn_of`, with Hankel's expansion for large arguments, which the kernel may reduce inaccurately."""
    far = x > FAR
    _, outer = _asymptotic(xp, xp.where(far, x, FAR), n)
    return xp.where(far, outer, xp.special.yn_of(xp.where(far, 1.0, x), n=n))


@special(x=lambda xp, gy, x: gy * -xp.special.y1(x))
def y0(xp: Namespace, x: AnyArray, /) -> Array:
    """Bessel function of the second kind of order 0, elementwise.

    At 0 the result is minus infinity, below it NaN.
    """
    return _second_with_far(xp, x, 0)


@special(x=lambda xp, gy, x, y: gy * (xp.special.y0(x) - y / x))
def y1(xp: Namespace, x: AnyArray, /) -> Array:
    """Bessel function of the second kind of order 1, elementwise.

    At 0 the result is minus infinity, below it NaN.
    """
    return _second_with_far(xp, x, 1)


@composed_of_order("order")
def yn(n: int, x: AnyArray, /) -> Variable:
    """Return the Bessel function of the second kind of order `n`, elementwise, by its recurrence.

    At 0 the result is minus infinity, below it NaN. Raises ValueError if `n` is above 10,000.
    """
    if n > MAX_STEPS:
        raise ValueError(f"yn: expected an order of at most {MAX_STEPS:,}, got {n}")
    before, y = y0(x), y1(x)
    if not n:
        return before
    for k in range(1, n):
        before, y = y, (2 * k / x) * y - before
    return y


AT_0, SLOPE_AT_0 = 0.355028053887817239, 0.258819403792806798
"""Ai at 0, and minus its derivative there."""
ROOT_3 = math.sqrt(3)


def _near(xp: Namespace, x: Array, n: int) -> Array:
    """Return the power series around 0 (NIST DLMF 9.4)."""
    cube, slope = x * x * x, n % 2
    first: Any = xp.zeros_like(x) if slope else xp.ones_like(x)
    second: Any = xp.ones_like(x) if slope else x
    one, two = xp.ones_like(x), x
    for k in range(1, 13):
        one, two = one * (cube / ((3 * k - 1) * 3 * k)), two * (cube / (3 * k * (3 * k + 1)))
        if slope:  # divided by x after the factor, so that 0 is no exception
            first = first + 3 * k * _over(xp, one, x)
            second = second + (3 * k + 1) * _over(xp, two, x)
        else:
            first, second = first + one, second + two
    if n < 2:
        return AT_0 * first - SLOPE_AT_0 * second
    return ROOT_3 * (AT_0 * first + SLOPE_AT_0 * second)


def _over(xp: Namespace, y: Array, x: Array) -> Array:
    origin = x == 0
    return xp.where(origin, 0.0, y / xp.where(origin, 1.0, x))


def _right(xp: Namespace, x: Array, n: int) -> Array:
    zeta, root = 2 / 3 * x * xp.sqrt(x), xp.sqrt(x / 3)
    order = xp.full_like(x, (1 + n % 2) / 3)
    falling = xp.special.kve(order, zeta) * xp.exp(-zeta)
    if n < 2:
        return (-x / (math.pi * ROOT_3) if n else root / math.pi) * falling
    growing = 2 * xp.special.ive(order, zeta) * xp.exp(zeta) + ROOT_3 / math.pi * falling
    return (x / ROOT_3 if n == 3 else root) * growing


def _left(xp: Namespace, z: Array, n: int) -> Array:
    zeta, root = 2 / 3 * z * xp.sqrt(z), xp.sqrt(z)
    order = xp.full_like(z, (1 + n % 2) / 3)
    j, y = xp.special.jv(order, zeta), xp.special.yv(order, zeta)
    if n % 2 == 0:
        return root / 2 * (j - y / ROOT_3) if n == 0 else -root / 2 * (j / ROOT_3 + y)
    return z / 2 * (j + y / ROOT_3) if n == 1 else z / 2 * (j / ROOT_3 - y)


@special(
    x=lambda xp, gy, x, n: gy * (x * xp.special.airy_of(x, n=n - 1)) if n % 2 else gy * xp.special.airy_of(x, n=n + 1)
)
def airy_of(xp: Namespace, x: AnyArray, /, n: int) -> Array:
    """Ai, its derivative, Bi or its derivative, for `n` from 0 to 3, elementwise.

    The default body is for `x` from about -25 to 100.
    """
    near = xp.abs(x) < 1
    high, low = x >= 1, x <= -1
    right = _right(xp, xp.where(high, x, 1.0), n)
    left = _left(xp, xp.where(low, xp.negative(x), 1.0), n)
    return xp.where(near, _near(xp, xp.where(near, x, 0.0), n), xp.where(high, right, left))


@composed
def airy(x: AnyArray, /) -> tuple[Variable, ...]:
    """Return the Airy functions Ai and Bi with their derivatives: Ai, Ai', Bi, Bi', elementwise."""
    return tuple(airy_of(x, n=n) for n in range(4))
