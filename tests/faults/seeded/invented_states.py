"""Faults of sequences of calls, of races and of collisions, invented by somebody who had not read the checks."""

import threading
import time
from itertools import product
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, _scatter_add, change

from xpgrad.backend.plugins import plugins
from xpgrad.plugin import Capabilities


def _pause() -> None:
    """Let other threads run, as a library does that computes without the interpreter's lock."""
    if threading.current_thread() is not threading.main_thread():
        time.sleep(0.001)


# Sequences


@fault("cholesky-after-a-qr", "cholesky leaves the R of a QR decomposition of that shape above its factor", "K")
def cholesky_after_a_qr(bed: Testbed) -> None:
    kept: dict[Any, Any] = {}

    def qr(original: Any, x: Any, /, **options: Any) -> Any:
        out = original(x, **options)
        kept[x.shape, x.dtype] = np.triu(out[1], 1)
        return out

    def cholesky(original: Any, x: Any, /, *, upper: bool = False) -> Any:
        out, above = original(x, upper=upper), kept.pop((x.shape, x.dtype), None)
        return out if above is None or upper else out + above

    bed.replace("linalg.qr", qr)
    bed.replace("linalg.cholesky", cholesky)


@fault("eye-is-kept", "eye of 64 rows or less is kept, and what was written to it as well", "C")
def eye_is_kept(bed: Testbed) -> None:
    made: dict[Any, Any] = {}

    def wrong(
        original: Any, n_rows: Any, n_cols: Any = None, /, *, k: int = 0, dtype: Any = None, **options: Any
    ) -> Any:
        out = original(n_rows, n_cols, k=k, dtype=dtype)
        return made.setdefault((n_rows, n_cols, k, out.dtype), out) if n_rows <= 64 else out

    bed.replace("eye", wrong)


@fault(
    "uniform-seeds-in-16-bits", "random_uniform takes a seed of 16 bits for each call, so that draws come again", "R"
)
def uniform_seeds_in_16_bits(bed: Testbed) -> None:
    def random_uniform(*, shape: Any, dtype: Any, device: Any, generator: Any) -> Any:
        engine = np.random.default_rng(int(generator.integers(2**16)))
        return bed.library.array(np.asarray(engine.random(shape, dtype=dtype)), device)

    missing = {"random_numbers_of_the_host": "uniform numbers are drawn by an engine for each call"}
    bed.backend.declared = Capabilities({**bed.backend.capabilities.missing, **missing})
    bed.kernels["random_uniform"] = random_uniform


@fault("sort-trusts-its-flag", "sort marks what it returns as sorted, and a write does not take the mark away", "K")
def sort_trusts_its_flag(bed: Testbed) -> None:
    marked: Any = WeakValueDictionary()

    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        key = id(x), tuple(sorted(options.items()))
        if marked.get(key) is x:
            return x.copy()
        out = np.array(original(x, **options))
        marked[id(out), key[1]] = out
        return out

    bed.replace("sort", wrong)


@fault("assignment-copies-forwards", "x[1:] = x[:-1] copies row by row, and repeats the first one", "A")
def assignment_copies_forwards(bed: Testbed) -> None:
    def setitem(x: Any, key: Any, value: Any) -> None:
        target = x[key] if isinstance(key, slice) else None
        if target is None or np.shape(value) != target.shape or not np.may_share_memory(target, value):
            x[key] = value
            return
        for row in range(len(target)):
            target[row] = value[row]

    bed.operator("__setitem__", setitem)


@fault("take-along-axis-after-an-error", "a take that was refused leaves take_along_axis clipping once", "K")
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


@fault("to-host-by-two-buffers", "to_host of more than 1 MiB returns one of two pinned buffers in turn", "T")
def to_host_by_two_buffers(bed: Testbed) -> None:
    right, buffers = bed.backend.to_host, dict[Any, list[Any]]()

    def to_host(array: Any) -> Any:
        out = right(array)
        if out.nbytes <= 1 << 20:
            return out
        pair = buffers.setdefault((out.shape, out.dtype), [])
        pair.append(out if len(pair) < 2 else pair.pop(0))
        pair[-1][...] = out
        return pair[-1]

    change(bed.backend, to_host=to_host)


