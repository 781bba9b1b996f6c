"""NumPy's `linalg` and `fft`, with its argument names, for Variables.

The standard's functions are looked up when they are called.
"""
# ruff: noqa: D103 - each does what NumPy's function of its name does

import functools
import math
from typing import Any

from xpgrad import array_api as xp
from xpgrad.graph.variable import Variable, as_variable
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
    if ord is None and axis is None:
        y = _vector_norm(xp.reshape(x, shape=(-1,)), 2, (0,))
        return xp.reshape(y, shape=(1,) * x.ndim if keepdims else ())
    axes = tuple(range(x.ndim)) if axis is None else (int(axis),) if isinstance(axis, WHOLE) else tuple(axis)
    if len(axes) == 1 or ord is None or ord == "fro":
        y = _vector_norm(x, 2 if ord in (None, "fro") else ord, axes)
    else:
        y = _matrix_norm(x, ord, axes)
        y = xp.expand_dims(xp.expand_dims(y, axis=-1), axis=-1)
        y = xp.moveaxis(y, (-2, -1), axes)
    if keepdims:
        return y
    return y.squeeze(axes)


def _vector_norm(x: Variable, ord: Any, axes: tuple[int, ...]) -> Variable:
    size: Any = xp.abs(x)
    if ord in (math.inf, -math.inf):
        return (xp.max if ord > 0 else xp.min)(size, axis=axes, keepdims=True)
    if ord == 0:
        return xp.sum(xp.astype(x != 0, size.dtype), axis=axes, keepdims=True)
    if ord == 1:
        return xp.sum(size, axis=axes, keepdims=True)
    if ord == 2:
        spec = x.node.spec
        x, size = (xp.astype(each, each.node.spec.wide, copy=False) for each in (x, size))
        y = xp.sqrt(xp.sum(size * size if spec.complex else x * x, axis=axes, keepdims=True))
        return xp.astype(y, spec.dtype) if spec.half else y
    return xp.sum(size**ord, axis=axes, keepdims=True) ** (1 / ord)  # type: ignore[no-any-return]  # as above


def _matrix_norm(x: Variable, ord: Any, axes: tuple[int, ...]) -> Variable:
    x = xp.moveaxis(x, axes, (-2, -1))
    if ord in (2, -2, "nuc"):
        values = part("linalg", "svdvals")(x)
        return {2: xp.max, -2: xp.min, "nuc": xp.sum}[ord](values, axis=-1)
    sums = xp.sum(xp.abs(x), axis=-2 if abs(ord) == 1 else -1)
    return (xp.max if ord > 0 else xp.min)(sums, axis=-1)


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
