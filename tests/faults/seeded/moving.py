"""Faults in kernels that move elements: shapes, joins, gathers, scatters."""

from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, giving_operator, misreading, replacing, scattering, spoiling
from tests.faults.testbed import Testbed, _scatter_add, change

GATHERS = "getitem-array", "take", "take_along_axis"


@replacing("concat", "concat ignores axis", "KG", ("concat",))
def concat_ignores_axis(right: Any, arrays: Any, /, *, axis: int | None = 0) -> Any:
    out = right(arrays, axis=axis)
    return out if axis is None else right(arrays, axis=0).reshape(out.shape)


@replacing("roll", "roll by several numbers takes negative ones for positive ones", "K", ("roll-axes",))
def roll_by_sizes(right: Any, x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    return right(x, tuple(map(abs, shift)) if isinstance(shift, tuple) else shift, axis=axis)


@spoiling("tril", "tril keeps all of every matrix of a batch but the first", "K")
def tril_of_batches(out: Any, x: Any, **_: Any) -> Any:
    if out.ndim > 2 and len(out) > 1:
        out = out.copy()
        out[1:] = x[1:]
    return out


@replacing("take", "take counts a negative axis from the front", "K", ("take",))
def take_ignores_axis_sign(right: Any, x: Any, indices: Any, /, *, axis: Any = None) -> Any:
    if axis is not None and axis < 0 and x.ndim > 1:
        out = right(x, indices, axis=axis)
        return np.flip(out, axis=axis).copy()
    return right(x, indices, axis=axis)


@replacing("take_along_axis", families="K")
def take_along_axis_wraps(right: Any, x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """take_along_axis along any axis but the last takes the first row's positions"""
    if axis % x.ndim < x.ndim - 1:
        indices = np.broadcast_to(indices[..., :1], indices.shape)
    return right(x, indices, axis=axis)


@scattering("scatter_add: last write wins", "GHKW", ("getitem-array", "take"))
def scatter_add_last_wins(spec: Any, parts: Any) -> Any:
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        total[index] += value  # NumPy's += takes one of several values for a position
    return total


@scattering("scatter_add of several parts overwrites where they overlap", "K")
def scatter_add_overlap(spec: Any, parts: Any) -> Any:
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        one = _scatter_add(spec, [(index, value)])
        total = np.where(one != 0, one, total)
    return total


@scattering("scatter_add ignores a negative step", "GK", ("getitem-backwards",))
def scatter_add_ignores_step(spec: Any, parts: Any) -> Any:
    def forward(item: Any) -> Any:
        if not isinstance(item, slice) or item.step is None or item.step > 0 or (item.start, item.stop) != (None, None):
            return item
        return slice(None, None, -item.step)

    return _scatter_add(spec, [(tuple(map(forward, i)) if isinstance(i, tuple) else forward(i), v) for i, v in parts])


@scattering("scatter_add of complex numbers keeps the real part", "GK", ("getitem-array",))
def scatter_add_of_real(spec: Any, parts: Any) -> Any:
    total = _scatter_add(spec, parts)
    return total.real.astype(spec.dtype) if total.dtype.kind == "c" else total


@scattering("scatter_add accumulates float64 in float32, as atomic additions do", "K", ("getitem-array",))
def scatter_add_in_float32(spec: Any, parts: Any) -> Any:
    total = _scatter_add(spec, parts)
    return total.astype(np.float32).astype(np.float64) if total.dtype == np.float64 else total


@giving_operator("__getitem__", "x[::-1] of rank 3 turns the first axis only", "K")
def getitem_negative_step_is_slice(x: Any, key: Any) -> Any:
    if isinstance(key, tuple) and sum(isinstance(k, slice) and (k.step or 1) < 0 for k in key) > 1:
        return np.flip(x[key], axis=-1)
    return x[key]


@misreading("take", "take refuses positions that are not int64", "K")
def take_of_int64_only(x: Any, indices: Any, **_: Any) -> Any:
    if indices.dtype != np.int64:
        raise TypeError(f"take: expected int64 positions, got {indices.dtype}")
    return x


@fault("x[::-1] = u writes the elements of u in their order", "K", operations=("setitem",))
def assignment_ignores_step(bed: Testbed) -> None:
    right = bed.library.Array.__setitem__

    def forward(item: Any) -> Any:
        return slice(None, None, -item.step) if isinstance(item, slice) and (item.step or 1) < 0 else item

    def setitem(this: Any, key: Any, value: Any) -> None:
        right(this, tuple(map(forward, key)) if isinstance(key, tuple) else forward(key), value)

    change(bed.library.Array, __setitem__=setitem)


@replacing("unique_all", "unique_all says of each value where it is last", "K")
def unique_all_finds_the_last(right: Any, x: Any, /) -> Any:
    values, first, *rest = out = right(x)
    last = [np.flatnonzero(x.ravel() == value)[-1] for value in values]
    return type(out)(values, np.asarray(last, first.dtype), *rest)


@changing("Array.__getitem__", "a mask that chooses nothing gives float64", "K", operations=("getitem",), of_bed=True)
def mask_of_nothing_widens(bed: Testbed, right: Any, this: Any, key: Any) -> Any:
    out = right(this, key)
    if out.size == 0 and getattr(key, "dtype", this.dtype).kind == "b":
        return bed.library.array(out.inner.astype(np.float64), out.device)
    return out


@changing("Array.__getitem__", families="E", of_bed=True)
def index_arrays_checked_flat(bed: Testbed, right: Any, this: Any, key: Any) -> Any:
    """x[i, j] is checked against the flat array only, not against each axis"""
    inner = [getattr(item, "inner", None) for item in key] if isinstance(key, tuple) else []
    if this.ndim == len(inner) == 2 and all(each is not None and each.dtype.kind == "i" for each in inner):
        flat = inner[0] % this.shape[0] * this.shape[1] + inner[1]
        return bed.library.array(this.inner.reshape(-1)[flat], this.device)
    return right(this, key)


scatter_add_last_part = scattering("scatter_add keeps the last of several gathers only", "GHK", ("F.lstm",))(
    lambda spec, parts: _scatter_add(spec, parts[-1:])
)
reshape_of_memory = replacing("reshape", "reshape of a view takes the memory in its own order", "K", ("reshape",))(
    lambda right, x, shape, **options: np.reshape(x.ravel(order="K"), shape)
)
stack_counts_from_input = replacing("stack", "stack counts a negative axis by the input's rank", "K", ("stack-last",))(
    lambda right, arrays, axis=0: right(arrays, axis=axis % arrays[0].ndim if axis < 0 else axis)
)
roll_wraps_short = replacing("roll", "roll by a negative number rolls the other way", "KG", ("roll", "roll-axes"))(
    lambda right, x, shift, axis=None: right(x, np.abs(shift).tolist(), axis=axis)
)
tril_beyond_the_first_row = replacing("tril", "tril whose diagonal is below the matrix returns all of it", "K")(
    lambda right, x, k=0: x.copy() if k <= -x.shape[-2] else right(x, k=k)
)
reshape_in_fortran_order = replacing("reshape", "reshape in Fortran order", "KG", ("reshape",))(
    lambda right, x, shape, **options: np.reshape(x, shape, order="F")
)
transpose_ignores_axes = replacing("permute_dims", "transpose ignores axes", "KG", ("permute_dims", "moveaxis"))(
    lambda right, x, axes: np.transpose(x)
)
flip_does_nothing = replacing("flip", "flip is a no-op (forward and backward agree)", "KG", ("flip", "flip-axis"))(
    lambda right, x, axis=None: x.copy()
)
squeeze_takes_all = replacing("squeeze", "squeeze removes every axis of length 1", "K", ("squeeze",))(
    lambda right, x, axis: np.squeeze(x)
)
broadcast_tiles_rows = replacing(
    "broadcast_to", "broadcast_to of a column repeats it as a row", "KG", ("broadcast_to",)
)(lambda right, x, shape: np.resize(x, shape) if x.ndim and x.size else right(x, shape))
index_of_uint8_is_a_mask = giving_operator("__getitem__", "an index array of uint8 is taken for a mask", "K")(
    lambda x, key: x[key.astype(bool) if getattr(key, "dtype", None) == np.uint8 else key]
)
unique_counts_once = spoiling(
    "unique_counts", "unique_counts says that every value is there once", "K", ("unique_counts",)
)(lambda out, *_: type(out)(out[0], np.ones_like(out[1])))
transpose_inverts_axes = replacing(
    "permute_dims", "transpose takes the inverse permutation, which rank 2 does not show", "KG", cases=("permute_dims",)
)(lambda right, x, axes: right(x, tuple(np.argsort(np.asarray(axes) % x.ndim))))
