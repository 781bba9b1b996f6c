"""NumPy's products, diagonals and triangles, with its argument names, for Variables."""
# ruff: noqa: D103 - documented by NumPy's functions with the same names

import functools
from typing import Any

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.interop.numpy.arguments import (
    REFUSED,
    Function,
    alike,
    flat,
    numpy_function,
    numpy_functions,
    refuse_function,
)
from xpgrad.types import as_list


def _path(optimize: Any) -> Any:
    """Return a path for opt_einsum from the result of `numpy.einsum_path`."""
    if isinstance(optimize, str) or not hasattr(optimize, "__len__"):
        return optimize
    return tuple(step for step in optimize if step != "einsum_path")


def _triangle(function: Function) -> Function:
    def triangle(m: Any, k: int = 0) -> Any:
        m = as_variable(m)
        return function(m if m.ndim > 1 else xp.broadcast_to(m, shape=(m.size, m.size)), k=k)

    return triangle


def vecdot(x1: Any, x2: Any, axis: int = -1, keepdims: bool = False) -> Any:
    """Return the dot products along `axis`, which NumPy counts in each of the arrays."""
    x1, x2 = alike(x1, x2)
    y = xp.vecdot(*(xp.moveaxis(x, axis, -1) for x in (x1, x2)))
    return xp.moveaxis(y[..., None], -1, axis) if keepdims else y


ROWS: dict[str, Function] = {
    "dot": lambda a, b, out=REFUSED: Variable.dot(*alike(a, b)),
    "vdot": lambda a, b, /: xp.vecdot(*map(flat, alike(a, b))),
    "outer linalg.outer": lambda a, b, out=REFUSED: xp.linalg.outer(*map(flat, alike(a, b))),
    "tensordot linalg.tensordot": lambda a, b, axes=2: xp.tensordot(*alike(a, b), axes=axes),
    "linalg.matmul": lambda x1, x2, /: xp.matmul(*alike(x1, x2)),
    "linalg.vecdot": lambda x1, x2, /, *, axis=-1: vecdot(x1, x2, axis),
    "kron": lambda a, b: ops.kron(*alike(a, b)),
    "diag": lambda v, k=0: ops.diag(v, k),
    "diagflat": lambda v, k=0: ops.diag(flat(v), k),
    "diagonal": lambda a, offset=0, axis1=0, axis2=1: as_variable(a).diagonal(offset, axis1, axis2),
    "linalg.diagonal": lambda x, /, *, offset=0: xp.linalg.diagonal(x, offset=offset),
    "trace": lambda a, offset=0, axis1=0, axis2=1, dtype=None, out=REFUSED: as_variable(a).trace(
        offset, axis1, axis2, dtype=dtype
    ),
    "linalg.trace": lambda x, /, *, offset=0, dtype=None: xp.linalg.trace(x, offset=offset, dtype=dtype),
    "tril": _triangle(xp.tril),
    "triu": _triangle(xp.triu),
}
numpy_functions(ROWS)


@numpy_function("einsum")
def einsum(
    subscripts: Any, /, *operands: Any, out: Any = REFUSED, dtype: Any = REFUSED, order: Any = REFUSED,
    casting: Any = REFUSED, optimize: Any = True,
) -> Any:  # fmt: skip
    return ops.einsum(subscripts, *operands, optimize=_path(optimize))


@numpy_function("linalg.multi_dot")
def multi_dot(arrays: Any, *, out: Any = REFUSED) -> Any:
    return functools.reduce(xp.matmul, alike(*as_list(arrays, "arrays")))


@numpy_function("inner")
def inner(a: Any, b: Any, /) -> Any:
    a, b = alike(a, b)
    return a * b if not a.ndim or not b.ndim else xp.tensordot(a, b, axes=((a.ndim - 1,), (b.ndim - 1,)))


@numpy_function("cross", "linalg.cross")
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis,) * 3
    a, b = alike(a, b)
    a, b = xp.moveaxis(a, axisa, -1), xp.moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        refuse_function("cross", "it takes vectors with 3 elements")
    return xp.moveaxis(xp.linalg.cross(a, b), -1, axisc)
