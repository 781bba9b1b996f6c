"""NumPy's `linalg` and `fft`, with its argument names, for Variables.

The standard's functions are looked up when they are called.
"""
# ruff: noqa: D103 - each does what NumPy's function of its name does

import functools
from typing import Any

from xpgrad import array_api as xp
from xpgrad.graph.variable import as_variable
from xpgrad.interop.numpy_arguments import (
    REFUSED,
    alike,
    given,
    numpy_function,
    refuse_function,
)
from xpgrad.types import WHOLE


@numpy_function("linalg.norm")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = as_variable(x)
    x = x if x.node.spec.differentiable else xp.astype(x, x.node.spec.backend.default_dtype("float"))
    if ord is None and axis is None:
        return xp.linalg.vector_norm(x, keepdims=keepdims)
    axes = tuple(range(x.ndim)) if axis is None else (int(axis),) if isinstance(axis, WHOLE) else tuple(axis)
    if len(axes) == 1 or ord is None or ord == "fro":
        return xp.linalg.vector_norm(x, axis=axes, ord=2 if ord in (None, "fro") else ord, keepdims=keepdims)
    y = xp.linalg.matrix_norm(xp.moveaxis(x, axes, (-2, -1)), ord=ord)
    if not keepdims:
        return y
    return xp.expand_dims(y, axis=tuple(i % x.ndim for i in axes))


def part(chapter: str, name: str) -> Any:
    """Return a function of `linalg` or `fft`; TypeError where this version of xpgrad has none."""
    found = getattr(getattr(xp, chapter, None), name, None)
    return found if found is not None else refuse_function(f"{chapter}.{name}")


def _delegated(chapter: str, name: str, inputs: int = 1) -> None:
    """Enter a function that has the standard's name and arguments, looked up when it is called."""

    @numpy_function(f"{chapter}.{name}")
    @functools.wraps(getattr(getattr(xp, chapter), name), updated=())  # its docstring and signature
    def delegated(*args: Any, out: Any = REFUSED, **kwargs: Any) -> Any:
        arrays = alike(*args[:inputs]) if inputs > 1 else [as_variable(args[0])]
        return part(chapter, name)(*arrays, *args[inputs:], **kwargs)


for _name in ("det", "eigvalsh", "eigh", "inv", "matrix_norm", "matrix_power", "qr", "slogdet", "svdvals"):
    _delegated("linalg", _name)
for _name in ("eig", "eigvals", "vector_norm"):
    _delegated("linalg", _name)
_delegated("linalg", "solve", inputs=2)


@numpy_function("linalg.cholesky")
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    return part("linalg", "cholesky")(a, upper=upper)


@numpy_function("linalg.svd")
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: Any = REFUSED) -> Any:
    return part("linalg", "svd")(a, full_matrices=full_matrices) if compute_uv else part("linalg", "svdvals")(a)


@numpy_function("linalg.pinv")
def pinv(a: Any, rcond: Any = None, hermitian: Any = REFUSED, *, rtol: Any = None) -> Any:
    tolerance = rcond if given(rtol) is None else rtol
    return part("linalg", "pinv")(a, rtol=tolerance)


@numpy_function("linalg.matrix_rank")
def matrix_rank(A: Any, tol: Any = REFUSED, hermitian: Any = REFUSED, *, rtol: Any = None) -> Any:
    return part("linalg", "matrix_rank")(A, rtol=rtol)


def _transform(name: str) -> None:
    @numpy_function(f"fft.{name}")
    def transform(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = REFUSED) -> Any:
        return part("fft", name)(a, n=n, axis=axis, norm=norm or "backward")

    @numpy_function(f"fft.{name}n")
    def transforms(a: Any, s: Any = None, axes: Any = None, norm: Any = None, out: Any = REFUSED) -> Any:
        return part("fft", f"{name}n")(a, s=s, axes=axes, norm=norm or "backward")

    @numpy_function(f"fft.{name}2")
    def plane(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None, out: Any = REFUSED) -> Any:
        return part("fft", f"{name}n")(a, s=s, axes=axes, norm=norm or "backward")


for _name in ("fft", "ifft", "rfft", "irfft"):
    _transform(_name)


def _hermitian(name: str) -> None:
    @numpy_function(f"fft.{name}")
    def transform(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = REFUSED) -> Any:
        return part("fft", name)(a, n=n, axis=axis, norm=norm or "backward")


_hermitian("hfft")
_hermitian("ihfft")


def _shift(name: str) -> None:
    @numpy_function(f"fft.{name}")
    def shifted(x: Any, axes: Any = None) -> Any:
        return part("fft", name)(x, axes=axes)


_shift("fftshift")
_shift("ifftshift")
