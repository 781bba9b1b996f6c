"""Invented faults that the conformance suite does not find yet: the self-test does not read them.

Each makes a mistake of a kind that array libraries have had; the last fault is found by chance, in some runs. Move a
fault to `tests.faults.seeded` once a check kills it.
"""

from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_kernel, giving_operator, replacing
from tests.faults.testbed import Testbed, pause, staged

from xpgrad.backend.plugins import plugins


@giving_operator("__setitem__", "x[1:] = x[:-1] copies row by row, and repeats the first one", "A")
def assignment_copies_forwards(x: Any, key: Any, value: Any) -> None:
    target = x[key] if isinstance(key, slice) else None
    if target is None or np.shape(value) != target.shape or not np.may_share_memory(target, value):
        x[key] = value
        return
    for row in range(len(target)):
        target[row] = value[row]


@replacing("take", "take keeps what became of 64 or more indices with negative ones by address", "K", memory=dict)
def take_keeps_wrapped_indices(kept: dict[Any, Any], right: Any, x: Any, indices: Any, /, *, axis: Any = None) -> Any:
    if np.size(indices) < 64 or np.min(indices) >= 0:
        return right(x, indices, axis=axis)
    length = x.shape[0 if axis is None else axis]
    key = indices.__array_interface__["data"][0], indices.shape, indices.strides, indices.dtype, length
    positions = kept.setdefault(key, np.where(indices < 0, indices + length, indices))
    return right(x, positions, axis=axis)


@fault("a take that was refused leaves take_along_axis clipping once", "K")
def take_along_axis_after_an_error(bed: Testbed) -> None:
    clipping = [False]

    def take(right: Any, x: Any, indices: Any, /, **options: Any) -> Any:
        clipping[0] = True
        out = right(x, indices, **options)
        clipping[0] = False
        return out

    def take_along_axis(right: Any, x: Any, indices: Any, /, *, axis: int = -1) -> Any:
        if clipping[0]:
            clipping[0], indices = False, np.maximum(indices, 0)
        return right(x, indices, axis=axis)

    bed.replace("take", take)
    bed.replace("take_along_axis", take_along_axis)


@giving_kernel("convolution_filter_backward", families="P", memory=dict)
def filter_gradients_share_memory(spaces: dict[Any, Any], x: Any, g: Any, *, geometry: Any, groups: int) -> Any:
    """gradients of filters of four images or more are summed in memory of all threads"""
    right: Any = plugins.host.lazy_override("convolution_filter_backward")
    out = right(x, g, geometry=geometry, groups=groups)
    if len(x) < 4:
        return out
    space = staged(spaces, out)
    pause()
    return space.copy()


@replacing("cosh", "cosh is half the sum of two exponentials, and infinite where the greater one is", "K")
def cosh_overflows_with_exp(right: Any, x: Any, /) -> Any:
    out = right(x)
    return np.where(np.isinf(np.exp(np.abs(x))), out.dtype.type(np.inf), out) if x.dtype.kind == "f" else out


@giving_operator("__getitem__", families="K", memory=dict)
def mask_positions_by_count(kept: dict[Any, Any], x: Any, key: Any) -> Any:
    """x[mask] of 256 elements or more keeps the positions of a mask by its shape and how many it chooses"""
    if not isinstance(key, np.ndarray) or key.dtype != np.bool_ or key.size < 256 or key.shape != x.shape:
        return x[key]
    return x[kept.setdefault((key.shape, int(np.count_nonzero(key))), np.nonzero(key))]


@giving_kernel("convolution", families="P", cases=("F.convolution_2d",), memory=dict)
def convolution_shares_a_half_packed_filter(
    packs: dict[int, Any], x: Any, W: Any, b: Any, /, geometry: Any, groups: int
) -> Any:
    """convolution packs a filter once for threads that use it at the same time, and the second does not wait for it"""
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
