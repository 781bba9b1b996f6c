"""Convolution in any number of dimensions, as sums of products or with Fourier transforms."""

import itertools
import math
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable
from xpgrad.scipy.operands import padded, resized, zeros_beside
from xpgrad.types import AnyArray

MODES = ("full", "same", "valid")
MAX_TERMS = 64
"""Elements of the smaller array up to which the method "auto" sums products."""


def _checked(name: str, in1: Any, in2: Any, mode: str) -> tuple[Variable, Variable]:
    if mode not in MODES:
        raise ValueError(f"{name}: expected the mode 'full', 'same' or 'valid', got {mode!r}")
    x, v = as_variables(name, in1, in2)
    if x.ndim != v.ndim:
        raise ShapeError(f"{name}: expected arrays with as many axes, got shapes {x.shape} and {v.shape}")
    return x, v


def _cropped(y: Variable, axes: tuple[int, ...], x: Variable, v: Variable, mode: str, name: str) -> Variable:
    """Return the part of the full convolution that `mode` selects."""
    if mode == "full":
        return y
    axes = tuple(range(x.ndim)) if mode == "same" else axes
    shapes = [tuple(each.shape[axis] for axis in axes) for each in (x, v)]
    if mode == "valid" and not (
        all(a >= b for a, b in zip(*shapes, strict=True)) or all(a <= b for a, b in zip(*shapes, strict=True))
    ):
        raise ShapeError(f"{name}: in the mode 'valid' one array must contain the other, got {x.shape} and {v.shape}")
    index: list[slice] = [slice(None)] * y.ndim
    for axis, a, b in zip(axes, *shapes, strict=True):
        middle = (y.shape[axis] - a) // 2
        start, count = (middle, a) if mode == "same" else (min(a, b) - 1, max(a, b) - min(a, b) + 1)
        index[axis] = slice(start, start + count)
    return y[tuple(index)]


@in_single_precision
def fftconvolve(in1: AnyArray, in2: AnyArray, mode: str = "full", axes: Any = None) -> Variable:
    """Return the convolution of two arrays by Fourier transforms.

    Parameters
    ----------
    in1, in2 : Variable or array, floating-point, with as many axes
    mode : {"full", "same", "valid"}
        Every overlap, the middle part with the shape of `in1`, or the overlaps of all of the smaller array.
    axes : int or sequence of int, optional
        By default all; along other axes the arrays broadcast.

    Returns
    -------
    Variable
        As in SciPy, of shape (0,) if an array has no elements.
    """
    x, v = _checked("fftconvolve", in1, in2, mode)
    along = tuple(range(x.ndim)) if axes is None else checked_axes(axes, x.ndim, "fftconvolve")
    if not x.ndim:
        return x * v
    if not along:
        raise ValueError("fftconvolve: expected at least one axis, got none")
    shape = tuple(a + b - 1 if i in along else max(a, b) for i, (a, b) in enumerate(zip(x.shape, v.shape, strict=True)))
    if not (math.prod(x.shape) and math.prod(v.shape)):
        return zeros_beside(x, (0,))
    lengths = [shape[axis] for axis in along]
    sizes = [_fast(n) for n in lengths]
    is_complex = x.node.spec.complex or v.node.spec.complex
    spectra = []
    for each in (x, v):
        for axis, size in zip(along, sizes, strict=True):
            each = resized(each, axis, size)
        if is_complex:
            spectra.append(xpa.fft.fftn(each if each.node.spec.complex else each + 0j, axes=along))
        else:
            spectra.append(xpa.fft.rfftn(each, axes=along))
    product = spectra[0] * spectra[1]
    y = xpa.fft.ifftn(product, axes=along) if is_complex else xpa.fft.irfftn(product, s=sizes, axes=along)
    for axis, length in zip(along, lengths, strict=True):
        y = resized(y, axis, length)
    return _cropped(y, along, x, v, mode, "fftconvolve")


def _fast(n: int) -> int:
    """Return the smallest number from `n` on without prime factors above 5."""
    while True:
        rest = n
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return n
        n += 1


@in_single_precision
def convolve(in1: AnyArray, in2: AnyArray, mode: str = "full", method: str = "auto") -> Variable:
    """Return the convolution of two arrays.

    Parameters
    ----------
    in1, in2 : Variable or array, floating-point, with as many axes
    mode : {"full", "same", "valid"}
        As for `fftconvolve`.
    method : {"auto", "direct", "fft"}
        Sums of products, or Fourier transforms; by default the former if an array has at most 64 elements.
    """
    x, v = _checked("convolve", in1, in2, mode)
    if method not in ("auto", "direct", "fft"):
        raise ValueError(f"convolve: expected the method 'auto', 'direct' or 'fft', got {method!r}")
    small, large = (x, v) if math.prod(x.shape) <= math.prod(v.shape) else (v, x)
    if not x.ndim:
        return x * v
    if method == "fft" or (method == "auto" and math.prod(small.shape) > MAX_TERMS):
        return fftconvolve(x, v, mode)
    if not math.prod(small.shape):
        return zeros_beside(x, (0,))
    shape = tuple(a + b - 1 for a, b in zip(x.shape, v.shape, strict=True))
    for axis, count in enumerate(small.shape):
        large = padded(large, axis, count - 1, count - 1)
    total: Any = None
    for index in itertools.product(*map(range, small.shape)):
        window = tuple(slice(n - 1 - i, n - 1 - i + m) for i, n, m in zip(index, small.shape, shape, strict=True))
        term = small[index] * large[window]
        total = term if total is None else total + term
    return _cropped(total, tuple(range(x.ndim)), x, v, mode, "convolve")


def correlate(in1: AnyArray, in2: AnyArray, mode: str = "full", method: str = "auto") -> Variable:
    """Return the cross-correlation of two arrays, the convolution with the reversed conjugate of `in2`.

    Parameters
    ----------
    in1, in2, mode, method
        As for `convolve`.
    """
    x, v = _checked("correlate", in1, in2, mode)
    return convolve(x, xpa.flip(xpa.conj(v) if v.node.spec.complex else v), mode, method)
