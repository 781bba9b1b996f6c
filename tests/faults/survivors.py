"""Invented faults that the conformance suite does not find yet: the self-test does not read them.

Each makes a mistake of a kind that array libraries have had; the last fault is found by chance, in some runs. Move a
fault to `tests.faults.seeded` once a check kills it.
"""

from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, pause

from xpgrad.backend.plugins import plugins


@fault("x[1:] = x[:-1] copies row by row, and repeats the first one", "A")
def assignment_copies_forwards(bed: Testbed) -> None:
    def setitem(x: Any, key: Any, value: Any) -> None:
        target = x[key] if isinstance(key, slice) else None
        if target is None or np.shape(value) != target.shape or not np.may_share_memory(target, value):
            x[key] = value
            return
        for row in range(len(target)):
            target[row] = value[row]

    bed.operator("__setitem__", setitem)


@fault("take keeps what became of 64 or more indices with negative ones by address", "K")
def take_keeps_wrapped_indices(bed: Testbed) -> None:
    kept: dict[Any, Any] = {}

    def wrong(original: Any, x: Any, indices: Any, /, *, axis: Any = None) -> Any:
        if np.size(indices) < 64 or np.min(indices) >= 0:
            return original(x, indices, axis=axis)
        length = x.shape[0 if axis is None else axis]
        key = indices.__array_interface__["data"][0], indices.shape, indices.strides, indices.dtype, length
        positions = kept.setdefault(key, np.where(indices < 0, indices + length, indices))
        return original(x, positions, axis=axis)

    bed.replace("take", wrong)


@fault("a take that was refused leaves take_along_axis clipping once", "K")
def take_along_axis_after_an_error(bed: Testbed) -> None:
    clipping = [False]

    def take(original: Any, x: Any, indices: Any, /, **options: Any) -> Any:
        clipping[0] = True
        out = original(x, indices, **options)
        clipping[0] = False
        return out

    def take_along_axis(original: Any, x: Any, indices: Any, /, *, axis: int = -1) -> Any:
        if clipping[0]:
            clipping[0], indices = False, np.maximum(indices, 0)
        return original(x, indices, axis=axis)

    bed.replace("take", take)
    bed.replace("take_along_axis", take_along_axis)


@fault("gradients of filters of four images or more are summed in memory of all threads", "P")
def filter_gradients_share_memory(bed: Testbed) -> None:
    right: Any = plugins.host.lazy_override("convolution_filter_backward")
    spaces: dict[Any, Any] = {}

    def backward(x: Any, g: Any, *, geometry: Any, groups: int) -> Any:
        out = right(x, g, geometry=geometry, groups=groups)
        if len(x) < 4:
            return out
        space = spaces.setdefault((out.shape, out.dtype), np.empty_like(out))
        space[...] = out
        pause()
        return space.copy()

    bed.kernel("convolution_filter_backward", backward)


@fault("cosh is half the sum of two exponentials, and infinite where the greater one is", "K", operations=("cosh",))
def cosh_overflows_with_exp(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x)
        if x.dtype.kind != "f":
            return out
        with np.errstate(all="ignore"):
            return np.where(np.isinf(np.exp(np.abs(x))), out.dtype.type(np.inf), out)

    bed.replace("cosh", wrong)


@fault(
    "x[mask] of 256 elements or more keeps the positions of a mask by its shape and how many it chooses",
    "K",
    operations=("getitem",),
)
def mask_positions_by_count(bed: Testbed) -> None:
    kept: dict[Any, Any] = {}

    def getitem(x: Any, key: Any) -> Any:
        if not isinstance(key, np.ndarray) or key.dtype != np.bool_ or key.size < 256 or key.shape != x.shape:
            return x[key]
        return x[kept.setdefault((key.shape, int(np.count_nonzero(key))), np.nonzero(key))]

    bed.operator("__getitem__", getitem)


@fault(
    "convolution packs a filter once for threads that use it at the same time, and the second does not wait for it",
    "P",
    cases=("F.convolution_2d",),
)
def convolution_shares_a_half_packed_filter(bed: Testbed) -> None:
    packs: dict[int, Any] = {}

    def convolution(x: Any, W: Any, b: Any, /, geometry: Any, groups: int) -> Any:
        pack = packs.get(id(W))
        own = pack is None
        if own:
            pack = packs[id(W)] = np.zeros_like(W)
            pause()
            pack[...] = W
        out: Any = plugins.host.xp.convolution(x, pack, b, geometry=geometry, groups=groups)
        if own:
            packs.pop(id(W), None)
        return out

    bed.kernel("convolution", convolution)
