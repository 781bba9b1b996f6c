"""Fourier transforms of large arrays of single precision by SciPy, if installed, which takes several rows at a time."""

import functools
from typing import Any

from xpgrad.types import Array, Kernel, Namespace

LEAST = 2**13  # elements from which that is faster
REAL, COMPLEX = "f", "F"
KINDS = {"fft": REAL + COMPLEX, "ifft": REAL + COMPLEX, "rfft": REAL, "ihfft": REAL, "irfft": COMPLEX, "hfft": COMPLEX}
KINDS |= {"fftn": REAL + COMPLEX, "ifftn": REAL + COMPLEX, "rfftn": REAL, "irfftn": COMPLEX}
"""The dtypes of arguments, by functions."""
NORMS = None, "backward", "ortho", "forward"


@functools.cache
def _library() -> Any:
    try:
        import scipy.fft
    except ImportError:
        return None
    return scipy.fft


def find(name: str, xp: Namespace) -> Kernel | None:
    """Return a kernel that computes a transform by SciPy's function, or None; NumPy's takes other arguments."""
    extension, _, function = name.partition(".")
    if extension != "fft" or function not in KINDS:
        return None
    usual: Any = xp.default(name)
    kinds, half = KINDS[function], KINDS[function] == COMPLEX

    def suits(x: Array, axes: tuple[Any, ...], norm: Any) -> bool:
        if x.size < LEAST or x.dtype.char not in kinds or not x.dtype.isnative or norm not in NORMS:
            return False
        places = {axis % x.ndim for axis in axes if type(axis) is int and -x.ndim <= axis < x.ndim}
        return len(places) == len(axes) > 0 and not (half and x.shape[axes[-1]] < 2)

    def of_axis(x: Array, /, n: Any = None, axis: Any = -1, norm: Any = "backward") -> Array:
        if suits(x, (axis,), norm) and (n is None or (type(n) is int and n > 1)) and (library := _library()):
            return getattr(library, function)(x, n, axis, norm)
        return usual(x, n=n, axis=axis, norm=norm)

    def of_axes(x: Array, /, s: Any = None, axes: Any = None, norm: Any = "backward") -> Array:
        along = tuple(range(x.ndim)) if axes is None else axes
        if s is None and type(along) is tuple and suits(x, along, norm) and (library := _library()):
            return getattr(library, function)(x, None, along, norm)
        return usual(x, s=s, axes=axes, norm=norm)

    return of_axes if function.endswith("n") else of_axis
