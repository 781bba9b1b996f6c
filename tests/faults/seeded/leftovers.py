"""Faults of sequences: what an earlier call has left behind, and memory that is used again too early."""

import math
import sys
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_kernel, giving_method, misreading, replacing
from tests.faults.testbed import Testbed, change, staged

from xpgrad import Device


def _compute_late(bed: Testbed, out: Any, compute: Callable[[], Any]) -> None:
    """Compute `out` again when the host waits, unless it was written to in between."""
    before = out.copy()

    def finish() -> None:
        if np.array_equal(out, before, equal_nan=out.dtype.kind in "fc"):
            out[...] = compute()

    bed.library.unfinished.append(finish)


@fault(families="S", operations=("linalg.det",))
def det_reads_an_old_status(bed: Testbed) -> None:
    """after inv or solve has refused a singular matrix, det takes its next matrix for singular"""
    failed = [False]

    def factored(right: Any, *arrays: Any) -> Any:
        try:
            out = right(*arrays)
        except np.linalg.LinAlgError:
            failed[0] = True
            raise
        failed[0] = False
        return out

    def det(right: Any, x: Any, /) -> Any:
        out = right(x)
        if failed[0]:
            failed[0] = False
            out = np.zeros_like(out)
        return out

    bed.replace("linalg.inv", factored)
    bed.replace("linalg.solve", factored)
    bed.replace("linalg.det", det)


@fault(families="S", operations=("abs",), lazy=True)
def abs_reads_when_waited_for(bed: Testbed) -> None:
    """abs reads its argument when the host waits, after what was written to it in between"""

    def absolute(x: Any, /) -> Any:
        made = bed.library.call(np.abs, x)
        if made.dtype.kind == "f" and isinstance(made.inner, np.ndarray) and made.inner.flags.writeable:
            _compute_late(bed, made.inner, lambda: np.abs(x.inner))
        return made

    bed.library.names["abs"] = absolute
    change(bed.library.Array, __abs__=absolute)


@fault(families="S", operations=("linalg.qr", "multiply"))
def flush_to_zero_after_qr(bed: Testbed) -> None:
    """the library that qr loads switches subnormal numbers off, and products are flushed to zero from then on"""
    flushes = [False]

    def qr(right: Any, x: Any, /, **options: Any) -> Any:
        flushes[0] = True
        return right(x, **options)

    def multiply(x1: Any, x2: Any) -> Any:
        out = np.multiply(x1, x2)
        if not flushes[0] or np.asarray(out).dtype.kind != "f":
            return out
        return np.where(np.abs(out) < np.finfo(out.dtype).tiny, out.dtype.type(0), out)

    bed.replace("linalg.qr", qr)
    bed.both("multiply", multiply)


@replacing("tanh", "tanh of a lazy library reads its input when the host waits", "Y", lazy=True, of_bed=True)
def tanh_reads_late(bed: Testbed, right: Any, x: Any, /) -> Any:
    out = np.asarray(right(x))
    _compute_late(bed, out, lambda: right(x))
    return out


@giving_kernel("random_normal", "random_normal draws pairs, and keeps one over a new seed", "R", memory=list)
def spare_number_survives_the_seed(spare: list[float], *, shape: Any, dtype: Any, generator: Any) -> Any:
    size = int(np.prod(shape, dtype=int))
    drawn = [spare.pop()] if spare and size else []
    while len(drawn) < size:
        radius, angle = np.sqrt(-2 * np.log1p(-generator.random())), 2 * np.pi * generator.random()
        drawn += [radius * np.cos(angle), radius * np.sin(angle)]
    spare.extend(drawn[size:])
    return np.array(drawn[:size], dtype).reshape(shape)


@misreading("linalg.det", "linalg.det factorises in memory that all threads share", "S", memory=dict)
def determinants_share_workspace(memory: dict[Any, Any], x: Any) -> Any:
    work = staged(memory, x)
    time.sleep(0)  # until the kernel starts
    return work


@giving_method("backend.from_host", families="Y", lazy=True, of_bed=True)
def large_upload_is_late(bed: Testbed, array: Any, device: Any) -> Any:
    """host arrays of 64 KiB or more are read when the host waits"""
    inner = np.array(array)
    made = bed.library.array(inner, device.handle)
    if array.nbytes >= 2**16:
        _compute_late(bed, inner, lambda: array)
    return made


