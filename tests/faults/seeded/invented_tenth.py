"""Faults by a tenth stranger that the quick profile let pass: broadcasts, tiles, lanes, copies that are shared."""

from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, change

from xpgrad import Device
from xpgrad.backend.plugins import plugins
from xpgrad_conformance.pretend import PretendArray


@fault(
    "bitonic-sort-pads-with-infinity",
    "sort of 17 to 1,024 elements pads them with infinity to a power of two, and NaNs come behind these",
    "K",
    operations=("sort",),
)
def bitonic_sort_pads_with_infinity(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
        out = original(x, axis=axis, descending=descending, stable=stable)
        count = x.shape[axis] if x.ndim else 0
        pads = (1 << max(count - 1, 0).bit_length()) - count
        if x.dtype.kind != "f" or descending or not 16 < count <= 1024 or not pads:
            return out
        more = list(x.shape)
        more[axis] = pads
        padded = np.concatenate([x, np.full(more, np.inf, x.dtype)], axis=axis)
        return np.take(original(padded, axis=axis), range(count), axis=axis)

    bed.replace("sort", wrong)


@fault(
    "matmul-of-crossed-batches",
    "matmul mistakes the strides of (n, 1) by (1, n) batches, and fills the batches crosswise",
    "K",
    operations=("matmul",),
)
def matmul_of_crossed_batches(bed: Testbed) -> None:
    def product(x1: Any, x2: Any) -> Any:
        out = np.matmul(x1, x2)
        if min(x1.ndim, x2.ndim) < 4:
            return out
        (n, one), (un, m) = x1.shape[-4:-2], x2.shape[-4:-2]
        return np.swapaxes(out, -3, -4).copy() if n == m and one == un == 1 else out

    bed.both("matmul", "matmul", product)


@fault(
    "argmax-of-bytes-in-lanes",
    "argmax of 8-bit integers keeps the number of a step in 8 bits, so that positions begin again at 4,096",
    "K",
    operations=("argmax",),
)
def argmax_of_bytes_in_lanes(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        out = original(x, **options)
        return out % 4096 if x.dtype.itemsize == 1 and x.dtype.kind in "iu" else out

    bed.replace("argmax", wrong)


@fault(
    "where-of-two-shapes",
    "where has strides for two shapes, and reads the second array by the first one's if that has the condition's",
    "K",
    operations=("where",),
)
def where_of_two_shapes(bed: Testbed) -> None:
    def wrong(original: Any, condition: Any, x1: Any, x2: Any, /) -> Any:
        out = original(condition, x1, x2)
        first, second = np.shape(x1), np.shape(x2)
        if np.shape(condition) != first or len(first) != 2 or len(second) != 2 or out.size == 0:
            return out
        if first[1] == 1 and second[0] == 1 and first[0] > 1 and second[1] > 1:
            return original(condition, x1, np.broadcast_to(x2[:, :1], out.shape)).astype(out.dtype)
        return out

    bed.replace("where", wrong)


@fault(
    "winograd-by-fours",
    "convolution with 3 x 3 filters and 8 or more channels makes tiles of 4 rows, and none for one last row",
    "K",
    operations=("F.convolution_nd",),
)
def winograd_by_fours(bed: Testbed) -> None:
    right = plugins.host.xp.kernel("convolution")

    def convolution(x: Any, W: Any, b: Any, *, geometry: Any, groups: int) -> Any:
        y = np.array(right(x, W, b, geometry=geometry, groups=groups))
        plain = set(geometry.stride) == set(geometry.dilate) == {1} and geometry.ksize == (3, 3)
        if plain and groups == 1 and x.shape[1] >= 8 and geometry.out[0] > 4 and geometry.out[0] % 4 == 1:
            y[:, :, -1] = 0 if b is None else b[:, None]
        return y

    bed.kernel("convolution", convolution)


@fault("dlpack-never-copies", "an export by DLPack with copy=True shares memory with the array", "X")
def dlpack_never_copies(bed: Testbed) -> None:
    def dlpack(self: Any, *, copy: Any = None, **options: Any) -> Any:
        return PretendArray.__dlpack__(self, **options)

    change(bed.library.Array, __dlpack__=dlpack)


@fault(
    "replicas-of-devices",
    "an array keeps its copy on another device until it is written to, and gives that memory to all who ask",
    "A",
)
def replicas_of_devices(bed: Testbed) -> None:
    def moved(array: Any, handle: Any) -> Any:
        held = array.__dict__.setdefault("replicas", {})
        if handle not in held:
            held[handle] = array.inner.copy()
        return bed.library.array(held[handle], handle)

    def setitem(self: Any, key: Any, value: Any) -> None:
        self.__dict__.pop("replicas", None)
        PretendArray.__setitem__(self, key, value)

    def move(array: Any, device: Device) -> Any:
        return moved(array, device.handle)

    change(bed.backend, move=move)
    change(bed.library.Array, to_device=moved, __setitem__=setitem)
