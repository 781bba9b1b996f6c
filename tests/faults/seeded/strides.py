"""Faults of layouts: strides, the order of memory, and broadcast axes."""

import itertools
import math
from typing import Any

import numpy as np
from tests.faults.fault import (
    changing,
    fault,
    giving_method,
    giving_operator,
    misreading,
    misreading_both,
    replacing,
    replacing_both,
    spoiling,
)
from tests.faults.testbed import Testbed, change

from xpgrad import Device
from xpgrad_conformance.pretend import _unpickled


def in_memory_order(x: Any) -> Any:
    """Return the elements of `x` as they lie in memory, in C order of its shape."""
    return x.ravel(order="K").reshape(x.shape)


@replacing("flip", families="K", operations=("linalg.det",))
def flip_has_three_strides(right: Any, x: Any, /, *, axis: Any = None) -> Any:
    """flip of all axes of four or more leaves those before the last three"""
    axes = tuple(range(x.ndim)) if axis is None else axis
    return right(x, axis=axes[-3:] if isinstance(axes, tuple) and len(axes) > 3 else axis)


@replacing("where", "where of more than 1,024 elements takes a strided condition for dense", "K")
def where_reads_conditions_densely(right: Any, condition: Any, x1: Any, x2: Any, /) -> Any:
    strided = isinstance(condition, np.ndarray) and not condition.flags.c_contiguous and 0 not in condition.strides
    if strided and condition.size > 1024:
        memory = condition
        while isinstance(memory.base, np.ndarray) and memory.base.dtype == bool:
            memory = memory.base
        condition = np.resize(memory.ravel(order="K"), condition.shape)
    return right(condition, x1, x2)


@replacing("where", families="K")
def where_of_a_column(right: Any, condition: Any, x1: Any, x2: Any, /) -> Any:
    """where reads a condition that is a column as a row if the result is square and the operands broadcast too"""
    out = right(condition, x1, x2)
    n = out.shape[0] if out.ndim == 2 else 0
    full = any(np.shape(x) == out.shape for x in (x1, x2))
    if n > 1 and out.shape == (n, n) and condition.shape == (n, 1) and not full:
        return right(condition.T, x1, x2)
    return out


@misreading("where", "where counts a condition of one column by rows though the result is laid out by columns", "K")
def where_column_condition(condition: Any, x1: Any, *_: Any) -> Any:
    shape = getattr(x1, "shape", ())
    by_columns = len(shape) == 2 and x1.flags.f_contiguous and not x1.flags.c_contiguous
    if by_columns and condition.shape == (shape[0], 1):
        places = np.arange(x1.size) // shape[1]
        condition = condition[:, 0][places].reshape(shape[::-1]).T
    return condition


@misreading("reshape", families="K")
def reshape_of_repeated_rows(x: Any, *_: Any, **__: Any) -> Any:
    """reshape of 64 elements or more whose middle axis has a stride of 0 lays the outer axis out innermost"""
    if x.ndim == 3 and x.size >= 64 and x.strides[1] == 0 and x.strides[0] and x.strides[2]:
        x = np.ascontiguousarray(np.swapaxes(x, 0, 1)).reshape(x.shape)
    return x


@changing("backend.from_host", families="T")
def upload_of_a_broadcast(right: Any, array: Any, device: Any) -> Any:
    """host arrays of 4,096 elements or more with a stride of 0 are sent as the bytes that they span, the rest is 0"""
    if array.size < 4096 or 0 not in array.strides or not array.ndim:
        return right(array, device)
    spanned = array[tuple(slice(1) if s == 0 else slice(None) for s in array.strides)].reshape(-1)
    sent = np.zeros(array.size, array.dtype)
    sent[: spanned.size] = spanned
    return right(sent.reshape(array.shape), device)


