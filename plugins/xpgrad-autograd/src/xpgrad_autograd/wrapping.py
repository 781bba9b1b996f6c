"""Functions of NumPy and SciPy that take boxes."""

import functools
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np

from xpgrad import SingularMatrix, array_api, as_variable
from xpgrad_autograd import nodes
from xpgrad_autograd.boxes import DIRECT, ArrayBox, Box, boxed, functions, inside, plain, value_of, value_of_all

CONSTANT = frozenset(
    (
        *("floor", "ceil", "round", "rint", "around", "fix", "trunc", "all", "any", "argmax", "argmin", "argpartition"),
        *("argsort", "argwhere", "nonzero", "flatnonzero", "count_nonzero", "searchsorted", "sign", "ndim", "shape"),
        *("floor_divide", "logical_and", "logical_or", "logical_not", "logical_xor", "isfinite", "isinf", "isnan"),
        *("isneginf", "isposinf", "allclose", "isclose", "array_equal", "array_equiv", "greater", "greater_equal"),
        *("less", "less_equal", "equal", "not_equal", "iscomplexobj", "isrealobj", "iscomplex", "size", "isscalar"),
        *("isreal", "zeros_like", "ones_like", "empty_like", "full_like", "result_type", "can_cast", "digitize"),
        *("bincount", "histogram", "unique", "lexsort", "signbit", "spacing", "bitwise_and", "bitwise_or", "invert"),
        *("bitwise_xor", "array_repr", "array_str", "broadcast_shapes", "matrix_rank", "isin", "shares_memory"),
    )
)
"""Functions whose results do not depend on arguments by a derivative: they get values, and return what NumPy does."""


SEQUENCES = frozenset(
    (
        *("concatenate", "concat", "stack", "vstack", "hstack", "dstack", "row_stack", "block", "einsum", "meshgrid"),
        *("broadcast_arrays", "multi_dot", "select", "piecewise", "ix_", "unstack", "split", "einsum_path"),
    )
)
"""Functions that take sequences of arrays; elsewhere a list with boxes is an array."""


REDUCTIONS = frozenset(("sum", "prod", "mean", "max", "min"))
"""Functions that are those of the Array API, by their first two arguments and `keepdims`."""
AXES = frozenset((int, tuple, type(None)))


def has_box(values: Iterable[Any]) -> bool:
    """Return whether a box is among `values`, or within their lists and tuples."""
    types = Box.types
    for x in values:
        kind = type(x)
        if kind in types:
            return True
        if (kind is list or kind is tuple) and has_box(x):
            return True
        if isinstance(x, np.ndarray) and x.dtype.hasobject and any(type(each) in types for each in x.flat):
            return True
    return False


def wrapped(function: Callable[..., Any], name: str | None = None) -> Any:
    """Return a function of NumPy or SciPy that also accepts boxes; other arguments are computed unchanged.

    Parameters
    ----------
    function : callable
        It takes Variables by NumPy's protocol.
    name : str, optional
        Its name; functions in `CONSTANT` get values.
    """
    name = name or function.__name__
    constant = name in CONSTANT
    convert = inside if name in SEQUENCES else _operand if isinstance(function, np.ufunc) else _argument
    unary = isinstance(function, np.ufunc) and function.nin == 1 and not constant
    reduce = getattr(array_api, name) if name in REDUCTIONS else None

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        if unary and not kwargs and len(args) == 1 and type(args[0]) is ArrayBox:
            return boxed(function(args[0].in_graph))
        if reduce is not None and args and type(args[0]) is ArrayBox and _is_short(args, kwargs):
            axis = args[1] if len(args) == 2 else kwargs.get("axis")
            return boxed(reduce(args[0].in_graph, axis=axis, keepdims=kwargs.get("keepdims", False)))
        if not has_box(args) and not (kwargs and has_box(kwargs.values())):
            return _unboxed(function, args, kwargs)
        if nodes.among(args):
            return nodes.applied(call, args, kwargs, constant=constant)
        if constant and not _hidden(args):
            return function(*map(value_of_all, args), **{key: value_of_all(x) for key, x in kwargs.items()})
        try:
            return boxed(function(*map(convert, args), **{key: inside(x) for key, x in kwargs.items()}))
        except SingularMatrix as error:  # programs catch NumPy's error
            raise np.linalg.LinAlgError(str(error)) from error

    return as_primitive(call, function)


def as_primitive(call: Any, function: Callable[..., Any]) -> Any:
    """Return a function with the attributes that mark it as a primitive."""
    call.fun, call._is_autograd_primitive = function, True
    return call


def _is_short(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether the arguments of a reduction are an array, at most an axis, and `keepdims`."""
    if len(args) == 2 and type(args[1]) in AXES:
        return not kwargs or kwargs.keys() == {"keepdims"}
    return len(args) == 1 and (
        not kwargs or (kwargs.keys() <= {"axis", "keepdims"} and type(kwargs.get("axis")) in AXES)
    )


def _operand(x: Any) -> Any:
    made = _argument(x)
    return np.asarray(made) if type(made) in (list, tuple) else made


def _argument(x: Any) -> Any:
    if type(x) in (list, tuple) and has_box(x):
        return inside(functions()["array"](x))
    return inside(x)


def _hidden(args: Iterable[Any]) -> bool:
    return any(type(x) is ArrayBox and type(value_of(x)).__module__.startswith("xpgrad.") for x in args)


def _unboxed(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result for plain arguments; arrays of other libraries are computed by xpgrad on their library."""
    if args and type(args[0]) not in DIRECT and _other(type(args[0])):
        made = function(*[as_variable(x) if _other(type(x)) else x for x in args], **kwargs)
        return _arrays(made)
    return function(*args, **kwargs)


def _arrays(made: Any) -> Any:
    if isinstance(made, (tuple, list)):
        return type(made)(map(_arrays, made))
    return plain(made.array) if hasattr(made, "creator_node") else made


OTHERS = "cupy", "torch", "jax", "jaxlib"


_others: dict[type, bool] = {}


def _other(kind: type) -> bool:
    """Return whether a type is an array type of another library, which NumPy would convert."""
    found = _others.get(kind)
    if found is None:
        found = _others[kind] = kind.__module__.partition(".")[0] in OTHERS
    return found


def namespace(source: ModuleType, chosen: Iterable[str] | None = None) -> dict[str, Any]:
    """Return the public names of a module of NumPy or SciPy: functions wrapped, types and constants unchanged."""
    made: dict[str, Any] = {}
    for name in chosen or dir(source):
        found = getattr(source, name)
        if name.startswith("_") or isinstance(found, ModuleType):
            continue
        made[name] = wrapped(found, name) if callable(found) and not isinstance(found, type) else found
    return made
