"""Faults by a stranger that the quick profile let pass: alternating axes, layouts, large numbers, many threads."""

import itertools
import sys
import threading
import weakref
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, native_work

from xpgrad.backend.plugins import plugins

GRID_LIMIT = 65535


@fault(
    "det-beyond-the-grid",
    "det of more than 65,535 matrices gives 0 for those that no block of the grid computes",
    "K",
    operations=("linalg.det",),
)
def det_beyond_the_grid(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = np.asarray(original(x))
        if out.size > GRID_LIMIT:
            out = out.copy()
            out.reshape(-1)[GRID_LIMIT:] = 0
        return out

    bed.replace("linalg.det", wrong)


@fault(
    "where-of-four-strides",
    "where keeps four strides for each operand, and forgets the first of operands that alternate along more axes",
    "K",
    operations=("where",),
)
def where_of_four_strides(bed: Testbed) -> None:
    def wrong(original: Any, condition: Any, x1: Any, x2: Any, /) -> Any:
        out = original(condition, x1, x2)
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

    bed.replace("where", wrong)


@fault(
    "sorter-without-strides",
    "searchsorted reads a sorter that is a strided view as if its elements lay side by side",
    "K",
    operations=("searchsorted",),
)
def sorter_without_strides(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
        if sorter is not None and sorter.size > 1 and sorter.strides[0] != sorter.itemsize:
            if sorter.strides[0] < 0:
                sorter = sorter[::-1]
            sorter = np.lib.stride_tricks.as_strided(sorter, strides=(sorter.itemsize,)).copy()
        return original(x1, x2, side=side, sorter=sorter)

    bed.replace("searchsorted", wrong)


@fault(
    "scalars-of-63-bits",
    "a Python integer next to an array of uint64 is refused from 2**63 on",
    "K",
    operations=("add",),
)
def scalars_of_63_bits(bed: Testbed) -> None:
    def add(x1: Any, x2: Any) -> Any:
        if any(type(x) is int and x >= 2**63 for x in (x1, x2)):
            raise OverflowError("Python integer is too large to convert to C long")
        return np.add(x1, x2)

    bed.both("add", "add", add)


@fault(
    "isin-beside-nan",
    "isin sorts the second array such that NaN stops the order, and finds nothing of what stood behind it",
    "K",
    operations=("isin",),
)
def isin_beside_nan(bed: Testbed) -> None:
    def wrong(original: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
        flat = np.asarray(x2).reshape(-1)
        places = np.flatnonzero(np.isnan(flat)) if flat.dtype.kind == "f" else ()
        return original(x1, flat[: places[0]] if len(places) else x2, **options)

    bed.replace("isin", wrong)


@fault(
    "all-of-real-parts",
    "all takes complex numbers whose real part is 0 for zero",
    "K",
    operations=("all",),
)
def all_of_real_parts(bed: Testbed) -> None:
    bed.replace("all", lambda original, x, /, **options: original(x.real if x.dtype.kind == "c" else x, **options))


@fault(
    "take-by-signed-bytes",
    "take reads indices of uint8 as signed bytes, so that those from 128 on count from the end",
    "K",
    operations=("take",),
)
def take_by_signed_bytes(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, indices: Any, /, *, axis: Any = None) -> Any:
        if indices.dtype == np.uint8:
            length = x.shape[0 if axis is None else axis]
            indices = indices.astype(np.int8).astype(np.int64) % max(length, 1)
        return original(x, indices, axis=axis)

    bed.replace("take", wrong)


@fault(
    "convolution-plan-by-shapes",
    "convolution keeps its plans by the shapes of arrays, which another padding and dilation may share",
    "S",
    operations=("F.convolution_nd",),
)
def convolution_plan_by_shapes(bed: Testbed) -> None:
    plans: dict[Any, Any] = {}
    right = plugins.host.xp.kernel("convolution")

    def convolution(x: Any, w: Any, b: Any, /, *, geometry: Any, groups: int) -> Any:
        key = x.shape, w.shape, geometry.stride, geometry.out, groups, x.dtype
        return right(x, w, b, geometry=plans.setdefault(key, geometry), groups=groups)

    bed.kernel("convolution", convolution)


@fault(
    "parts-do-not-keep-their-memory",
    "real and imag do not keep the memory of a complex product, which the next product of this shape is written to",
    "S",
    operations=("multiply", "real", "imag"),
)
def parts_do_not_keep_their_memory(bed: Testbed) -> None:
    pool: list[Any] = []
    parts: dict[int, list[Any]] = {}
    lock = threading.Lock()

    def multiply(x1: Any, x2: Any) -> Any:
        out = np.asarray(np.multiply(x1, x2))
        if out.dtype != np.complex128 or out.size < 64:
            return out
        with lock:
            for i in range(len(pool)):
                alive = [part for part in parts.get(id(pool[i]), ()) if part() is not None]
                if sys.getrefcount(pool[i]) - len(alive) <= 2 and pool[i].shape == out.shape:
                    pool[i][...] = out
                    return pool[i]
            if len(pool) < 64:
                out = np.array(out, order="C")
                pool.append(out)
            return out

    def part_of(original: Any, x: Any, /) -> Any:
        out = original(x)
        if isinstance(out, np.ndarray) and any(out.base is each for each in pool):
            parts.setdefault(id(out.base), []).append(weakref.ref(out))
        return out

    bed.both("multiply", "mul", multiply)
    bed.replace("real", part_of)
    bed.replace("imag", part_of)


@fault(
    "buffers-for-eight-threads",
    "tensordot has buffers for eight threads; those beyond share the last one",
    "P",
    operations=("tensordot",),
)
def buffers_for_eight_threads(bed: Testbed) -> None:
    free, buffers = list(range(8)), [None] * 8

    def wrong(original: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
        out: Any = np.asarray(original(x1, x2, **options))
        try:
            slot, own = free.pop(), True
        except IndexError:
            slot, own = 0, False
        buffers[slot] = out
        native_work(0.005)
        found: Any = buffers[slot]
        if own:
            free.append(slot)
        return found.copy() if found.shape == out.shape and found.dtype == out.dtype else out

    bed.replace("tensordot", wrong)
