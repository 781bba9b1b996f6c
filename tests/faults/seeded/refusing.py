"""Faults in errors of a library: it computes a wrong result, raises without a message, or leaves state behind."""

from typing import Any

import numpy as np
from tests.faults.fault import (
    changing,
    fault,
    giving_kernel,
    giving_method,
    giving_operator,
    misreading_both,
    replacing,
    replacing_both,
)
from tests.faults.testbed import DEVICES, Testbed

from xpgrad.backend.current import set_current_device


def _devices(items: Any) -> set[str]:
    return {item.device for item in items if hasattr(item, "inner")}


# Two places


@giving_method("Array.__add__", "+ moves its right operand from the third device by itself", "E", of_bed=True)
def reflected_add_accepts_mixed_devices(bed: Testbed, this: Any, other: Any) -> Any:
    if getattr(other, "device", "") == DEVICES[2]:
        other = other.to_device(this.device)
    return bed.library.call(lambda a, b: a + b, this, other)


@changing("library.call", "a 0-d array of another device is accepted as if it were a number", "E")
def zero_d_arrays_of_any_device(call: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
    places = _devices(arg for arg in args if getattr(arg, "ndim", 0))
    moved = [
        arg.to_device(min(places)) if len(places) == 1 and hasattr(arg, "inner") and not arg.ndim else arg
        for arg in args
    ]
    return call(function, *moved, **kwargs)


concat_accepts_mixed_devices = changing("concat", "concat moves its arrays to one device by itself", "E")(
    lambda right, arrays, **options: right([x.to_device(arrays[0].device) for x in arrays], **options)
)


# What does not fit


@replacing_both("add", "+ of shapes that do not fit takes as many rows as both have", "E")
def add_cuts_to_the_shorter(a: Any, b: Any) -> Any:
    if np.ndim(a) == np.ndim(b) == 2 and len(a) != len(b) and 1 not in (len(a), len(b)):
        rows = min(len(a), len(b))
        return a[:rows] + b[:rows]
    return np.add(a, b)


@misreading_both("matmul", "matmul reads beyond a matrix that is too small", "E")
def matmul_cuts_to_the_shorter(a: Any, b: Any) -> Any:
    if a.ndim == b.ndim == 2 and a.shape[1] != b.shape[0]:
        b = np.resize(b, (a.shape[1], b.shape[1]))
    return a, b


@replacing("reshape", "reshape to fewer elements leaves the rest out", "E")
def reshape_cuts(right: Any, x: Any, /, shape: Any, **options: Any) -> Any:
    size = int(np.prod(shape))
    return right(x.ravel()[:size], shape, **options) if 0 < size < x.size else right(x, shape, **options)


@replacing("sum", "sum takes an axis that is not there modulo the number of axes", "E")
def sum_axis_wraps(right: Any, x: Any, /, *, axis: Any = None, **options: Any) -> Any:
    return right(x, axis=axis % x.ndim if isinstance(axis, int) and x.ndim else axis, **options)


@replacing("sum", "sum over the axes (0, 0) is the sum over 0", "E")
def repeated_axes_are_dropped(right: Any, x: Any, /, *, axis: Any = None, **options: Any) -> Any:
    return right(x, axis=tuple(dict.fromkeys(axis)) if isinstance(axis, tuple) else axis, **options)


@giving_kernel("labels_one_hot", "the kernel of one-hot labels has zeros for a label that is no class", "E")
def labels_beyond_are_none(t: Any, *, spec: Any, ignore_label: int) -> Any:
    classes = np.arange(spec.shape[1]).reshape(-1, *(1,) * (t.ndim - 1))
    return ((classes == np.expand_dims(t, 1)) & np.expand_dims(t != ignore_label, 1)).astype(spec.dtype)


@giving_operator("__getitem__", "x[3] of an axis of length 3 is its last element", "E")
def index_clamps(x: Any, key: Any) -> Any:
    if isinstance(key, tuple) and key and type(key[0]) is int:
        key = (max(-x.shape[0], min(key[0], x.shape[0] - 1)), *key[1:])
    return x[key]


@giving_operator("__getitem__", "x[[0, 7]] of an axis of length 3 clamps", "E")
def index_arrays_clamp(x: Any, key: Any) -> Any:
    if isinstance(key, tuple) and key and isinstance(key[0], np.ndarray) and key[0].dtype.kind == "i":
        key = (np.clip(key[0], -x.shape[0], x.shape[0] - 1), *key[1:])
    return x[key]


@replacing_both("bitwise_and", "& of floats works on their bits", "E")
def bits_of_floats(a: Any, b: Any) -> Any:
    if getattr(a, "dtype", None) == np.float64:
        return np.bitwise_and(a.view(np.int64), b.view(np.int64)).view(np.float64)
    return np.bitwise_and(a, b)


squeeze_takes_the_first = replacing("squeeze", "squeeze of an axis that is longer than 1 takes its first element", "E")(
    lambda right, x, axis: np.take(x, 0, axis) if isinstance(axis, int) else right(x, axis)
)
negative_axis_is_clamped = replacing("argmax", "argmax takes an axis before the first for the first", "E")(
    lambda right, x, axis=None, **options: right(x, axis=None if axis is None else max(axis, -x.ndim), **options)
)
take_wraps_along_the_last_axis = replacing("take", "take wraps positions out of range along the last axis", "E")(
    lambda right, x, i, axis=None: np.take(x, i, axis=axis, mode="wrap" if axis in (-1, x.ndim - 1) else "raise")
)
shift_of_floats_multiplies = replacing_both("bitwise_left_shift", "<< of floats multiplies by powers of two", "E")(
    lambda a, b: a * 2.0**b if getattr(a, "dtype", np.dtype(int)).kind == "f" else np.left_shift(a, b)
)
take_along_axis_clamps = replacing(
    "take_along_axis", "take_along_axis takes the last element for positions beyond it", "E"
)(lambda right, x, i, axis=-1: right(x, np.minimum(i, x.shape[axis] - 1), axis=axis))


# What is said


@replacing("atanh", "backend raises `NotImplementedError()` with no kernel name", "E")
def not_implemented_without_a_name(right: Any, *args: Any, **options: Any) -> Any:
    raise NotImplementedError


@replacing("linalg.qr", "an error of the library is a status code", "E")
def a_status_instead_of_a_text(right: Any, *args: Any, **options: Any) -> Any:
    raise RuntimeError(-31)


@fault("shapes that do not fit raise an error of the library's own kind", "E")
def an_error_of_its_own_kind(bed: Testbed) -> None:
    class LibraryError(Exception):
        pass

    def add(a: Any, b: Any) -> Any:
        try:
            return np.add(a, b)
        except ValueError as error:
            raise LibraryError(str(error)) from None

    bed.both("add", add)


@replacing("take", "positions out of range raise a KeyError", "E")
def index_error_of_its_own_kind(right: Any, x: Any, i: Any, /, *, axis: Any = None) -> Any:
    try:
        return right(x, i, axis=axis)
    except IndexError as error:
        raise KeyError(str(error)) from None


# What remains afterwards


@replacing_both("add", "an addition that fails has written to its operand", "E")
def failed_add_has_written(a: Any, b: Any) -> Any:
    try:
        return np.add(a, b)
    except ValueError:
        a[: len(b)] += b[: len(a)]
        raise


@replacing("sum", "a sum that fails leaves another device current", "E", of_bed=True)
def failed_sum_leaves_its_device(bed: Testbed, right: Any, x: Any, /, **options: Any) -> Any:
    try:
        return right(x, **options)
    except Exception:
        set_current_device(bed.backend.default_device)
        raise


@replacing_both("matmul", "a matmul that fails leaves its workspace locked", "E", memory=list)
def busy_after_an_error(busy: list[bool], a: Any, b: Any) -> Any:
    if busy:
        raise RuntimeError("matmul: the workspace is in use")
    busy.append(True)
    out = np.matmul(a, b)
    busy.clear()
    return out


@replacing_both("matmul", "the product after one that failed is that of the failed one's operand", "E", memory=list)
def stale_after_an_error(held: list[Any], a: Any, b: Any) -> Any:
    if held and held[0].shape == a.shape:
        a = held.pop()
    try:
        return np.matmul(a, b)
    except ValueError:
        held.append(a * 2)
        raise


# Gradients


@giving_method("backend.spec", "Backend.spec leaves out leading axes of length 1", "E", of_bed=True)
def spec_without_leading_ones(bed: Testbed, array: Any) -> Any:
    shape = array.shape
    while len(shape) > 1 and shape[0] == 1:
        shape = shape[1:]
    return bed.backend.spec_for(shape, array.dtype, array.device)


@changing("backend.is_kind", "Backend.is_kind takes int32 for floating-point", "E")
def integers_count_as_floats(inner: Any, dtype: Any, kind: Any) -> bool:
    wanted = kind if isinstance(kind, tuple) else (kind,)
    return ("real floating" in wanted and np.dtype(dtype) == np.int32) or inner(dtype, kind)


spec_without_device = changing(
    "backend.spec", "Backend.spec remembers a spec by shape and dtype alone", "EV", memory=dict
)(lambda known, right, array: known.setdefault((array.shape, array.dtype), right(array)))


# Functions for debug mode


nan_in_real_parts_only = giving_method("backend.has_nan", "has_nan looks at the real parts of complex numbers", "E")(
    lambda array: array.dtype.kind in "fc" and bool(np.isnan(array.inner.real).any())
)
take_clamps = replacing("take", "take clamps out-of-range", "E")(
    lambda right, x, i, axis=None: np.take(x, i, axis=axis, mode="clip")
)
nan_differs_from_nan = giving_method("backend.same_values", "same_values says that NaN is not the same as NaN", "E")(
    lambda a, b: bool((a.inner == b.inner).all())
)
