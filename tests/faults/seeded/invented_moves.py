"""Faults of states, threads and transfers that somebody invented later, from bugs that libraries have had."""

import ctypes
import threading
import time
import weakref
from collections import OrderedDict
from itertools import pairwise
from typing import Any

import numpy as np
from tests.faults.fault import Fault, fault
from tests.faults.testbed import Testbed, change

from xpgrad.backend.plugins import plugins

# Sizes and layouts


@fault(
    "solve-keeps-factors",
    "linalg.solve keeps the factors of an array that has been written to since",
    "S",
    operations=("linalg.solve",),
)
def solve_keeps_factors(bed: Testbed) -> None:
    kept: dict[int, Any] = {}

    def wrong(original: Any, x1: Any, x2: Any, /) -> Any:
        key = id(x1)
        if key not in kept or kept[key][0]() is not x1:
            kept[key] = weakref.ref(x1, lambda _: kept.pop(key, None)), x1.copy()
        return original(kept[key][1], x2)

    bed.replace("linalg.solve", wrong)


@fault("plan-keeps-norm", "fft.ifft looks plans up without their norm", "K", operations=("fft.ifft",))
def plan_keeps_norm(bed: Testbed) -> None:
    plans: dict[Any, str] = {}

    def wrong(original: Any, x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
        norm = plans.setdefault((x.shape, x.dtype, n, axis), norm)
        return original(x, n=n, axis=axis, norm=norm)

    bed.replace("fft.ifft", wrong)


@fault("full-takes-equal-for-same", "full looks filled blocks up by value: 0.0 is -0.0, 1 is True", "C")
def full_takes_equal_for_same(bed: Testbed) -> None:
    blocks: OrderedDict[Any, Any] = OrderedDict()

    def wrong(original: Any, shape: Any, value: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
        if type(value) not in (bool, int, float, complex):
            return original(shape, value, dtype=dtype)
        key = shape if isinstance(shape, int) else tuple(shape), value, dtype
        if key not in blocks:
            blocks[key] = original(shape, value, dtype=dtype)
        if len(blocks) > 128:
            blocks.popitem(last=False)
            return original(shape, value, dtype=dtype)
        return blocks[key].copy()

    bed.replace("full", wrong)


@fault(
    "convolution-keeps-first-dtype",
    "convolution looks its program up by shapes, without the dtype",
    "K",
    cases=("F.convolution_2d",),
)
def convolution_keeps_first_dtype(bed: Testbed) -> None:
    programs: dict[Any, Any] = {}

    def wrong(x: Any, W: Any, b: Any, /, geometry: Any, groups: int) -> Any:
        first = programs.setdefault((x.shape, W.shape, b is None, geometry, groups), x.dtype)
        given = [None if each is None else each.astype(first) for each in (x, W, b)]
        out: Any = plugins.host.xp.convolution(*given, geometry=geometry, groups=groups)
        return out.astype(np.result_type(x, W))

    bed.kernel("convolution", wrong)


@fault("tanh-reads-late", "tanh of a lazy library reads its input when the host waits", "Y", lazy=True)
def tanh_reads_late(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = np.asarray(original(x))
        before = out.copy()

        def finish() -> None:
            if np.array_equal(out, before, equal_nan=True):
                out[...] = original(x)

        bed.library.unfinished.append(finish)
        return out

    bed.replace("tanh", wrong)


@fault("spare-number-survives-the-seed", "random_normal draws pairs, and keeps one over a new seed", "R")
def spare_number_survives_the_seed(bed: Testbed) -> None:
    spare: list[float] = []

    def wrong(*, shape: Any, dtype: Any, generator: Any) -> Any:
        size = int(np.prod(shape, dtype=int))
        drawn = [spare.pop()] if spare and size else []
        while len(drawn) < size:
            radius, angle = np.sqrt(-2 * np.log1p(-generator.random())), 2 * np.pi * generator.random()
            drawn += [radius * np.cos(angle), radius * np.sin(angle)]
        spare.extend(drawn[size:])
        return np.array(drawn[:size], dtype).reshape(shape)

    bed.kernel("random_normal", wrong)


@fault("eigh-overwrites-fortran-order", "linalg.eigh leaves the vectors in a matrix in Fortran order", "A")
def eigh_overwrites_fortran_order(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x.copy())
        if x.ndim == 2 and x.flags.f_contiguous and not x.flags.c_contiguous and x.flags.writeable:
            x[...] = out[1]
        return out

    bed.replace("linalg.eigh", wrong)


# Races, collisions, transfers


@fault("foreign-bytes-are-read-as-own", "host arrays in the other byte order are read as in the own one", "T")
def foreign_bytes_are_read_as_own(bed: Testbed) -> None:
    def wrong(array: Any, device: Any) -> Any:
        own = np.array(array)
        if not array.dtype.isnative:
            own = own.view(array.dtype.newbyteorder("="))
        return bed.library.array(own, device.handle)

    change(bed.backend, from_host=wrong)


@fault(
    "scatter-loses-within-a-warp",
    "of equal positions among 32 lanes the last is added (beyond 1,024)",
    "H",
    cases=("F.deformable_convolution_2d_sampler-options",),
)
def scatter_loses_within_a_warp(bed: Testbed) -> None:
    def wrong(spec: Any, parts: Any) -> Any:
        total = np.zeros(spec.shape, spec.dtype)
        for index, value in parts:
            place = np.ravel(np.arange(total.size).reshape(total.shape)[index])
            if place.size > 1024:
                values = np.broadcast_to(value, total[index].shape).ravel()
                key = np.arange(place.size) // 32 * total.size + place
                last = place.size - 1 - np.unique(key[::-1], return_index=True)[1]
                np.add.at(total.reshape(-1), place[last], values[last])
            else:
                np.add.at(total, index, value)
        return total

    bed.kernels["scatter_add"] = bed.backend._scatter_add(wrong)


@fault(
    "last-block-of-a-mask-is-early",
    "x[mask] appends blocks of 1,024 as they end, the short one early",
    "K",
    operations=("getitem",),
)
def last_block_of_a_mask_is_early(bed: Testbed) -> None:
    def wrong(x: Any, key: Any) -> Any:
        short = key.size % 1024 if isinstance(key, np.ndarray) and key.dtype == np.bool_ else 0
        if not short or key.shape != x.shape or key.size < 2048:
            return x[key]
        flat, mask = x.ravel(), key.ravel()
        bounds = 0, key.size - short - 1024, key.size - short, key.size
        parts = [flat[i:j][mask[i:j]] for i, j in pairwise(bounds)]
        return np.concatenate([parts[0], parts[2], parts[1]])

    bed.operator("__getitem__", wrong)


@fault(
    "twiddles-are-seen-unfilled",
    "fft.rfft shows the table of a new length before it is filled",
    "P",
    operations=("fft.rfft",),
)
def twiddles_are_seen_unfilled(bed: Testbed) -> None:
    tables: dict[int, Any] = {}

    def wrong(original: Any, x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
        size = x.shape[axis] if n is None else n
        if size not in tables:
            table = tables[size] = np.zeros(size)
            time.sleep(0.001)  # while it is filled
            table += 1
        return original(x, n=n, axis=axis, norm=norm) * tables[size].astype(x.dtype)[0]

    bed.replace("fft.rfft", wrong)


@fault(
    "determinants-share-workspace",
    "linalg.det factorises in memory that all threads share",
    "S",
    operations=("linalg.det",),
)
def determinants_share_workspace(bed: Testbed) -> None:
    memory: dict[Any, Any] = {}

    def wrong(original: Any, x: Any, /) -> Any:
        work = memory.setdefault((x.shape, x.dtype), np.empty_like(x))
        work[...] = x
        time.sleep(0)  # until the kernel starts
        return original(work)

    bed.replace("linalg.det", wrong)


@fault("pinned-memory-is-used-again", "to_host returns pinned memory of 1 MiB or more, which is used again", "T")
def pinned_memory_is_used_again(bed: Testbed) -> None:
    pinned: dict[Any, Any] = {}
    to_host = bed.backend.to_host

    def wrong(array: Any) -> Any:
        copied = to_host(array)
        if copied.nbytes < 2**20:
            return copied
        memory = pinned.setdefault((copied.shape, copied.dtype, threading.get_ident()), np.empty_like(copied))
        memory[...] = copied
        return memory

    change(bed.backend, to_host=wrong)


@fault("reversed-is-sent-forwards", "to_device sends axes of negative strides forwards", "T")
def reversed_is_sent_forwards(bed: Testbed) -> None:
    def wrong(self: Any, device: str, /) -> Any:
        axes = tuple(axis for axis, stride in enumerate(self.inner.strides) if stride < 0)
        return bed.library.array(np.flip(self.inner, axes).copy(), device)

    change(bed.library.Array, to_device=wrong)


@fault("read-only-host-array-is-shared", "a read-only host array is not copied, though its owner may write", "T")
def read_only_host_array_is_shared(bed: Testbed) -> None:
    def wrong(array: Any, device: Any) -> Any:
        if array.flags.writeable or not array.flags.c_contiguous or not array.size:
            return bed.library.array(np.array(array), device.handle)
        memory = (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)
        memory.owner = array
        return bed.library.array(np.frombuffer(memory, array.dtype).reshape(array.shape), device.handle)

    change(bed.backend, from_host=wrong)


@fault("large-upload-is-late", "host arrays of 64 KiB or more are read when the host waits", "Y", lazy=True)
def large_upload_is_late(bed: Testbed) -> None:
    def wrong(array: Any, device: Any) -> Any:
        inner = np.array(array)
        made = bed.library.array(inner, device.handle)
        if array.nbytes >= 2**16:
            before = inner.copy()

            def finish() -> None:
                if np.array_equal(inner, before, equal_nan=inner.dtype.kind in "fc"):
                    inner[...] = array

            bed.library.unfinished.append(finish)
        return made

    change(bed.backend, from_host=wrong)


FAULTS = tuple(value for value in tuple(globals().values()) if isinstance(value, Fault))


@fault("staged-copy-ignores-strides", "host arrays beyond 256 KiB are staged in the order of their memory", "T")
def staged_copy_ignores_strides(bed: Testbed) -> None:
    def wrong(array: Any, device: Any) -> Any:
        staged = array.ravel(order="K").reshape(array.shape) if array.nbytes > 2**18 else array
        return bed.library.array(np.array(staged), device.handle)

    change(bed.backend, from_host=wrong)
