"""NumPy's `block`, `choose`, `delete`, `insert` and `put_along_axis`, with its argument names, for Variables."""
# ruff: noqa: D103 - documented by NumPy's functions with the same names

from typing import Any

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.array_api.shared import copying
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.interop.numpy.arguments import REFUSED, holds, lead_of, like, numpy_function


@numpy_function("block")
def block(arrays: Any) -> Any:
    lead: Any = lead_of(arrays)
    depth = _depth(arrays)
    leaves = _leaves(lead, arrays)
    ndim = max(depth, *(x.ndim for x in leaves))
    parts = iter(leaves)

    def concatenated(each: Any, level: int) -> Any:
        if not isinstance(each, list):
            return ops.atleast_nd(next(parts), ndim=ndim)
        return xp.concat([concatenated(inner, level + 1) for inner in each], axis=level - depth)

    return concatenated(arrays, 0) if depth else copying.copy(leaves[0])


def _depth(arrays: Any) -> int:
    """Return the depth of the nested lists."""
    if isinstance(arrays, tuple):
        raise TypeError("numpy.block: expected nested lists, got a tuple")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError("numpy.block: expected at least one array in each list, got an empty list")
    depths = {_depth(each) for each in arrays}
    if len(depths) > 1:
        raise ValueError(f"numpy.block: expected lists nested to one depth, got depths {sorted(depths)}")
    return 1 + depths.pop()


def _leaves(lead: Variable, arrays: Any) -> list[Variable]:
    if isinstance(arrays, list):
        return [leaf for each in arrays for leaf in _leaves(lead, each)]
    return [like(lead, arrays)]


@numpy_function("delete")
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    arr, axis = _line(arr, axis, "delete")
    removed = {_position(i, arr.shape[axis], "delete") for i in _numbers(obj, arr.shape[axis], "delete")}
    return arr.take([i for i in range(arr.shape[axis]) if i not in removed], axis)


@numpy_function("insert")
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """Return `arr` with `values` inserted before the indices `obj`, in the dtype of `arr`.

    Raises
    ------
    DtypeError
        The dtype of `arr` cannot hold `values`; NumPy would truncate them.
    """
    lead: Any = lead_of(arr, values)
    arr, axis = _line(like(lead, arr, exact=True), axis, "insert")
    length = arr.shape[axis]
    values = like(arr, values)
    if not holds(arr.node.spec.backend, arr.dtype, values.dtype):
        raise DtypeError(
            f"numpy.insert: expected values that {arr.dtype} can hold, got {values.dtype}; cast one with astype"
        )
    values = xp.astype(values, arr.dtype, copy=False)
    numbers = _numbers(obj, length, "insert")
    places = [_position(i, length, "insert", end=1) for i in numbers]
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


def _line(arr: Any, axis: Any, name: str) -> tuple[Variable, int]:
    arr = as_variable(arr)
    if axis is None:
        return arr.ravel(), 0
    if not -arr.ndim <= axis < arr.ndim:
        raise IndexError(f"numpy.{name}: expected an axis of an array with {arr.ndim} axes, got {axis}")
    return arr, axis % arr.ndim


def _numbers(obj: Any, length: int, name: str) -> list[int]:
    """Return the indices that `obj` selects: an int, a slice, a list or an array of int, or a mask."""
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


def _position(i: int, length: int, name: str, end: int = 0) -> int:
    """Return the index `i`, not negative; `end` is 1 where it may also be the length."""
    if not -length <= i < length + end:
        raise IndexError(f"numpy.{name}: expected an index into an axis of {length}, got {i}")
    return i + length if i < 0 else i


@numpy_function("choose")
def choose(a: Any, choices: Any, out: Any = REFUSED, mode: str = "raise") -> Any:
    lead: Any = lead_of(a, choices)
    a = like(lead, a, exact=True)
    values = list(choices) if not isinstance(choices, (list, tuple)) else choices
    of_choices = lead_of(choices)
    values = xp.broadcast_arrays(a, *(like(lead if of_choices is None else of_choices, each) for each in values))
    a, table = values[0], xp.stack(values[1:])
    count = table.shape[0]
    if mode == "raise":
        if bool(xp.any((a < 0) | (a >= count))):
            raise ValueError(f"numpy.choose: expected indices from 0 to {count - 1}; pass mode='wrap' or mode='clip'")
    elif mode not in ("wrap", "clip"):
        raise ValueError(f"numpy.choose: expected the mode raise, wrap or clip, got {mode!r}")
    else:
        a = xp.remainder(a, count) if mode == "wrap" else xp.clip(a, 0, count - 1)
    return xp.take_along_axis(table, a[None], axis=0)[0]


@numpy_function("put_along_axis")
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Assign `values` to `arr` at `indices` along one axis: to a Variable as by ``arr[index] = values``."""
    if not isinstance(arr, Variable):
        raise TypeError(
            "numpy.put_along_axis: expected a Variable as the array to assign to, got "
            f"{type(arr).__name__}, which cannot record a graph; make a Variable of it first"
        )
    indices = like(arr, indices, exact=True)
    line = xp.reshape(arr, shape=(-1,)) if axis is None else arr
    along = 0 if axis is None else axis % arr.ndim
    places = []
    for i, length in enumerate(line.shape):
        counted = xp.arange(length, device=arr.device) if i != along else indices
        shape = tuple(-1 if i == j else 1 for j in range(line.ndim))
        places.append(indices if i == along else xp.reshape(counted, shape=shape))
    if axis is None:
        places = list(ops.unravel_index(indices, arr.shape))
    arr[tuple(places)] = values
