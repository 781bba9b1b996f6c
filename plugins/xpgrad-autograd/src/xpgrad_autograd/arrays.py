"""The namespace ``autograd.numpy``: NumPy's functions of boxes, and additional functions of autograd."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad import array_api
from xpgrad_autograd import nodes
from xpgrad_autograd.boxes import ArrayBox, Box, boxed, functions, inside, is_box, value_of_all
from xpgrad_autograd.spaces import numpy_dtype
from xpgrad_autograd.wrapping import as_primitive, has_box, namespace, wrapped

names = namespace(np)
functions().update(names)


def array(A: Any, *args: Any, **kwargs: Any) -> Any:
    """Return an array of nested sequences, some of whose elements are boxes."""
    if type(A) is ArrayBox:
        made: Any = A.astype(_dtype(args, kwargs)) if _dtype(args, kwargs) is not None else A
        return made
    if not has_box([A]):
        return np.array(A, *args, **kwargs)
    if nodes.among([A]) or nodes.is_traced(A):
        return _stacked(A)
    made = boxed(array_api.asarray(inside(list(A) if isinstance(A, np.ndarray) else A)))
    if _dtype(args, kwargs) is not None:
        made = made.astype(_dtype(args, kwargs))
    missing = kwargs.get("ndmin", 0) - made.ndim
    return made.reshape((1,) * missing + made.shape) if missing > 0 else made


def _dtype(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0] if args else kwargs.get("dtype")


def _stacked(A: Any) -> Any:
    if is_box(A) or not isinstance(A, (list, tuple, np.ndarray)):
        return A if is_box(A) else np.asarray(A)
    return functions()["stack"]([_stacked(each) for each in A])


def array_from_args(array_args: Any, array_kwargs: Any, *args: Any) -> Any:
    """Return an array of the arguments."""
    return array(list(args), *array_args, **array_kwargs)


def concatenate_args(axis: int, *args: Any) -> Any:
    """Return the arguments, concatenated along an axis."""
    return functions()["concatenate"](list(args), axis)


def _of_iterables(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a sequence of arrays that also accepts other iterables, such as ``dict.values()``."""

    @functools.wraps(function)
    def call(arrays: Any, *args: Any, **kwargs: Any) -> Any:
        return function(arrays if hasattr(arrays, "__getitem__") else list(arrays), *args, **kwargs)

    return call


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Return the dot product; `matmul` computes products of vectors and matrices faster."""
    if out is None and (type(a) is ArrayBox or type(b) is ArrayBox) and not nodes.among((a, b)):
        a, b = array(a), array(b)
        if 0 < a.ndim < 3 and 0 < b.ndim < 3:
            return a @ b if type(a) is ArrayBox else b.__rmatmul__(a)
    return _dot(a, b) if out is None else _dot(a, b, out)


def full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    """Return an array filled with a number, or with copies of an array."""
    if not has_box([fill_value]):
        return np.full(shape, fill_value, dtype, **options)
    value = array(fill_value)
    if type(value) is ArrayBox and type(shape) is tuple:
        made = boxed(array_api.broadcast_to(value.in_graph, shape))
    else:
        made = functions()["broadcast_to"](value, shape)
    return made if dtype is None else made.astype(dtype)


def where(condition: Any, *args: Any, **kwargs: Any) -> Any:
    """Return elements of one of two arrays; a Python list or number if all three arguments are Python objects."""
    if not args and not kwargs:
        return functions()["nonzero"](condition)
    x = args[0] if args else kwargs.get("x")
    y = args[1] if len(args) > 1 else kwargs.get("y")
    if x is None or y is None:
        raise ValueError("where: expected both of x and y, or neither, got one")
    result = _where(condition, x, y)
    if isinstance(result, np.ndarray) and not any(_has_array(each) for each in (condition, x, y)):
        return result.tolist()
    return result


def _has_array(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(map(_has_array, x))
    return isinstance(x, (Box, np.ndarray, np.generic))


def make_diagonal(D: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """Return matrices whose diagonals are the vectors along the last axis; only for the last two axes."""
    if (offset, axis1, axis2) not in ((0, -1, -2), (0, -2, -1)):
        raise NotImplementedError(f"make_diagonal: expected the last two axes, got {(offset, axis1, axis2)}")
    xp = functions()
    return xp["multiply"](xp["expand_dims"](D, -1), np.eye(D.shape[-1]))


def _astype(A: Any, dtype: Any, **options: Any) -> Any:
    return A.astype(dtype, **options)


def _getitem(A: Any, index: Any) -> Any:
    return A[index]


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """Return each element from the first choice whose condition is true."""
    made = default
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        made = functions()["where"](condition, choice, made)
    return made


def append(arr: Any, values: Any, axis: int | None = None) -> Any:
    """Return two arrays, concatenated: as vectors by default."""
    xp = functions()
    arr, values = array(arr), array(values)
    if axis is None:
        arr, values, axis = xp["ravel"](arr), xp["ravel"](values), 0
    return xp["concatenate"]((arr, values), axis)


def column_stack(tup: Any) -> Any:
    """Return a matrix with vectors as columns; matrices are concatenated."""
    xp = functions()
    arrays = [array(x) for x in tup]
    return xp["concatenate"]([x if x.ndim > 1 else xp["reshape"](x, (-1, 1)) for x in arrays], 1)


def reshape(a: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the elements in another shape, read and written in an order: "C", "F" or "A"."""
    if (len(args) < 2 and "order" not in kwargs) or not has_box([a]):
        return _reshape(a, *args, **kwargs)
    shape = args[0] if args else kwargs.get("shape", kwargs.get("newshape"))
    a, order = array(a), args[1] if len(args) > 1 else kwargs["order"]
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"reshape: expected the order 'C', 'F', 'A' or 'K', got {order!r}")
    if order == "F" or (order in ("A", "K") and np.asarray(value_of_all(a)).flags.fnc):
        shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        return functions()["transpose"](_reshape(functions()["transpose"](a), shape[::-1]))
    return _reshape(a, shape)


