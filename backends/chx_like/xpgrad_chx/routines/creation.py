"""Creation from files, buffers, text and functions, and special matrices."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

import numpy as np

from xpgrad.types import Dtype, Shape
from xpgrad_chx.array import ndarray
from xpgrad_chx.creation import asarray, eye, ones
from xpgrad_chx.evaluation import call

__all__ = [
    "asanyarray", "ascontiguousarray", "asfortranarray", "copy", "diag", "frombuffer", "fromfile", "fromfunction",
    "fromiter", "fromstring", "identity", "loadtxt", "tri",
]  # fmt: skip


def asanyarray(obj: Any, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return an array, like `asarray`, since there are no subclasses."""
    return asarray(obj, dtype=dtype, device=device)


def ascontiguousarray(a: Any, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return a C-contiguous array: `a` itself if contiguous."""
    x = asarray(a, dtype=dtype, device=device)
    return x if x.is_contiguous else x.reshape(-1).copy().reshape(x.shape)


def asfortranarray(a: Any, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return a Fortran-contiguous array."""
    return ascontiguousarray(asarray(a, dtype=dtype, device=device).T).T  # type: ignore[no-any-return]  # of this class


def copy(a: ndarray) -> ndarray:
    """Return a copy that is connected to `a`."""
    return a.copy()  # type: ignore[no-any-return]  # of this class


def diag(v: Any, k: int = 0, device: Any = None) -> ndarray:
    """Return a matrix with the vector `v` on diagonal `k`, or diagonal `k` of the matrix `v`."""
    return call("diag", (asarray(v, device=device),), {"k": k})  # type: ignore[no-any-return]  # of this class


def identity(n: int, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return a square matrix with ones on its diagonal."""
    return eye(n, dtype=dtype, device=device)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Dtype | None = None, device: Any = None) -> ndarray:
    """Return a matrix with ones on diagonal `k` and below it."""
    every = ones((N, N if M is None else M), dtype=dtype, device=device)
    return call("tril", (every,), {"k": k})  # type: ignore[no-any-return]  # of this class


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0, device: Any = None) -> ndarray:
    """Return a vector that shares host memory with a buffer object; for a CUDA device it is copied."""
    return asarray(np.frombuffer(buffer, dtype, count, offset), device=device)


def fromfile(file: Any, dtype: Any = float, count: int = -1, sep: str = "", device: Any = None) -> ndarray:
    """Return the numbers of a file, binary unless there is a separator `sep`."""
    return asarray(np.fromfile(file, dtype, count, sep), device=device)


def fromfunction(
    function: Callable[..., Any], shape: Shape, *, dtype: Any = float, device: Any = None, **kwargs: Any
) -> ndarray:
    """Return the result of `function` for the coordinates: one NumPy array of `shape` for each axis."""
    return asarray(np.fromfunction(function, shape, dtype=dtype, **kwargs), device=device)


def fromiter(iterable: Iterable[Any], dtype: Any, count: int = -1, device: Any = None) -> ndarray:
    """Return a vector of the elements of an iterable, all or the first `count`."""
    return asarray(np.fromiter(iterable, dtype, count), device=device)


def fromstring(string: str, dtype: Any = float, count: int = -1, sep: str = " ", device: Any = None) -> ndarray:
    """Return the numbers in a text with a separator; `frombuffer` takes binary data."""
    return asarray(np.fromstring(string, dtype, count, sep=sep), device=device)


def loadtxt(
    fname: Any,
    dtype: Any = float,
    comments: Any = "#",
    delimiter: str | None = None,
    converters: Any = None,
    skiprows: int = 0,
    usecols: Any = None,
    unpack: bool = False,
    ndmin: Literal[0, 1, 2] = 0,
    encoding: str | None = None,
    device: Any = None,
) -> ndarray:
    """Return the numbers in a text file, line by line, as `numpy.loadtxt` reads them."""
    found = np.loadtxt(
        fname, dtype, comments, delimiter, converters, skiprows, usecols, unpack, ndmin=ndmin, encoding=encoding
    )  # fmt: skip
    return asarray(found, device=device)