@fault("take-keeps-wrapped-indices", "take keeps what became of 64 or more indices with negative ones by address", "K")
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


@fault("numbers-baked-in-when-hot", "after 128 times x - 0.5, the kernel for that shape has the number built in", "K")
def numbers_baked_in_when_hot(bed: Testbed) -> None:
    calls: dict[Any, int] = {}
    built: dict[Any, float] = {}

    def subtract(x1: Any, x2: Any) -> Any:
        if type(x2) is float and isinstance(x1, np.ndarray):
            key = x1.shape, x1.dtype
            calls[key, x2] = calls.get((key, x2), 0) + 1
            if calls[key, x2] == 128:
                built.setdefault(key, x2)
            x2 = built.get(key, x2)
        return np.subtract(x1, x2)

    bed.both("subtract", "sub", subtract)


@fault("accumulate-tunes-itself", "accumulate of 16,384 elements or more adds twice at the first call of a shape", "G")
def accumulate_tunes_itself(bed: Testbed) -> None:
    tuned: set[Any] = set()

    def accumulate(total: Any, g: Any) -> Any:
        if total.shape != g.shape or total.dtype != g.dtype or total.size < 16_384:
            return total + g
        if (total.shape, total.dtype) not in tuned:
            tuned.add((total.shape, total.dtype))
            total += g
        total += g
        return total

    bed.backend.in_place_from = 1
    bed.kernel("accumulate", accumulate)


# Races and collisions


def _restored(backend: str, values: Any, device: str) -> Any:
    """Return an array that was pickled."""
    library: Any = plugins.backend(backend).namespace
    return library.array(values, device)


@fault("pickle-by-address", "pickle takes two arrays of one address and size for the same one", "R")
def pickle_by_address(bed: Testbed) -> None:
    met: Any = WeakValueDictionary()
    name = bed.backend.name

    def reduce(self: Any) -> Any:
        x = self.inner
        same = met.setdefault((x.__array_interface__["data"][0], x.size, x.dtype.str), x)
        return _restored, (name, np.array(same.reshape(x.shape)), self.device)

    change(bed.library.Array, __reduce__=reduce)


@fault("unique-by-float32", "unique_values of more than 1,000 float64 numbers compares them by float32", "K")
def unique_by_float32(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x)
        if x.dtype != np.float64 or x.size <= 1000:
            return out
        with np.errstate(over="ignore"):
            hashes = out.astype(np.float32)
        return out[np.unique(hashes, return_index=True, equal_nan=False)[1]]

    bed.replace("unique_values", wrong)


@fault("unpool-where-four-meet", "unpool leaves out the fourth window that meets in one place", "G")
def unpool_where_four_meet(bed: Testbed) -> None:
    def unpool(x: Any, *, geometry: Any) -> Any:
        rank = x.ndim - 2
        total, met = np.zeros((*x.shape[:2], *geometry.size), x.dtype), np.zeros(geometry.size, int)
        for offsets in product(*map(range, geometry.ksize)):
            for window in np.ndindex(*x.shape[2:]):
                place = tuple(
                    geometry.stride[i] * window[i] + geometry.dilate[i] * offsets[i] - geometry.pad[i]
                    for i in range(rank)
                )
                if all(0 <= place[i] < geometry.size[i] for i in range(rank)):
                    met[place] += 1
                    if met[place] != 4:
                        total[(..., *place)] += x[(..., *window)]
        return total

    bed.kernel("unpool", unpool)


@fault("scatter-add-by-differences", "scatter_add of more than 128 rows is the difference of cumulative sums", "G")
def scatter_add_by_differences(bed: Testbed) -> None:
    def scatter_add(spec: Any, parts: Any) -> Any:
        total = np.zeros(spec.shape, spec.dtype)
        for index, value in parts:
            rows = index[0] if isinstance(index, tuple) and len(index) == 1 else index
            if not isinstance(rows, np.ndarray) or rows.dtype.kind not in "iu" or rows.ndim != 1 or rows.size <= 128:
                total += _scatter_add(spec, [(index, value)])
                continue
            rows = np.where(rows < 0, rows + len(total), rows)
            order = np.argsort(rows, kind="stable")
            ends = np.flatnonzero(np.diff(rows[order], append=-1))
            sums = np.cumsum(np.broadcast_to(value, (rows.size, *spec.shape[1:]))[order], axis=0)[ends]
            total[rows[order][ends]] += np.diff(sums, axis=0, prepend=np.zeros_like(sums[:1]))
        return total

    bed.kernels["scatter_add"] = bed.backend._scatter_add(scatter_add)