def ravel(a: Any, order: Any = "C") -> Any:
    """Return the elements as a vector, read in an order."""
    return reshape(a, -1, order) if has_box([a]) else np.ravel(a, order)


def real_if_close(a: Any, tol: float = 100) -> Any:
    """Return the real parts if all imaginary parts are close to 0."""
    values = np.real_if_close(value_of_all(a), tol)
    return functions()["real"](a) if not np.iscomplexobj(values) and np.iscomplexobj(value_of_all(a)) else a


def metadata(A: Any) -> tuple[Any, int, Any, bool]:
    """Return shape, number of axes, dtype, and whether the array is complex."""
    if hasattr(A, "dtype") and not hasattr(A, "to_numpy"):  # includes arrays of transforms, which NumPy cannot convert
        return tuple(A.shape), A.ndim, A.dtype, numpy_dtype(A).kind == "c"
    return np.shape(value_of_all(A)), np.ndim(value_of_all(A)), np.result_type(value_of_all(A)), np.iscomplexobj(
        value_of_all(A)
    )  # fmt: skip


def unbroadcast(x: Any, target_meta: tuple[Any, int, Any, bool], broadcast_idx: int = 0) -> Any:
    """Return the sums of `x` over the axes that broadcasting has added or stretched.

    Parameters
    ----------
    x : array
    target_meta : tuple
        The `metadata` of the array that was broadcast.
    broadcast_idx : int
        The position at which axes were added.
    """
    xp = functions()
    shape, ndim, _, is_complex = target_meta
    while xp["ndim"](x) > ndim:
        x = xp["sum"](x, axis=broadcast_idx)
    stretched = tuple(axis for axis, length in enumerate(shape) if length == 1)
    if stretched:
        x = xp["sum"](x, axis=stretched, keepdims=True)
    return x if is_complex else match_complex(0.0, x)


def match_complex(target: Any, x: Any) -> Any:
    """Return `x` as a complex or real array, matching `target`."""
    wanted, given = (metadata(each)[3] for each in (target, x))
    if given and not wanted:
        return functions()["real"](x)
    return x + 0j if wanted and not given else x


class _Concatenating:
    """``np.r_`` or ``np.c_`` of boxes."""

    def __init__(self, columns: bool) -> None:
        self.columns = columns

    def __getitem__(self, args: Any) -> Any:
        if not has_box(args if isinstance(args, tuple) else (args,)):
            return (np.c_ if self.columns else np.r_)[args]
        xp = functions()
        given = args if isinstance(args, tuple) else (args,)
        parts = [xp["atleast_1d"](np.r_[x] if isinstance(x, slice) else array(x)) for x in given]
        return column_stack(parts) if self.columns else xp["concatenate"](parts)


def wrap_intdtype(kind: type) -> type:
    """Return an integer type that also converts boxes, to arrays without derivatives."""

    def new(cls: type, x: Any = 0, *args: Any) -> Any:
        return kind(value_of_all(x), *args)

    return type(kind.__name__, (kind,), {"__new__": new, "__doc__": kind.__doc__})


_where = wrapped(np.where)
_reshape = wrapped(np.reshape)
_dot = wrapped(np.dot)
INTEGERS = {kind.__name__: wrap_intdtype(kind) for kind in (np.int8, np.int16, np.int32, np.int64)}
OWN = {
    **{name: _of_iterables(names[name]) for name in ("concat", "concatenate", "dstack", "hstack", "stack", "vstack")},
    "append": append, "array": array, "array_from_args": array_from_args, "asanyarray": array, "asarray": array,
    "ascontiguousarray": array, "column_stack": column_stack, "concatenate_args": concatenate_args,
    "dot": as_primitive(dot, np.dot), "full": full,
    "ravel": as_primitive(ravel, np.ravel), "reshape": as_primitive(reshape, np.reshape),
    "make_diagonal": make_diagonal, "metadata": metadata, "real_if_close": real_if_close, "select": select,
    "where": where, "r_": _Concatenating(False), "c_": _Concatenating(True), "_astype": wrapped(_astype),
    "_getitem": wrapped(_getitem), "_unbroadcast": lambda x, like: unbroadcast(x, metadata(like)),
    "wrap_intdtype": wrap_intdtype, **INTEGERS, "true_divide": names["divide"],
    "row_stack": _of_iterables(names["vstack"]),
    "array_from_scalar_or_array": lambda args, kwargs, x: array(x, *args, **kwargs),
}  # fmt: skip
functions().update(OWN)
