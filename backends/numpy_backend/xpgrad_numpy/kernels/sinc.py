"""The normalised sinc function and its derivatives, with few new arrays: allocation costs more than the sums."""

import functools
import math
from itertools import count

import numpy as np

from xpgrad.types import Array, Kernel


def sinc(x: Array, /) -> Array:
    """Return ``sin(pi * x) / (pi * x)``, 1 at 0; the sine is exact at integers and halves."""
    if not x.ndim:
        return sinc(x.reshape(1)).reshape(())
    y = _turned(x, np.sin)
    angle = x * _PI.get(x.dtype, math.pi)
    np.divide(y, angle, out=y, where=x != 0)
    y[x == 0] = 1
    return y


def sinc_of(x: Array, /, n: int) -> Array:
    """Return the derivative of order `n`, by a power series for ``|x| < 1``, else by recurrence in the order."""
    if not x.ndim:
        return sinc_of(x.reshape(1), n).reshape(())
    square = x * x
    *rest, last = _series(n, float(np.finfo(x.dtype).eps))
    y = np.full_like(x, last)
    with np.errstate(over="ignore", invalid="ignore"):  # where the series is not used
        for coefficient in reversed(rest):
            y *= square
            y += coefficient
        if n % 2:
            y *= x
    places = np.nonzero(~(square < 1))
    large = x[places]
    if large.size:
        y[places] = _beyond(large, n)
    return y


def _beyond(x: Array, n: int) -> Array:
    sine, cosine = _turned(x, np.sin), _turned(x, np.cos)
    y = sine / (math.pi * x)
    for k in range(1, n + 1):
        turned = (sine, cosine, -sine, -cosine)[k % 4]
        y = (math.pi ** (k - 1) * turned - k * y) / x
    return y


def _turned(x: Array, function: np.ufunc) -> Array:
    """Return the sine or cosine of ``pi * x``."""
    whole = np.round(x)
    y = x - whole
    y *= math.pi
    function(y, out=y)
    whole *= 0.5
    whole -= np.floor(whole)  # 0 at even numbers, 0.5 at odd ones
    whole *= -4
    whole += 1
    y *= whole
    return y


@functools.lru_cache(16)
def _series(n: int, eps: float) -> list[float]:
    """Return the coefficients of the power series of the derivative that are significant for arguments up to 1."""
    found: list[float] = []
    for k in count((n + 1) // 2):
        found.append((-1) ** k * math.pi ** (2 * k) / ((2 * k + 1) * math.factorial(2 * k - n)))
        if abs(found[-1]) < eps / 100 * math.pi**n:
            break
    return found


_PI = {dtype: np.asarray(math.pi, dtype) for dtype in map(np.dtype, ("float32", "float64"))}
SINC: dict[str, Kernel] = {"special.sinc": sinc, "special.sinc_of": sinc_of}