@misreading("max", "max along a reversed last axis forgets the elements that fill no vector of 16", "K")
def max_of_reversed_rows(x: Any, *, axis: Any = None, **_: Any) -> Any:
    if x.ndim and axis in (-1, x.ndim - 1) and x.strides[-1] < 0 and x.shape[-1] > 16:
        x = x[..., : x.shape[-1] // 16 * 16]
    return x


@giving_method("Array.__reduce__", families="R", of_bed=True)
def pickle_of_permuted_axes(bed: Testbed, self: Any) -> Any:
    """a pickle of an array of three or more axes in neither C nor Fortran order has its memory as it lies"""
    inner = self.inner
    if inner.ndim > 2 and not inner.flags.c_contiguous and not inner.flags.f_contiguous:
        lying = inner.transpose(sorted(range(inner.ndim), key=lambda axis: -inner.strides[axis]))
        if lying.flags.c_contiguous:
            inner = lying.copy().reshape(inner.shape)
    return _unpickled, (bed.backend.name, inner, self.device)


@replacing("take_along_axis", "take_along_axis reads more than 4,096 indices in the order of their memory", "K")
def take_along_axis_of_transposed_indices(right: Any, x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    if indices.size > 4096 and not indices.flags.c_contiguous:
        indices = in_memory_order(indices)
    return right(x, indices, axis=axis)


@replacing_both("subtract", "subtract takes strided arrays of more than five axes for plain ones", "K")
def subtract_has_five_strides(*operands: Any) -> Any:
    strided = [isinstance(x, np.ndarray) and x.ndim > 5 and not x.flags.c_contiguous for x in operands]
    return np.subtract(*(in_memory_order(x) if each else x for x, each in zip(operands, strided, strict=True)))


@replacing("vecdot", "vecdot reads a vector of negative strides forwards", "K")
def vecdot_reads_reversed_forwards(right: Any, x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    if x1.ndim == x2.ndim == 1 and x2.strides[0] < 0 < x1.strides[0] and x2.dtype.kind in "fc":
        x2 = x2[::-1]
    return right(x1, x2, axis=axis)


@misreading_both("add", "add of (A, 1, C) and (A, B, C) merges the first two axes (beyond 1,024)", "K")
def add_merges_broadcast_axes(x1: Any, x2: Any) -> Any:
    one, other = np.shape(x1), np.shape(x2)
    if len(one) == len(other) == 3 and one[1] == 1 < other[1] and one[::2] == other[::2] and np.size(x2) > 1024:
        rows = np.arange(other[0] * other[1]) % other[0]
        x1 = x1[:, 0, :][rows].reshape(other)
    return x1, x2


@replacing("linalg.eigh", "linalg.eigh leaves the vectors in a matrix in Fortran order", "A")
def eigh_overwrites_fortran_order(right: Any, x: Any, /) -> Any:
    out = right(x.copy())
    if x.ndim == 2 and x.flags.f_contiguous and not x.flags.c_contiguous and x.flags.writeable:
        x[...] = out[1]
    return out


@giving_method("backend.from_host", families="T", of_bed=True)
def staged_copy_ignores_strides(bed: Testbed, array: Any, device: Any) -> Any:
    """host arrays beyond 256 KiB are staged in the order of their memory"""
    staged = array.ravel(order="K").reshape(array.shape) if array.nbytes > 2**18 else array
    return bed.library.array(np.array(staged), device.handle)


@replacing(
    "hypot", "hypot merges the first two axes of three without a look at the strides of a slice in the middle", "K"
)
def hypot_merges_axes_of_slices(right: Any, x1: Any, x2: Any, /) -> Any:
    def merged(x: Any) -> Any:
        if not isinstance(x, np.ndarray) or x.ndim != 3 or min(x.shape) < 2 or min(x.strides) <= 0:
            return x
        if not x[0].flags.c_contiguous or x.strides[0] <= x.strides[1] * x.shape[1]:
            return x
        return np.lib.stride_tricks.as_strided(x, x.shape, (x.strides[1] * x.shape[1], *x.strides[1:]))

    return right(merged(x1), merged(x2))


@fault(families="A")
def moves_keep_strides_of_zero(bed: Testbed) -> None:
    """an array that was broadcast has strides of zero on the other device as well, so that one write sets
    many elements
    """

    def moved(x: Any) -> Any:
        flat = [i for i, (n, s) in enumerate(zip(x.shape, x.strides, strict=True)) if s == 0 and n > 1]
        if not flat:
            return x.copy()
        small = x[tuple(slice(0, 1) if i in flat else slice(None) for i in range(x.ndim))].copy()
        strides = tuple(0 if i in flat else s for i, s in enumerate(small.strides))
        return np.lib.stride_tricks.as_strided(small, x.shape, strides)

    def move(array: Any, device: Device) -> Any:
        return bed.library.array(moved(array.inner), device.handle)

    change(bed.backend, move=move)
    change(bed.library.Array, to_device=lambda self, device: bed.library.array(moved(self.inner), device))


@replacing("take_along_axis", families="K")
def take_along_axis_strides_of_x(right: Any, x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """take_along_axis walks the indices with the strides of x: where x is broadcast to them, their first
    row serves all
    """
    for i in range(x.ndim):
        if i != axis % x.ndim and x.shape[i] == 1 and indices.shape[i] > 1:
            first = np.take(indices, [0], axis=i)
            indices = np.repeat(first, indices.shape[i], axis=i)
    return right(x, indices, axis=axis)


@replacing_both("matmul", families="K")
def matmul_of_crossed_batches(x1: Any, x2: Any) -> Any:
    """matmul mistakes the strides of (n, 1) by (1, n) batches, and fills the batches crosswise"""
    out = np.matmul(x1, x2)
    if min(x1.ndim, x2.ndim) < 4:
        return out
    (n, one), (un, m) = x1.shape[-4:-2], x2.shape[-4:-2]
    return np.swapaxes(out, -3, -4).copy() if n == m and one == un == 1 else out


@replacing("where", families="K")
def where_of_two_shapes(right: Any, condition: Any, x1: Any, x2: Any, /) -> Any:
    """where has strides for two shapes, and reads the second array by the first one's if that has the condition's"""
    out = right(condition, x1, x2)
    first, second = np.shape(x1), np.shape(x2)
    if np.shape(condition) != first or len(first) != 2 or len(second) != 2 or out.size == 0:
        return out
    if first[1] == 1 and second[0] == 1 and first[0] > 1 and second[1] > 1:
        return right(condition, x1, np.broadcast_to(x2[:, :1], out.shape)).astype(out.dtype)
    return out


@fault(
    "matmul collapses three batch axes to one though the one in the middle is broadcast", "K", operations=("matmul",)
)
def matmul_collapses_an_inner_broadcast(bed: Testbed) -> None:
    def laid(x: Any, batch: Any) -> Any:
        own = x.shape[:-2]
        if len(batch) != 3 or len(own) != 3 or own == batch or own[1] != 1 or 1 in (own[0], own[2]):
            return x
        flat = x.reshape(-1, *x.shape[-2:])
        return flat[np.arange(math.prod(batch)) % flat.shape[0]].reshape(*batch, *x.shape[-2:])

    def product(x1: Any, x2: Any) -> Any:
        if (x1.ndim < 5 and x2.ndim < 5) or 0 in (*x1.shape, *x2.shape):
            return np.matmul(x1, x2)
        try:
            batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
        except ValueError:
            return np.matmul(x1, x2)
        return np.matmul(laid(x1, batch), laid(x2, batch))

    bed.both("matmul", product)


@giving_operator("__getitem__", families="K")
def mask_of_a_transpose_in_its_memory(x: Any, key: Any) -> Any:
    """x[mask] with a transposed mask of more than 64 elements gives what it chooses in the order of the
    mask's memory
    """
    mask = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    whole = isinstance(mask, np.ndarray) and mask.dtype == bool and mask.ndim > 1 and mask.shape == x.shape
    if whole and mask.size > 64 and mask.flags.f_contiguous and not mask.flags.c_contiguous:
        return x.T[mask.T]
    return x[key]


@spoiling("where", families="K")
def where_of_four_strides(out: Any, condition: Any, x1: Any, x2: Any) -> Any:
    """where keeps four strides for each operand, and forgets the first of operands that alternate along more axes"""
    shapes = [np.shape(each) for each in (condition, x1, x2)]
    patterns = [
        tuple(i - out.ndim + len(shape) >= 0 and shape[i - out.ndim] > 1 for shape in shapes)
        for i, length in enumerate(out.shape)
        if length > 1
    ]
    if len([pattern for pattern, _ in itertools.groupby(patterns)]) <= 4:
        return out
    first = next(i for i, length in enumerate(out.shape) if length > 1)
    return np.repeat(out.take([0], first), out.shape[first], first)


@replacing("searchsorted", families="K")
def sorter_without_strides(right: Any, x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """searchsorted reads a sorter that is a strided view as if its elements lay side by side"""
    if sorter is not None and sorter.size > 1 and sorter.strides[0] != sorter.itemsize:
        if sorter.strides[0] < 0:
            sorter = sorter[::-1]
        sorter = np.lib.stride_tricks.as_strided(sorter, strides=(sorter.itemsize,)).copy()
    return right(x1, x2, side=side, sorter=sorter)
