"""NumPy's products, diagonals and triangles, with its argument names, for Variables."""
# ruff: noqa: D103 - each does what NumPy's function of its name does

import functools
from typing import Any

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.graph.variable import as_variable
from xpgrad.interop.numpy_arguments import (
    REFUSED,
    alike,
    dtype_like,
    numpy_function,
    refuse_function,
)


@numpy_function("dot")
def dot(a: Any, b: Any, out: Any = REFUSED) -> Any:
    a, b = alike(a, b)
    return a.dot(b)


@numpy_function("inner")
def inner(a: Any, b: Any, /) -> Any:
    a, b = alike(a, b)
    return a * b if not a.ndim or not b.ndim else xp.tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 1,)))


@numpy_function("vdot")
def vdot(a: Any, b: Any, /) -> Any:
    a, b = (xp.reshape(x, shape=(-1,)) for x in alike(a, b))
    return xp.vecdot(a, b)


@numpy_function("outer", "linalg.outer")
def outer(a: Any, b: Any, out: Any = REFUSED) -> Any:
    return xp.linalg.outer(*(xp.reshape(x, shape=(-1,)) for x in alike(a, b)))


@numpy_function("tensordot", "linalg.tensordot")
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    a, b = alike(a, b)
    return xp.tensordot(a, b, axes=axes)


@numpy_function("linalg.matmul")
def matmul(x1: Any, x2: Any, /) -> Any:
    return xp.matmul(*alike(x1, x2))


@numpy_function("linalg.vecdot")
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    x1, x2 = alike(x1, x2)
    return xp.vecdot(x1, x2, axis=axis)


@numpy_function("einsum")
def einsum(
    subscripts: Any, /, *operands: Any, out: Any = REFUSED, dtype: Any = REFUSED, order: Any = REFUSED,
    casting: Any = REFUSED, optimize: Any = True,
) -> Any:  # fmt: skip
    return ops.einsum(subscripts, *operands, optimize=_path(optimize))


def _path(optimize: Any) -> Any:
    """Return what opt_einsum calls a path, from what `numpy.einsum_path` gives."""
    if isinstance(optimize, str) or not hasattr(optimize, "__len__"):
        return optimize
    return tuple(step for step in optimize if step != "einsum_path")


@numpy_function("kron")
def kron(a: Any, b: Any) -> Any:
    return ops.kron(*alike(a, b))


@numpy_function("linalg.multi_dot")
def multi_dot(arrays: Any, *, out: Any = REFUSED) -> Any:
    return functools.reduce(xp.matmul, alike(*arrays))


@numpy_function("cross", "linalg.cross")
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    a, b = alike(a, b)
    a, b = xp.moveaxis(a, axisa, -1), xp.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        refuse_function("cross", "it takes vectors with 3 elements")
    return xp.moveaxis(xp.linalg.cross(a, b), -1, axisc)


@numpy_function("diag")
def diag(v: Any, k: int = 0) -> Any:
    return ops.diag(v, k)


@numpy_function("diagflat")
def diagflat(v: Any, k: int = 0) -> Any:
    return ops.diag(xp.reshape(v, shape=(-1,)), k)


@numpy_function("diagonal")
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return as_variable(a).diagonal(offset, axis1, axis2)


@numpy_function("linalg.diagonal")
def linalg_diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return xp.linalg.diagonal(x, offset=offset)


@numpy_function("trace")
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = REFUSED) -> Any:
    return as_variable(a).trace(offset, axis1, axis2, dtype=dtype_like(a, dtype))


@numpy_function("linalg.trace")
def linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return xp.linalg.trace(x, offset=offset, dtype=dtype_like(x, dtype))


def _triangle(name: str, function: Any) -> None:
    @numpy_function(name)
    def triangle(m: Any, k: int = 0) -> Any:
        m = as_variable(m)
        return function(m if m.ndim > 1 else xp.broadcast_to(m, shape=(m.size, m.size)), k=k)


_triangle("tril", xp.tril)
_triangle("triu", xp.triu)