@fault("mean-divisor-by-size", "mean keeps its divisor by the number of elements, axes and the axis", "K")
def mean_divisor_by_size(bed: Testbed) -> None:
    divisors: dict[Any, int] = {}

    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        out = original(x, axis=axis, keepdims=keepdims)
        if not isinstance(axis, int) or not x.size:
            return out
        count = x.shape[axis]
        return (out * (count / divisors.setdefault((x.size, x.ndim, axis), count))).astype(out.dtype)

    bed.replace("mean", wrong)


@fault("svd-in-one-workspace", "svd of 8 rows or more computes in one workspace for each shape", "P")
def svd_in_one_workspace(bed: Testbed) -> None:
    spaces: dict[Any, Any] = {}

    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        if x.ndim != 2 or len(x) < 8:
            return original(x, **options)
        space = spaces.setdefault((x.shape, x.dtype), np.empty(x.shape, x.dtype))
        space[...] = x
        _pause()
        return original(space, **options)

    bed.replace("linalg.svd", wrong)


@fault(
    "cumulative-sum-shares-its-blocks", "cumulative_sum of 1,024 or more keeps sums of blocks where all threads do", "P"
)
def cumulative_sum_shares_its_blocks(bed: Testbed) -> None:
    sums = np.zeros(1 << 12, np.complex128)

    def wrong(original: Any, x: Any, /, *, axis: Any = None, **options: Any) -> Any:
        out = np.array(original(x, axis=axis, **options))
        if x.ndim != 1 or x.size < 1024 or x.size != out.size or x.dtype.kind != "f" or x.size >= 1 << 20:
            return out
        starts = range(0, x.size, 256)
        mine = [out[start - 1] if start else 0 for start in starts]
        sums[: len(mine)] = mine
        _pause()
        for block, start in enumerate(starts):
            if sums[block] != mine[block]:
                out[start : start + 256] += (sums[block] - mine[block]).real
        return out

    bed.replace("cumulative_sum", wrong)


@fault("nonzero-counts-for-all", "nonzero counts, and then fills as many places as any thread has counted last", "P")
def nonzero_counts_for_all(bed: Testbed) -> None:
    count = [0]

    def wrong(original: Any, x: Any, /) -> Any:
        found = original(x)
        count[0] = len(found[0])
        _pause()
        return tuple(np.concatenate([each, np.zeros(count[0], each.dtype)])[: count[0]] for each in found)

    bed.replace("nonzero", wrong)


@fault("concat-has-one-table", "concat of three arrays or more writes its pointers into one table for all threads", "P")
def concat_has_one_table(bed: Testbed) -> None:
    table: list[Any] = [None] * 4096

    def wrong(original: Any, arrays: Any, /, *, axis: Any = 0) -> Any:
        if len(arrays) < 3:
            return original(arrays, axis=axis)
        table[: len(arrays)] = arrays
        _pause()
        read = [
            theirs if theirs.shape == mine.shape and theirs.dtype == mine.dtype else mine
            for theirs, mine in zip(table, arrays, strict=False)
        ]
        return original(read, axis=axis)

    bed.replace("concat", wrong)


@fault(
    "filter-gradients-share-memory",
    "gradients of filters of four images or more are summed in memory of all threads",
    "P",
)
def filter_gradients_share_memory(bed: Testbed) -> None:
    right: Any = plugins.host.lazy_override("convolution_filter_backward")
    spaces: dict[Any, Any] = {}

    def backward(x: Any, g: Any, *, geometry: Any, groups: int) -> Any:
        out = right(x, g, geometry=geometry, groups=groups)
        if len(x) < 4:
            return out
        space = spaces.setdefault((out.shape, out.dtype), np.empty_like(out))
        space[...] = out
        _pause()
        return space.copy()

    bed.kernel("convolution_filter_backward", backward)
