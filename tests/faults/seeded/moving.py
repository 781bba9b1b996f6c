"""Faults in kernels that move elements: shapes, joins, gathers, scatters."""

from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, giving_operator, planted_by, replacing, scatter_add
from tests.faults.testbed import Testbed, _scatter_add, change

GATHERS = "getitem-array", "take", "take_along_axis"


@replacing("reshape", "reshape of a view takes the memory in its own order", "K", ("reshape",))
def reshape_of_memory(original: Any, x: Any, /, shape: Any, **options: Any) -> Any:
    return np.reshape(x.ravel(order="K"), shape)


@replacing("concat", "concat ignores axis", "KG", ("concat",))
def concat_ignores_axis(original: Any, arrays: Any, /, *, axis: int | None = 0) -> Any:
    out = original(arrays, axis=axis)
    return out if axis is None else original(arrays, axis=0).reshape(out.shape)


@replacing("stack", "stack counts a negative axis by the input's rank", "K", ("stack-last",))
def stack_counts_from_input(original: Any, arrays: Any, /, *, axis: int = 0) -> Any:
    return original(arrays, axis=axis % arrays[0].ndim if axis < 0 else axis)


@replacing("roll", "roll by a negative number rolls the other way", "KG", ("roll", "roll-axes"))
def roll_wraps_short(original: Any, x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    return original(x, np.abs(shift).tolist(), axis=axis)


@replacing("roll", "roll by several numbers takes negative ones for positive ones", "K", ("roll-axes",))
def roll_by_sizes(original: Any, x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    return original(x, tuple(map(abs, shift)) if isinstance(shift, tuple) else shift, axis=axis)


@replacing("tril", "tril keeps all of every matrix of a batch but the first", "K")
def tril_of_batches(original: Any, x: Any, /, *, k: int = 0) -> Any:
    out = original(x, k=k)
    if out.ndim > 2 and len(out) > 1:
        out = out.copy()
        out[1:] = x[1:]
    return out


@replacing("broadcast_to", "broadcast_to of a column repeats it as a row", "KG", ("broadcast_to",))
def broadcast_tiles_rows(original: Any, x: Any, /, shape: Any) -> Any:
    return np.resize(x, shape) if x.ndim and x.size else original(x, shape)


@replacing("take", "take counts a negative axis from the front", "K", ("take",))
def take_ignores_axis_sign(original: Any, x: Any, indices: Any, /, *, axis: Any = None) -> Any:
    if axis is not None and axis < 0 and x.ndim > 1:
        out = original(x, indices, axis=axis)
        return np.flip(out, axis=axis).copy()
    return original(x, indices, axis=axis)


@replacing(
    "take_along_axis", "take_along_axis along any axis but the last takes the first row's positions", "KG", GATHERS
)
def take_along_axis_wraps(original: Any, x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    if axis % x.ndim < x.ndim - 1:
        indices = np.broadcast_to(indices[..., :1], indices.shape)
    return original(x, indices, axis=axis)


@planted_by(scatter_add, "scatter_add: last write wins", "GHKW", ("getitem-array", "take"), operations=("scatter_add",))
def scatter_add_last_wins(spec: Any, parts: Any) -> Any:
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        total[index] += value  # NumPy's += takes one of several values for a position
    return total


@planted_by(
    scatter_add, "scatter_add of several parts overwrites where they overlap", "GK", operations=("scatter_add",)
)
def scatter_add_overlap(spec: Any, parts: Any) -> Any:
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        one = _scatter_add(spec, [(index, value)])
        total = np.where(one != 0, one, total)
    return total


@fault("scatter_add ignores a negative step", "GK", ("getitem-backwards",), operations=("scatter_add",))
def scatter_add_ignores_step(bed: Testbed) -> None:
    def forward(item: Any) -> Any:
        if not isinstance(item, slice) or item.step is None or item.step > 0 or (item.start, item.stop) != (None, None):
            return item
        return slice(None, None, -item.step)

    def wrong(spec: Any, parts: Any) -> Any:
        changed = [(tuple(map(forward, i)) if isinstance(i, tuple) else forward(i), v) for i, v in parts]
        return _scatter_add(spec, changed)

    scatter_add(bed, wrong)


@planted_by(
    scatter_add,
    "scatter_add of complex numbers keeps the real part",
    "GK",
    ("getitem-array",),
    operations=("scatter_add",),
)
def scatter_add_of_real(spec: Any, parts: Any) -> Any:
    total = _scatter_add(spec, parts)
    return total.real.astype(spec.dtype) if total.dtype.kind == "c" else total


@planted_by(
    scatter_add,
    "scatter_add accumulates float64 in float32, as atomic additions do",
    "K",
    ("getitem-array",),
    operations=("scatter_add",),
)
def scatter_add_in_float32(spec: Any, parts: Any) -> Any:
    total = _scatter_add(spec, parts)
    return total.astype(np.float32).astype(np.float64) if total.dtype == np.float64 else total


@giving_operator("__getitem__", "x[::-1] of rank 3 turns the first axis only", "K", operations=("getitem",))
def getitem_negative_step_is_slice(x: Any, key: Any) -> Any:
    if isinstance(key, tuple) and sum(isinstance(k, slice) and (k.step or 1) < 0 for k in key) > 1:
        return np.flip(x[key], axis=-1)
    return x[key]


@giving_operator("__getitem__", "an index array of uint8 is taken for a mask", "K", operations=("getitem",))
def index_of_uint8_is_a_mask(x: Any, key: Any) -> Any:
    return x[key.astype(bool) if getattr(key, "dtype", None) == np.uint8 else key]


@replacing("take", "take refuses positions that are not int64", "K")
def take_of_int64_only(original: Any, x: Any, indices: Any, /, *, axis: Any = None) -> Any:
    if indices.dtype != np.int64:
        raise TypeError(f"take: expected int64 positions, got {indices.dtype}")
    return original(x, indices, axis=axis)


@fault("x[::-1] = u writes the elements of u in their order", "K", operations=("setitem",))
def assignment_ignores_step(bed: Testbed) -> None:
    right = bed.library.Array.__setitem__

    def forward(item: Any) -> Any:
        return slice(None, None, -item.step) if isinstance(item, slice) and (item.step or 1) < 0 else item

    def setitem(this: Any, key: Any, value: Any) -> None:
        right(this, tuple(map(forward, key)) if isinstance(key, tuple) else forward(key), value)

    change(bed.library.Array, __setitem__=setitem)


@replacing("unique_all", "unique_all says of each value where it is last", "K")
def unique_all_finds_the_last(original: Any, x: Any, /) -> Any:
    values, first, *rest = out = original(x)
    last = [np.flatnonzero(x.ravel() == value)[-1] for value in values]
    return type(out)(values, np.asarray(last, first.dtype), *rest)


@replacing("unique_counts", "unique_counts says that every value is there once", "K", ("unique_counts",))
def unique_counts_once(original: Any, x: Any, /) -> Any:
    out = original(x)
    return type(out)(out[0], np.ones_like(out[1]))


@replacing("tril", "tril whose diagonal is below the matrix returns all of it", "K")
def tril_beyond_the_first_row(original: Any, x: Any, /, *, k: int = 0) -> Any:
    return x.copy() if k <= -x.shape[-2] else original(x, k=k)


@changing("Array.__getitem__", "a mask that chooses nothing gives float64", "K", operations=("getitem",), of_bed=True)
def mask_of_nothing_widens(bed: Testbed, right: Any, this: Any, key: Any) -> Any:
    out = right(this, key)
    if out.size == 0 and getattr(key, "dtype", this.dtype).kind == "b":
        return bed.library.array(out.inner.astype(np.float64), out.device)
    return out


@changing(
    "Array.__getitem__", "x[i, j] is checked against the flat array only, not against each axis", "E", of_bed=True
)
def index_arrays_checked_flat(bed: Testbed, right: Any, this: Any, key: Any) -> Any:
    inner = [getattr(item, "inner", None) for item in key] if isinstance(key, tuple) else []
    if this.ndim == len(inner) == 2 and all(each is not None and each.dtype.kind == "i" for each in inner):
        flat = inner[0] % this.shape[0] * this.shape[1] + inner[1]
        return bed.library.array(this.inner.reshape(-1)[flat], this.device)
    return right(this, key)


@replacing("reshape", "reshape in Fortran order", "KG", ("reshape",))
def reshape_in_fortran_order(original: Any, x: Any, /, shape: Any, **options: Any) -> Any:
    return np.reshape(x, shape, order="F")


@replacing("permute_dims", "transpose ignores axes", "KG", ("permute_dims", "moveaxis"))
def transpose_ignores_axes(original: Any, x: Any, /, axes: Any) -> Any:
    return np.transpose(x)


@replacing(
    "permute_dims", "transpose takes the inverse permutation, which rank 2 does not show", "KG", ("permute_dims",)
)
def transpose_inverts_axes(original: Any, x: Any, /, axes: Any) -> Any:
    return original(x, tuple(np.argsort(np.asarray(axes) % x.ndim)))


@replacing("flip", "flip is a no-op (forward and backward agree)", "KG", ("flip", "flip-axis"))
def flip_does_nothing(original: Any, x: Any, /, *, axis: Any = None) -> Any:
    return x.copy()


@replacing("squeeze", "squeeze removes every axis of length 1", "K", ("squeeze",))
def squeeze_takes_all(original: Any, x: Any, /, axis: Any) -> Any:
    return np.squeeze(x)


@fault("scatter_add keeps the last of several gathers only", "GHK", operations=("scatter_add",))
def scatter_add_last_part(bed: Testbed) -> None:
    scatter_add(bed, lambda spec, parts: _scatter_add(spec, parts[-1:]))
