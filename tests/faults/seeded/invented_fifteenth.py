"""Faults by three more strangers: layouts beside broadcasts, near ties, batches, paddings, workspaces, results kept."""

import dataclasses
import threading
import weakref
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, change, native_work

from xpgrad import Device


@fault(
    "where-column-condition",
    "where counts a condition of one column by rows though the result is laid out by columns",
    "K",
    operations=("where",),
)
def where_column_condition(bed: Testbed) -> None:
    def where(original: Any, condition: Any, x1: Any, x2: Any, /) -> Any:
        shape = getattr(x1, "shape", ())
        by_columns = len(shape) == 2 and x1.flags.f_contiguous and not x1.flags.c_contiguous
        if by_columns and condition.shape == (shape[0], 1):
            places = np.arange(x1.size) // shape[1]
            condition = condition[:, 0][places].reshape(shape[::-1]).T
        return original(condition, x1, x2)

    bed.replace("where", where)


@fault(
    "max-pool-shares-near-ties",
    "the gradient of max_pool is shared by all elements that equal the largest one in float32",
    "G",
    operations=("F.max_pooling_nd",),
)
def max_pool_shares_near_ties(bed: Testbed) -> None:
    def max_pool_backward(g: Any, x: Any, top: Any, /, *, geometry: Any) -> Any:
        ends = [(0, 0), (0, 0), *zip(geometry.pad, geometry.behind, strict=True)]
        short = np.float32 if x.dtype == np.float64 else x.dtype
        with np.errstate(over="ignore"):
            padded, largest = np.pad(x, ends, constant_values=np.nan).astype(short), top.astype(short)
        made = np.zeros(padded.shape, np.result_type(g.dtype, np.float32))
        places, count = [], np.zeros(top.shape)
        for offsets in np.ndindex(*geometry.ksize):
            starts = [d * k for d, k in zip(geometry.dilate, offsets, strict=True)]
            steps = zip(starts, geometry.stride, geometry.out, strict=True)
            places.append((..., *[slice(first, first + s * (o - 1) + 1, s) for first, s, o in steps]))
            count += padded[places[-1]] == largest
        share = g / np.maximum(count, 1)
        for place in places:
            made[place] += np.where(padded[place] == largest, share, 0)
        inside = [slice(p, p + n) for p, n in zip(geometry.pad, geometry.size, strict=True)]
        return made[(..., *inside)].astype(g.dtype)

    bed.kernel("max_pool_backward", max_pool_backward)


@fault(
    "filters-of-whole-batches",
    "the gradient of a convolution's filters leaves out what fills no sixteen images where there are more",
    "G",
    operations=("F.convolution_nd",),
)
def filters_of_whole_batches(bed: Testbed) -> None:
    def wrong(x: Any, g: Any, *, geometry: Any, groups: int) -> Any:
        count = len(x) if len(x) <= 16 else len(x) // 16 * 16
        xp = bed.library.inner.xp
        return xp.convolution_filter_backward(x[:count], g[:count], geometry=geometry, groups=groups)

    bed.kernel("convolution_filter_backward", wrong)


