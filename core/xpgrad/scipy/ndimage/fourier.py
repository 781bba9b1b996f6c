"""Filters of Fourier transforms of images."""

import math
from collections.abc import Callable
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.graph.variable import Variable
from xpgrad.scipy.operands import beside, inexact, numbers_beside, one_axis
from xpgrad.types import AnyArray


def _filtered(input: Any, given: Any, n: int, axis: int, name: str, factor: Callable[[Any, Any], Variable]) -> Variable:
    """Return a spectrum times factors for each axis, functions of an option and of cycles per element."""
    x = inexact(input, name)
    half = one_axis(axis, x, name) if n >= 0 else None
    real = xpa.real(x) if x.node.spec.complex else x
    options = xpa.broadcast_to(beside(real, given, name), (x.ndim,))
    for i, count in enumerate(x.shape):
        cycles = numbers_beside(x, 0, count)
        if i != half:
            cycles = xpa.where(cycles < (count + 1) // 2, cycles, cycles - count)
        cycles = cycles / float(n if i == half else max(count, 1))
        x = x * xpa.reshape(factor(options[i], cycles), (-1, *(1,) * (x.ndim - 1 - i)))
    return x


def fourier_gaussian(input: AnyArray, sigma: Any, n: int = -1, axis: int = -1) -> Variable:
    """Return the spectrum of an image that is convolved with a Gaussian.

    Parameters
    ----------
    input : Variable or array, floating-point
        A Fourier transform.
    sigma : float, sequence of float, or Variable or array, shape () or (N,)
        The standard deviation along each axis, differentiable.
    n : int
        If not negative, the number of elements along `axis` before a transform of real numbers.
    axis : int
    """
    factor = lambda s, f: xpa.exp(-2.0 * (math.pi * s * f) ** 2)  # noqa: E731
    return _filtered(input, sigma, n, axis, "fourier_gaussian", factor)


def fourier_uniform(input: AnyArray, size: Any, n: int = -1, axis: int = -1) -> Variable:
    """Return the spectrum of an image that is convolved with a box of a size; arguments as for `fourier_gaussian`."""

    def factor(s: Any, f: Any) -> Variable:
        angle = math.pi * s * f
        known = angle != 0
        return xpa.where(known, xpa.sin(angle) / xpa.where(known, angle, 1.0), 1.0)

    return _filtered(input, size, n, axis, "fourier_uniform", factor)


def fourier_shift(input: AnyArray, shift: Any, n: int = -1, axis: int = -1) -> Variable:
    """Return the spectrum of an image that is shifted along each axis; arguments as for `fourier_gaussian`."""
    factor = lambda s, f: xpa.exp((-2j * math.pi) * (s * f))  # noqa: E731
    return _filtered(input, shift, n, axis, "fourier_shift", factor)
