"""NumPy's functions that put arrays together from parts, with its argument names, for Variables."""
# ruff: noqa: D103 - each does what NumPy's function of its name does

from typing import Any

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.array_api.shared import copying
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.interop.numpy_arguments import lead_of, like, numpy_function


@numpy_function("block")
def block(arrays: Any) -> Any:
    lead: Any = lead_of(arrays)
    depth = _depth(arrays)
    leaves = _leaves(lead, arrays)
    ndim = max(depth, *(x.ndim for x in leaves))
    parts = iter(leaves)

    def joined(each: Any, level: int) -> Any:
        if not isinstance(each, list):
            return ops.atleast_nd(next(parts), ndim=ndim)
        return xp.concat([joined(inner, level + 1) for inner in each], axis=level - depth)

    return joined(arrays, 0) if depth else copying.copy(leaves[0])


def _depth(arrays: Any) -> int:
    """Return how many lists deep all arrays lie."""
    if isinstance(arrays, tuple):
        raise TypeError("numpy.block: expected lists, got a tuple; only lists are blocks")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("numpy.block: expected an array at least in each list, got an empty list")
    depths = {_depth(each) for each in arrays}
    if len(depths) > 1:
        raise ValueError(f"numpy.block: expected all arrays equally deep in lists, got depths {sorted(depths)}")
    return 1 + depths.pop()


def _leaves(lead: Variable, arrays: Any) -> list[Variable]:
    if isinstance(arrays, list):
        return [leaf for each in arrays for leaf in _leaves(lead, each)]
    return [like(lead, arrays)]


@numpy_function("delete")
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    arr, axis = _line(arr, axis, "delete")
    gone = {_place(i, arr.shape[axis], "delete") for i in _numbers(obj, arr.shape[axis], "delete")}
    return arr.take([i for i in range(arr.shape[axis]) if i not in gone], axis)


@numpy_function("insert")
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Return `arr` with `values` before the elements `obj`, in the dtype of `arr`.

    Raises
    ------
    DtypeError
        The dtype of `arr` cannot hold `values`, which NumPy would cut.
    """
    arr, axis = _line(_beside(arr, values), axis, "insert")
    length = arr.shape[axis]
    values = _held(like(arr, values), arr)
    numbers = _numbers(obj, length, "insert")
    places = [_place(i, length, "insert", end=1) for i in numbers]
    if len(places) == 1:
        if isinstance(obj, int) or getattr(obj, "shape", None) == ():
            values = xp.moveaxis(ops.atleast_nd(values, ndim=arr.ndim), 0, axis)
        values = ops.atleast_nd(values, ndim=arr.ndim)
        places *= values.shape[axis]
    shape = (*arr.shape[:axis], len(places), *arr.shape[axis + 1 :])
    values = xp.broadcast_to(values, shape=shape)
    taken, start = [], 0
    for k in sorted(range(len(places)), key=places.__getitem__):
        taken += [*range(start, places[k]), length + k]
        start = places[k]
    return xp.concat([arr, values], axis=axis).take([*taken, *range(start, length)], axis)


def _beside(arr: Any, values: Any) -> Variable:
    """Return `arr` as a Variable, of the library of `values` if it is a list."""
    lead: Any = lead_of(arr, values)
    return like(lead, arr, exact=True)  # type: ignore[no-any-return]  # a Variable


def _line(arr: Any, axis: Any, name: str) -> tuple[Variable, int]:
    arr = as_variable(arr)
    if axis is None:
        return arr.ravel(), 0
    if not -arr.ndim <= axis < arr.ndim:
        raise IndexError(f"numpy.{name}: expected an axis of an array with {arr.ndim} of them, got {axis}")
    return arr, axis % arr.ndim


def _numbers(obj: Any, length: int, name: str) -> list[int]:
    """Return the indices that `obj` names: an int, a slice, a list or an array of int, or a mask."""
    if isinstance(obj, slice):
        return list(range(*obj.indices(length)))
    plain = obj.tolist() if hasattr(obj, "tolist") else obj
    if not isinstance(plain, (int, list, tuple)):
        plain = constant_variable(obj).tolist()
    flat = [plain] if isinstance(plain, int) else list(plain)
    if flat and all(isinstance(i, bool) for i in flat):
        if len(flat) != length:
            raise ShapeError(f"numpy.{name}: expected a mask of {length} elements, got {len(flat)}")
        return [i for i, chosen in enumerate(flat) if chosen]
    if not all(isinstance(i, int) for i in flat):
        raise IndexError(f"numpy.{name}: expected an int, a slice, or one axis of int or bool, got {obj!r}")
    return flat


def _place(i: int, length: int, name: str, end: int = 0) -> int:
    if not -length <= i < length + end:
        raise IndexError(f"numpy.{name}: expected an index into an axis of {length}, got {i}")
    return i + length if i < 0 else i


KINDS = "bool", "integral", "real floating", "complex floating"


def _held(values: Variable, arr: Variable) -> Any:
    given, own = (
        next(i for i, kind in enumerate(KINDS) if x.node.spec.backend.is_kind(x.dtype, kind)) for x in (values, arr)
    )
    if given > own:
        raise DtypeError(
            f"numpy.insert: expected values that {arr.dtype} can hold, got {values.dtype}; cast one with astype"
        )
    return xp.astype(values, arr.dtype, copy=False)
