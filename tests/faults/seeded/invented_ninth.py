"""Faults by a ninth stranger that the quick profile let pass: strides of slices and of moved arrays, waiting."""

import itertools
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, change, native_work

from xpgrad import Device
from xpgrad.backend.plugins import plugins


@fault(
    "searchsorted-sixteen-halvings",
    "searchsorted halves sixteen times, which is too few for more than 65,536 sorted numbers",
    "K",
    operations=("searchsorted",),
)
def searchsorted_sixteen_halvings(bed: Testbed) -> None:
    def searchsorted(original: Any, x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
        out = original(x1, x2, side=side, sorter=sorter)
        if x1.shape[0] <= 65536:
            return out
        known = x1 if sorter is None else np.take(x1, sorter)
        x2 = np.asarray(x2)
        low, high = np.zeros(x2.shape, np.int64), np.full(x2.shape, known.shape[0])
        for _ in range(16):
            middle = (low + high) // 2
            value = known[np.minimum(middle, known.shape[0] - 1)]
            right = value < x2 if side == "left" else value <= x2
            low, high = np.where(right, middle + 1, low), np.where(right, high, middle)
        return low.astype(np.asarray(out).dtype)

    bed.replace("searchsorted", searchsorted)


@fault(
    "winograd-tail-reads-short",
    "convolution by tiles of four columns reads zero for the last column of the image if three columns are left over",
    "K",
    operations=("F.convolution_nd",),
)
def winograd_tail_reads_short(bed: Testbed) -> None:
    right = plugins.host.xp.kernel("convolution")

    def convolution(x: Any, weight: Any, b: Any, geometry: Any, groups: int) -> Any:
        g = geometry
        tiled = g.ksize == (3, 3) and g.stride == g.dilate == (1, 1) and g.pad == (0, 0)
        if tiled and g.out[1] > 16 and g.out[1] % 4 == 3:
            x = x.copy()
            x[..., -1] = 0
        return right(x, weight, b, geometry=g, groups=groups)

    bed.kernel("convolution", convolution)


@fault(
    "matrix-rank-of-an-absolute-size",
    "matrix_rank compares singular values with a tolerance that does not depend on the largest of them",
    "K",
    operations=("linalg.matrix_rank",),
)
def matrix_rank_of_an_absolute_size(bed: Testbed) -> None:
    def matrix_rank(original: Any, x: Any, /, *, rtol: Any = None) -> Any:
        if rtol is not None or min(x.shape[-2:]) == 0:
            return original(x) if rtol is None else original(x, rtol=rtol)
        values = np.linalg.svd(x, compute_uv=False)
        return np.count_nonzero(values > max(x.shape[-2:]) * np.finfo(values.dtype).eps, axis=-1)

    bed.replace("linalg.matrix_rank", matrix_rank)


@fault(
    "hypot-merges-axes-of-slices",
    "hypot merges the first two axes of three without a look at the strides of a slice in the middle",
    "K",
    operations=("hypot",),
)
def hypot_merges_axes_of_slices(bed: Testbed) -> None:
    def merged(x: Any) -> Any:
        if not isinstance(x, np.ndarray) or x.ndim != 3 or min(x.shape) < 2 or min(x.strides) <= 0:
            return x
        if not x[0].flags.c_contiguous or x.strides[0] <= x.strides[1] * x.shape[1]:
            return x
        return np.lib.stride_tricks.as_strided(x, x.shape, (x.strides[1] * x.shape[1], *x.strides[1:]))

    bed.replace("hypot", lambda original, x1, x2, /: original(merged(x1), merged(x2)))


@fault(
    "moves-keep-strides-of-zero",
    "an array that was broadcast has strides of zero on the other device as well, so that one write sets many elements",
    "A",
)
def moves_keep_strides_of_zero(bed: Testbed) -> None:
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


@fault(
    "work-that-grows-while-it-is-awaited",
    "synchronize walks through the table of unfinished moves, which raises if another thread adds one",
    "P",
)
def work_that_grows_while_it_is_awaited(bed: Testbed) -> None:
    pending: dict[int, str] = {}
    numbers = itertools.count()
    right, wait = bed.backend.from_host, bed.backend.synchronize

    def from_host(array: Any, device: Device) -> Any:
        pending[next(numbers)] = device.handle
        return right(array, device)

    def synchronize(device: Device) -> None:
        done = []
        for i, (number, handle) in enumerate(pending.items()):
            if i < 4:
                native_work()
            if handle == device.handle:
                done.append(number)
        for number in done:
            pending.pop(number, None)
        wait(device)

    change(bed.backend, from_host=from_host, synchronize=synchronize)