@replacing("concat", "concat that was refused leaves its axis to the next one, if that fits", "S", memory=dict)
def concat_keeps_a_refused_axis(left: dict[int, Any], right: Any, arrays: Any, /, *, axis: Any = 0) -> Any:
    thread = threading.get_ident()
    stale = left.pop(thread, axis)
    if stale != axis and axis is not None:
        try:
            return right(arrays, axis=stale)
        except Exception:
            pass
    try:
        return right(arrays, axis=axis)
    except Exception:
        left[thread] = axis
        raise


@fault(families="S", operations=("zeros",))
def pool_takes_memory_under_views(bed: Testbed) -> None:
    """zeros of 64 KiB or more take memory from a pool, to which it went with its first array, whatever
    views there are
    """
    free: dict[int, list[Any]] = {}

    def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> Any:
        found = np.dtype(np.float64 if dtype is None else dtype)
        lengths = (shape,) if isinstance(shape, int) else tuple(shape)
        size = math.prod(lengths) * found.itemsize
        if size < 65536:
            return bed.library.call(np.zeros, shape, dtype=dtype, device=device)
        blocks = free.setdefault(size, [])
        block = blocks.pop() if blocks else np.empty(size, np.uint8)
        block[:] = 0
        made = bed.library.call(lambda: block.view(found).reshape(lengths), device=device)
        weakref.finalize(made, blocks.append, block)
        return made

    bed.library.names["zeros"] = zeros


@fault(families="S", operations=("astype", "round"))
def rounding_mode_stays(bed: Testbed) -> None:
    """astype of floats to integers leaves the mode of rounding as it has set it, in which round truncates"""
    truncating = [False]

    def astype(right: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
        truncating[0] |= x.dtype.kind == "f" and np.dtype(dtype).kind in "iu"
        return right(x, dtype, **options)

    bed.replace("astype", astype)
    bed.replace("round", lambda right, x, /: np.trunc(x) if truncating[0] else right(x))


@fault(families="K", operations=("linalg.qr", "linalg.cholesky"))
def cholesky_after_a_qr(bed: Testbed) -> None:
    """cholesky leaves the R of a QR decomposition of that shape above its factor"""
    kept: dict[Any, Any] = {}

    def qr(right: Any, x: Any, /, **options: Any) -> Any:
        out = right(x, **options)
        kept[x.shape, x.dtype] = np.triu(out[1], 1)
        return out

    def cholesky(right: Any, x: Any, /, *, upper: bool = False) -> Any:
        out, above = right(x, upper=upper), kept.pop((x.shape, x.dtype), None)
        return out if above is None or upper else out + above

    bed.replace("linalg.qr", qr)
    bed.replace("linalg.cholesky", cholesky)


@fault(families="M")
def free_memory_of_views(bed: Testbed) -> None:
    """free_memory gives back the memory of arrays that nobody refers to, also where slices of them are still used"""
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


@fault("a solve that was refused spoils the next inv", "S")
def inv_after_a_refused_solve(bed: Testbed) -> None:
    narrow = [False]

    def solve(right: Any, x1: Any, x2: Any, /) -> Any:
        narrow[0] = True
        out = right(x1, x2)
        narrow[0] = False
        return out

    def inv(right: Any, x: Any, /) -> Any:
        if not narrow[0]:
            return right(x)
        narrow[0] = False
        return right(x + 1e-3 * np.max(np.abs(x), initial=0.0)).astype(x.dtype)

    bed.replace("linalg.solve", solve)
    bed.replace("linalg.inv", inv)


@fault(families="S", operations=("multiply", "real", "imag"))
def parts_do_not_keep_their_memory(bed: Testbed) -> None:
    """real and imag do not keep the memory of a complex product, which the next product of this shape is written to"""
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

    def part_of(right: Any, x: Any, /) -> Any:
        out = right(x)
        if isinstance(out, np.ndarray) and any(out.base is each for each in pool):
            parts.setdefault(id(out.base), []).append(weakref.ref(out))
        return out

    bed.both("multiply", multiply)
    bed.replace("real", part_of)
    bed.replace("imag", part_of)
