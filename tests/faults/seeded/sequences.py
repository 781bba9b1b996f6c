"""Faults that show in sequences of calls and in transfers: caches, buffers, state after errors, layouts of the host."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import (
    changing,
    fault,
    giving_method,
    misreading_both,
    planted_by,
    replacing,
    replacing_both,
    scattering,
    spoiling,
    spoiling_both,
)
from tests.faults.testbed import Testbed, change

from xpgrad import Device

MEBIBYTE = 2**20


def _from_host(bed: Testbed, values: Callable[[Any], Any]) -> None:
    """Let transfers from the host return ``values(x)``, or the right values if that is None."""
    right = bed.backend.from_host

    def from_host(array: Any, device: Device) -> Any:
        made = values(array)
        return right(array, device) if made is None else bed.library.array(made, device.handle)

    change(bed.backend, from_host=from_host)


@replacing_both("matmul", "a matmul that refused its shapes leaves the next one in float32", "S", memory=lambda: [True])
def matmul_after_an_error(reset: Any, x1: Any, x2: Any) -> Any:
    try:
        out = np.matmul(x1, x2)
    except ValueError:
        reset[0] = False
        raise
    if not reset[0] and out.dtype == np.float64:
        reset[0] = True
        out = np.matmul(x1.astype(np.float32), x2.astype(np.float32)).astype(np.float64)
    return out


@spoiling_both("multiply", families="S", memory=lambda: (np.empty((512, 64)), itertools.count()))
def products_in_a_ring(memory: Any, out: Any, *_: Any) -> Any:
    """small products lie in a ring of 512 buffers, whoever still uses them"""
    ring, calls = memory
    if out.dtype != np.float64 or not 0 < out.size <= 64:
        return out
    made = ring[next(calls) % 512, : out.size].reshape(out.shape)
    made[...] = out
    return made


@misreading_both("matmul", families="S", memory=lambda: [None, None, None])
def matmul_keeps_its_packing(packed: list[Any], x1: Any, x2: Any) -> Any:
    """matmul packs a large second matrix once, and does not see that it was written to"""
    if x2.ndim != 2 or x2.size < 256:
        return x1, x2
    where = x2.__array_interface__["data"], x2.shape, x2.strides, x2.dtype
    if packed[0] != where:
        packed[:] = where, x2, x2.copy()
    return x1, packed[2]


@changing("backend.to_host", "to_host of more than 8 MiB leaves out what fills no MiB", "T")
def to_host_after_eight_mebibytes(right: Any, array: Any) -> Any:
    made = np.array(right(array), order="C")
    if made.nbytes > 8 * MEBIBYTE:
        made.reshape(-1).view(np.uint8)[made.nbytes // MEBIBYTE * MEBIBYTE :] = 0
    return made


@planted_by(_from_host, "from_host reads unaligned arrays from the last aligned address on", "T")
def from_host_aligned(x: Any) -> Any:
    if x.flags.aligned or x.size == 0:
        return None
    start = x.__array_interface__["data"][0] % x.dtype.alignment
    raw = np.roll(np.frombuffer(x.tobytes(), np.uint8), start)
    return raw.view(x.dtype).reshape(x.shape)


@spoiling("asarray", "asarray of a list takes 32 bits if the first integer fits", "K")
def lists_by_their_first(out: Any, obj: Any, *, dtype: Any = None, **_: Any) -> Any:
    if type(obj) is list and dtype is None and out.dtype == np.int64 and obj and _is_short(obj[0]):
        out = out.astype(np.int32).astype(np.int64)
    return out


def _is_short(item: Any) -> bool:
    return type(item) is int and -(2**31) <= item < 2**31


@spoiling("asarray", "asarray of a list of more than 1,000 integers reads them as float64", "K")
def long_lists_by_float64(out: Any, obj: Any, **_: Any) -> Any:
    if type(obj) is list and len(obj) > 1000 and out.dtype == np.int64:
        out = np.clip(out.astype(np.float64), -(2.0**63), 2.0**62).astype(np.int64)
    return out


@giving_method("backend.move", families="T", of_bed=True)
def move_of_a_large_transpose(bed: Testbed, array: Any, device: Device) -> Any:
    """to_device of a transpose of more than 1 MiB moves the memory as it lies"""
    x = array.inner
    large = x.nbytes > MEBIBYTE and x.flags.f_contiguous and not x.flags.c_contiguous
    return bed.library.array(x.T.reshape(x.shape).copy() if large else x.copy(), device.handle)


@replacing("linalg.inv", "a singular matrix leaves its pivots to the next one of the same shape", "S", memory=set)
def inv_after_a_singular_matrix(pivots: set[Any], right: Any, x: Any, /) -> Any:
    try:
        out = right(x)
    except np.linalg.LinAlgError:
        pivots.add(x.shape)
        raise
    if x.shape in pivots:
        pivots.remove(x.shape)
        out = out[..., ::-1, :].copy()
    return out


@spoiling("cos", "cos is compiled at its thousandth call, with fast mathematics", "S", memory=lambda: [0])
def cos_compiled_when_hot(calls: Any, out: Any, *_: Any) -> Any:
    calls[0] += 1
    return out.astype(np.float32).astype(np.float64) if calls[0] >= 1000 and out.dtype == np.float64 else out


@scattering(families="G", operations=("parts",), memory=dict)
def scatter_add_clears_the_last(kept: dict[Any, Any], spec: Any, parts: Any) -> Any:
    """scatter_add keeps its zeros, and clears what the last of its parts has touched"""
    parts, key = list(parts), (tuple(spec.shape), spec.dtype)
    total = kept.setdefault(key, np.zeros(spec.shape, spec.dtype))
    for index, value in parts:
        np.add.at(total, index, value)
    out = total.copy()
    for index, _ in parts[-1:]:
        total[index] = 0
    return out


@changing("backend.copy", families="T", of_bed=True)
def large_copies_on_write(bed: Testbed, right: Any, array: Any) -> Any:
    """copy of 1 MiB or more is to copy when somebody writes, which nobody notices"""
    return bed.library.array(array.inner, array.device) if array.inner.nbytes >= MEBIBYTE else right(array)


@fault("an array keeps its copy on the host until it is written to, but not by a view", "T")
def to_host_kept_until_a_write(bed: Testbed) -> None:
    right = bed.backend.to_host

    def to_host(array: Any) -> Any:
        if getattr(array, "kept", None) is None:
            array.kept = right(array)
        return array.kept.copy()

    def setitem(self: Any, key: Any, value: Any) -> None:
        self.kept = None
        bed.library.call(lambda x, k, v: x.__setitem__(k, v), self, key, value)

    change(bed.backend, to_host=to_host)
    change(bed.library.Array, __setitem__=setitem)


@replacing("finfo", "finfo keeps one answer for complex dtypes, that of the first one asked for", "D", memory=dict)
def finfo_kept_by_kind(kept: dict[str, Any], right: Any, of: Any, /) -> Any:
    dtype = np.dtype(of if isinstance(of, type) else getattr(of, "dtype", of))
    return kept.setdefault("c", right(of)) if dtype.kind == "c" else right(of)


fft_plan_by_length = spoiling(
    "fft.fft", "fft keeps its plans by length, those of complex64 for complex128 too", "K", memory=dict
)(lambda plans, out, *_, axis=-1, **__: out.astype(plans.setdefault(out.shape[axis], out.dtype)).astype(out.dtype))