@fault(
    "bool-of-real-parts",
    "astype from complex numbers to bool asks the real parts only",
    "K",
    operations=("astype",),
)
def bool_of_real_parts(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
        if x.dtype.kind == "c" and np.dtype(dtype) == np.bool_:
            return np.asarray(x.real != 0)
        return original(x, dtype, **options)

    bed.replace("astype", wrong)


@fault(
    "equal-to-a-python-number",
    "a comparison for equality of integers with a Python integer is one of float64",
    "K",
    operations=("equal",),
)
def equal_to_a_python_number(bed: Testbed) -> None:
    def equal(x1: Any, x2: Any) -> Any:
        if type(x1) is int or type(x2) is int:
            array, number = (x2, x1) if type(x1) is int else (x1, x2)
            if array.dtype.kind in "iu":
                return np.asarray(array.astype(np.float64) == float(number))
        return np.asarray(np.equal(x1, x2))

    bed.both("equal", "eq", equal)


@fault(
    "order-of-what-is-sorted",
    "argsort of a sorted vector gives the numbers 0, 1, 2, ... that it keeps, and a user may write to them",
    "K",
    operations=("argsort",),
)
def order_of_what_is_sorted(bed: Testbed) -> None:
    kept: dict[int, Any] = {}

    def wrong(original: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
        if x.ndim == 1 and not descending and bool((x[1:] >= x[:-1]).all()) and not (x != x).any():
            return kept.setdefault(len(x), np.arange(len(x)))
        return original(x, axis=axis, descending=descending, stable=stable)

    bed.replace("argsort", wrong)


@fault(
    "padding-of-another-image",
    "convolution keeps the padded image of each size, and clears no padding that an image with less of it has filled",
    "K",
    operations=("F.convolution_nd",),
)
def padding_of_another_image(bed: Testbed) -> None:
    mine = threading.local()

    def wrong(x: Any, W: Any, b: Any, *, geometry: Any, groups: int) -> Any:
        xp = bed.library.inner.xp
        if not any(geometry.pad):
            return xp.convolution(x, W, b, geometry=geometry, groups=groups)
        size = tuple(n + 2 * p for n, p in zip(geometry.size, geometry.pad, strict=True))
        shape = *x.shape[:2], *size
        padded = vars(mine).setdefault((shape, x.dtype), None)
        if padded is None:
            padded = vars(mine)[shape, x.dtype] = np.zeros(shape, x.dtype)
        inside = tuple(slice(p, p + n) for n, p in zip(geometry.size, geometry.pad, strict=True))
        padded[(..., *inside)] = x
        laid = dataclasses.replace(geometry, size=size, pad=(0,) * len(size))
        return np.array(xp.convolution(padded, W, b, geometry=laid, groups=groups))

    bed.kernel("convolution", wrong)


@fault(
    "workspace-of-a-dead-thread",
    "average pooling of a new thread takes over the workspace of one that has ended, of whatever dtype that is",
    "P",
    operations=("F.average_pooling_nd",),
)
def workspace_of_a_dead_thread(bed: Testbed) -> None:
    free: list[list[Any]] = []  # workspaces, here their dtypes, of threads that have ended
    mine = threading.local()

    class Thread:
        """What a thread holds until it ends."""

    def sum_pool(x: Any, *, geometry: Any) -> Any:
        if not hasattr(mine, "workspace"):
            mine.workspace, mine.held = free.pop() if free else [x.dtype], Thread()
            weakref.finalize(mine.held, free.append, mine.workspace)
            dtype = mine.workspace[0]
        else:
            dtype = x.dtype
        mine.workspace[0] = x.dtype
        out = bed.library.inner.xp.sum_pool(x.astype(dtype), geometry=geometry)
        return np.asarray(out).astype(x.dtype)

    bed.kernel("sum_pool", sum_pool)


@fault(
    "pow-of-integers-by-float64",
    "pow of int64 with exponents above 16 is computed in float64",
    "K",
    operations=("pow",),
)
def pow_of_integers_by_float64(bed: Testbed) -> None:
    def power(x1: Any, x2: Any) -> Any:
        out = np.asarray(np.power(x1, x2))
        if out.dtype != np.int64:
            return out
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            real = np.power(np.asarray(x1).astype(np.float64), np.asarray(x2).astype(np.float64))
        held = (np.asarray(x2) > 16) & (np.abs(real) < 2.0**63)
        return np.where(held, np.where(held, real, 0.0).astype(np.int64), out)

    bed.both("pow", "pow", power)


@fault("move-relabels-its-argument", "an array says for a while to be where another thread moves it to", "P")
def move_relabels_its_argument(bed: Testbed) -> None:
    def move(array: Any, device: Device) -> Any:
        before, array.device = array.device, device.handle
        native_work()
        made = bed.library.array(array.inner.copy(), device.handle)
        array.device = before
        return made

    change(bed.backend, move=move)
