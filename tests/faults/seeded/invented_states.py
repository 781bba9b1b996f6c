"""Faults of sequences of calls, of races and of collisions, invented by somebody who had not read the checks."""

import threading
import time
from itertools import product
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, change


def pause() -> None:
    """Let other threads run, as a library does that computes without the interpreter's lock."""
    if threading.current_thread() is not threading.main_thread():
        time.sleep(0.001)


# Sequences


@fault(
    "cholesky-after-a-qr",
    "cholesky leaves the R of a QR decomposition of that shape above its factor",
    "K",
    operations=("linalg.qr", "linalg.cholesky"),
)
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


@fault("eye-is-kept", "eye of 64 rows or less is kept, and what was written to it as well", "CA")
def eye_is_kept(bed: Testbed) -> None:
    made: dict[Any, Any] = {}

    def wrong(
        original: Any, n_rows: Any, n_cols: Any = None, /, *, k: int = 0, dtype: Any = None, **options: Any
    ) -> Any:
        out = original(n_rows, n_cols, k=k, dtype=dtype)
        return made.setdefault((n_rows, n_cols, k, out.dtype), out) if n_rows <= 64 else out

    bed.replace("eye", wrong)


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


@fault(
    "numbers-baked-in-when-hot",
    "after 128 times x - 0.5, the kernel for that shape has the number built in",
    "K",
    ("special.betaln", "special.stdtr"),
)
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


@fault(
    "accumulate-tunes-itself",
    "accumulate of 16,384 elements or more adds twice at the first call of a shape",
    "G",
    operations=("contributions",),
)
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


@fault(
    "unique-by-float32",
    "unique_values of more than 1,000 float64 numbers compares them by float32",
    "K",
    operations=("unique_values",),
)
def unique_by_float32(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /) -> Any:
        out = original(x)
        if x.dtype != np.float64 or x.size <= 1000:
            return out
        with np.errstate(over="ignore"):
            hashes = out.astype(np.float32)
        return out[np.unique(hashes, return_index=True, equal_nan=False)[1]]

    bed.replace("unique_values", wrong)


@fault(
    "unpool-where-four-meet",
    "unpool leaves out the fourth window that meets in one place",
    "KGH",
    ("F.unpooling_nd", "F.average_pooling_nd"),
)
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


@fault(
    "mean-divisor-by-size",
    "mean keeps its divisor by the number of elements, axes and the axis",
    "K",
    operations=("mean",),
)
def mean_divisor_by_size(bed: Testbed) -> None:
    divisors: dict[Any, int] = {}

    def wrong(original: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        out = original(x, axis=axis, keepdims=keepdims)
        if not isinstance(axis, int) or not x.size:
            return out
        count = x.shape[axis]
        return (out * (count / divisors.setdefault((x.size, x.ndim, axis), count))).astype(out.dtype)

    bed.replace("mean", wrong)


@fault(
    "svd-in-one-workspace",
    "svd of 8 rows or more computes in one workspace for each shape",
    "P",
    operations=("linalg.svd",),
)
def svd_in_one_workspace(bed: Testbed) -> None:
    spaces: dict[Any, Any] = {}

    def wrong(original: Any, x: Any, /, **options: Any) -> Any:
        if x.ndim != 2 or len(x) < 8:
            return original(x, **options)
        space = spaces.setdefault((x.shape, x.dtype), np.empty(x.shape, x.dtype))
        space[...] = x
        pause()
        return original(space, **options)

    bed.replace("linalg.svd", wrong)


@fault(
    "cumulative-sum-shares-its-blocks",
    "cumulative_sum of 1,024 or more keeps sums of blocks where all threads do",
    "P",
    operations=("cumulative_sum",),
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
        pause()
        for block, start in enumerate(starts):
            if sums[block] != mine[block]:
                out[start : start + 256] += (sums[block] - mine[block]).real
        return out

    bed.replace("cumulative_sum", wrong)


@fault(
    "nonzero-counts-for-all",
    "nonzero counts, and then fills as many places as any thread has counted last",
    "P",
    operations=("nonzero",),
)
def nonzero_counts_for_all(bed: Testbed) -> None:
    count = [0]

    def wrong(original: Any, x: Any, /) -> Any:
        found = original(x)
        count[0] = len(found[0])
        pause()
        return tuple(np.concatenate([each, np.zeros(count[0], each.dtype)])[: count[0]] for each in found)

    bed.replace("nonzero", wrong)


@fault(
    "concat-has-one-table",
    "concat of three arrays or more writes its pointers into one table for all threads",
    "P",
    operations=("concat",),
)
def concat_has_one_table(bed: Testbed) -> None:
    table: list[Any] = [None] * 4096

    def wrong(original: Any, arrays: Any, /, *, axis: Any = 0) -> Any:
        if len(arrays) < 3:
            return original(arrays, axis=axis)
        table[: len(arrays)] = arrays
        pause()
        read = [
            theirs if theirs.shape == mine.shape and theirs.dtype == mine.dtype else mine
            for theirs, mine in zip(table, arrays, strict=False)
        ]
        return original(read, axis=axis)

    bed.replace("concat", wrong)
