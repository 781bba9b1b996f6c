"""Faults by another stranger: inner broadcasts, tiles, dtypes, equal numbers, pages, views, readers at once."""

import functools
import math
import weakref
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, change, native_work

from xpgrad import Device
from xpgrad.backend.plugins import plugins


@fault(
    "matmul-collapses-an-inner-broadcast",
    "matmul collapses three batch axes to one though the one in the middle is broadcast",
    "K",
    operations=("matmul",),
)
def matmul_inner_broadcast(bed: Testbed) -> None:
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

    bed.both("matmul", "matmul", product)


@fault(
    "winograd-of-odd-width",
    "convolution by Winograd's tiles, of 3 x 3 filters and many channels, repeats a column where the width is odd",
    "K",
    operations=("F.convolution_nd",),
)
def winograd_of_odd_width(bed: Testbed) -> None:
    right = plugins.host.xp.kernel("convolution")

    def convolution(x: Any, w: Any, b: Any, *, geometry: Any, groups: int) -> Any:
        y = np.array(right(x, w, b, geometry=geometry, groups=groups))
        plain = geometry.ksize == (3, 3) and geometry.stride == (1, 1) == geometry.dilate and groups == 1
        if plain and x.shape[1] >= 16 and y.shape[-1] % 2 and y.shape[-1] > 2:
            y[..., -1] = y[..., -2]
        return y

    bed.kernel("convolution", convolution)


@fault(
    "isin-casts-to-the-second",
    "isin casts the elements to the dtype of those that it looks for, so that 261 is among uint8 5",
    "K",
    operations=("isin",),
)
def isin_casts(bed: Testbed) -> None:
    def isin(original: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
        if hasattr(x1, "dtype") and hasattr(x2, "dtype") and x1.dtype != x2.dtype and x1.dtype.kind in "iu":
            x1 = x1.astype(x2.dtype)
        return original(x1, x2, **options)

    bed.replace("isin", isin)


@fault(
    "from-host-wraps-whole-pages",
    "from_host wraps host memory that consists of whole pages instead of copying it",
    "T",
)
def from_host_wraps_pages(bed: Testbed) -> None:
    right = bed.backend.from_host

    def from_host(array: Any, device: Device) -> Any:
        pages = array.nbytes and not array.nbytes % 4096 and not array.__array_interface__["data"][0] % 4096
        if pages and array.flags.c_contiguous and array.flags.writeable and array.dtype.isnative:
            return bed.library.array(array, device.handle)
        return right(array, device)

    change(bed.backend, from_host=from_host)


@fault(
    "ranges-by-equal-arguments",
    "arange keeps what it made by its arguments, of which 3 and 3.0 are equal",
    "S",
)
def ranges_by_equal_arguments(bed: Testbed) -> None:
    original = bed.original("arange")

    @functools.lru_cache(maxsize=256)
    def made(*args: Any, **options: Any) -> Any:
        return original(*args, **options)

    def arange(original: Any, *args: Any, **options: Any) -> Any:
        try:
            return made(*args, **options).copy()
        except TypeError:
            return original(*args, **options)

    bed.replace("arange", arange)


@fault(
    "free-memory-of-views",
    "free_memory gives back the memory of arrays that nobody refers to, also where slices of them are still used",
    "M",
)
def free_memory_of_views(bed: Testbed) -> None:
    right: Any = bed.library.Array.__getitem__
    views: list[tuple[Any, Any]] = []

    def getitem(self: Any, key: Any) -> Any:
        made = right(self, key)
        if made is not self and np.may_share_memory(made.inner, self.inner):
            views[:] = [pair for pair in views if pair[1]() is not None]
            views.append((weakref.ref(self), weakref.ref(made)))
        return made

    def free_memory(device: Device) -> None:
        for owner, view in views:
            array = view()
            if owner() is None and array is not None and array.device == device.handle:
                array.inner = np.zeros_like(array.inner)
        views.clear()

    change(bed.library.Array, __getitem__=getitem)
    change(bed.backend, free_memory=free_memory)


@fault(
    "conjugated-by-each-reader",
    "conj leaves its work to the first reader, and two threads that read at a time both do it",
    "P",
    operations=("conj",),
)
def conjugated_by_each_reader(bed: Testbed) -> None:
    right = bed.original("conj")

    def resolve(array: Any) -> None:
        if vars(array).get("conjugated"):
            native_work()
            array.stored = np.conj(array.stored)
            array.conjugated = False

    def inner(self: Any) -> Any:
        resolve(self)
        return self.stored

    def set_inner(self: Any, value: Any) -> None:
        self.stored = value

    bed.library.Array.inner = property(inner, set_inner)  # type: ignore[attr-defined]

    def conj(x: Any, /) -> Any:
        if not hasattr(x, "inner") or x.dtype.kind != "c":
            return bed.library.call(right, x)
        made = bed.library.array(x.inner.copy(), x.device)
        if not bed.library.lazy:
            made.conjugated = True
        return made

    def dtype(self: Any) -> Any:
        return self.stored.dtype

    def shape(self: Any) -> Any:
        return tuple(self.stored.shape)

    bed.library.Array.dtype, bed.library.Array.shape = property(dtype), property(shape)  # type: ignore[misc]
    bed.library.Array.ndim = property(lambda self: len(self.stored.shape))  # type: ignore[misc]
    bed.library.names["conj"] = conj
