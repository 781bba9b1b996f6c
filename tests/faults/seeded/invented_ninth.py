"""Faults by a ninth stranger that the quick profile let pass: strides of slices and of moved arrays, waiting."""

import itertools
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, change, native_work

from xpgrad import Device


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
