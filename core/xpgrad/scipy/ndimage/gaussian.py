"""Gaussian filters and their derivatives, Laplace filters, and filters of Fourier transforms."""

import math
from collections.abc import Callable
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable, as_array
from xpgrad.scipy.ndimage.filters import per_axis, summed, total
from xpgrad.scipy.operands import beside, inexact, numbers_beside, one_axis, root
from xpgrad.types import AnyArray, as_list

MAX_ORDER, MAX_RADIUS = 100, 10**6
"""Orders of derivatives and radii of windows, beyond which the weights would not be computed in sensible time."""


def _weights(sigma: Any, order: int, radius: int) -> list[Any]:
    """Return the weights of a Gaussian or its derivative; `sigma` is a float or a Variable."""
    exp = xpa.exp if isinstance(sigma, Variable) else math.exp
    inverse = 1.0 / (sigma * sigma)
    phi = [exp(inverse * (-0.5 * k * k)) for k in range(-radius, radius + 1)]
    whole = sum(phi[1:], start=phi[0])
    polynomial: list[Any] = [1.0]  # q of the derivative q * phi: a step is q' - q * k / sigma**2
    for _ in range(order):
        grown: list[Any] = [0.0] * (len(polynomial) + 1)
        for power, c in enumerate(polynomial):
            grown[power + 1] = grown[power + 1] - c * inverse
            if power:
                grown[power - 1] = grown[power - 1] + power * c
        polynomial = grown
    found = []
    for k, each in zip(range(-radius, radius + 1), phi, strict=True):
        factor: Any = sum((c * float(k) ** power for power, c in enumerate(polynomial)), 0.0)
        found.append(factor * each / whole)
    return found[::-1]  # of a correlation


@in_single_precision
def gaussian_filter1d(
    input: AnyArray, sigma: Any, axis: int = -1, order: int = 0, mode: str = "reflect", cval: float = 0.0,
    truncate: float = 4.0, *, radius: int | None = None,
) -> Variable:  # fmt: skip
    """Return the convolution with a Gaussian, or one of its derivatives, along an axis.

    Parameters
    ----------
    input : Variable or array, floating-point
    sigma : float, or Variable, shape ()
        The standard deviation; the radius of the window depends on its value, and has no derivative.
    axis : int
    order : int
        The order of the derivative.
    mode, cval
        As for `correlate1d`.
    truncate : float
        The radius of the window in standard deviations.
    radius : int, optional
    """
    x = inexact(input, "gaussian_filter1d")
    if not 0 <= order <= MAX_ORDER:
        raise ValueError(f"gaussian_filter1d: expected an order from 0 to {MAX_ORDER}, got {order}")
    along = one_axis(axis, x, "gaussian_filter1d")
    if hasattr(sigma, "dtype") and not isinstance(sigma, (int, float)):
        x, sigma = as_variables("gaussian_filter1d", x, sigma)
        if radius is None:
            radius = int(truncate * float(as_array(sigma)) + 0.5)
    else:
        sigma = float(sigma)
        radius = int(truncate * sigma + 0.5) if radius is None else radius
    if not 0 <= radius <= MAX_RADIUS:
        raise ValueError(f"gaussian_filter1d: expected a window with a radius from 0 to {MAX_RADIUS}, got {radius}")
    return summed(x, _weights(sigma, order, radius), along, mode, cval, "gaussian_filter1d")


def gaussian_filter(
    input: AnyArray, sigma: Any, order: Any = 0, mode: Any = "reflect", cval: float = 0.0, truncate: float = 4.0, *,
    radius: Any = None, axes: Any = None,
) -> Variable:  # fmt: skip
    """Return the convolution with a Gaussian, or one of its derivatives.

    Parameters
    ----------
    input : Variable or array, floating-point
    sigma, order, mode, radius
        As for `gaussian_filter1d`; also one value per axis.
    cval, truncate : float
    axes : int or sequence of int, optional
        By default all.
    """
    x = inexact(input, "gaussian_filter")
    along = tuple(range(x.ndim)) if axes is None else checked_axes(axes, x.ndim, "gaussian_filter")
    options = (per_axis(o, len(along), "an option", "gaussian_filter") for o in (sigma, order, mode, radius))
    for axis, deviation, degree, each, reach in zip(along, *options, strict=True):
        if not isinstance(deviation, (int, float)) or deviation > 1e-15:
            x = gaussian_filter1d(x, deviation, axis, degree, each, cval, truncate, radius=reach)
    return x


@in_single_precision
def laplace(input: AnyArray, mode: Any = "reflect", cval: float = 0.0, *, axes: Any = None) -> Variable:
    """Return the sum of the second differences along each axis; arguments as for `correlate`."""
    x = inexact(input, "laplace")
    along = tuple(range(x.ndim)) if axes is None else checked_axes(axes, x.ndim, "laplace")
    modes = per_axis(mode, len(along), "mode", "laplace")
    parts = [summed(x, [1.0, -2.0, 1.0], a, m, cval, "laplace") for a, m in zip(along, modes, strict=True)]
    return total(parts, x)


def _derivatives(input: Any, sigma: Any, degree: int, mode: Any, cval: float, axes: Any, options: Any) -> Any:
    """Return the derivative of a filtered image along each axis."""
    x = inexact(input, "gaussian_filter")
    along = tuple(range(x.ndim)) if axes is None else checked_axes(axes, x.ndim, "gaussian_filter")
    orders = [[degree if i == k else 0 for i in range(len(along))] for k in range(len(along))]
    return x, [gaussian_filter(x, sigma, order, mode, cval, axes=along, **options) for order in orders]


def gaussian_laplace(
    input: AnyArray, sigma: Any, mode: Any = "reflect", cval: float = 0.0, *, axes: Any = None, **options: Any
) -> Variable:
    """Return the Laplacian of the convolution with a Gaussian; arguments as for `gaussian_filter`."""
    x, parts = _derivatives(input, sigma, 2, mode, cval, axes, options)
    return total(parts, x)


def gaussian_gradient_magnitude(
    input: AnyArray, sigma: Any, mode: Any = "reflect", cval: float = 0.0, *, axes: Any = None, **options: Any
) -> Variable:
    """Return the length of the gradient of the convolution with a Gaussian; arguments as for `gaussian_filter`.

    Only the given axes are smoothed, where SciPy smooths the others, too.
    """
    x, parts = _derivatives(input, sigma, 1, mode, cval, axes, options)
    return root(total([part * part for part in parts], x))


def generic_laplace(
    input: AnyArray, derivative2: Callable[..., Variable], mode: Any = "reflect", cval: float = 0.0,
    extra_arguments: tuple[Any, ...] = (), extra_keywords: dict[str, Any] | None = None, *, axes: Any = None,
) -> Variable:  # fmt: skip
    """Return the sum of ``derivative2(input, axis, mode, cval, ...)`` along each axis; arguments as for `correlate`."""
    x, parts = _generic(input, derivative2, mode, cval, extra_arguments, extra_keywords, axes)
    return total(parts, x)


def generic_gradient_magnitude(
    input: AnyArray, derivative: Callable[..., Variable], mode: Any = "reflect", cval: float = 0.0,
    extra_arguments: tuple[Any, ...] = (), extra_keywords: dict[str, Any] | None = None, *, axes: Any = None,
) -> Variable:  # fmt: skip
    """Return the length of the gradient, ``derivative(input, axis, mode, cval, ...)`` along each of `axes`.

    Other arguments of `derivative` are given by `extra_arguments` and `extra_keywords`.
    """
    x, parts = _generic(input, derivative, mode, cval, extra_arguments, extra_keywords, axes)
    return root(total([part * part for part in parts], x))


def _generic(input: Any, function: Any, mode: Any, cval: float, args: Any, keywords: Any, axes: Any) -> Any:
    x = inexact(input, "generic_laplace")
    along = tuple(range(x.ndim)) if axes is None else checked_axes(axes, x.ndim, "generic_laplace")
    modes = per_axis(mode, len(along), "mode", "generic_laplace")
    args = as_list(args, "arguments")
    return x, [function(x, a, m, cval, *args, **(keywords or {})) for a, m in zip(along, modes, strict=True)]


def _filtered(input: Any, given: Any, n: int, axis: int, name: str, factor: Callable[[Any, Any], Variable]) -> Variable:
    """Return a spectrum times factors for each axis, functions of an option and of cycles per element."""
    x = inexact(input, name)
    axis = one_axis(axis, x, name)
    real = xpa.real(x) if x.node.spec.complex else x
    options = xpa.broadcast_to(beside(real, given, name), (x.ndim,))
    for i, count in enumerate(x.shape):
        cycles = numbers_beside(x, 0, count)
        if n < 0 or i != axis:
            cycles = xpa.where(cycles < (count + 1) // 2, cycles, cycles - count)
        cycles = cycles / float(max(count, 1) if n < 0 or i != axis else n)
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
