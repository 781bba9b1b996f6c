"""Races about memory that all threads share: workspaces, pools, and arrays that two threads write to."""

import threading
import weakref
from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_method, giving_operator, misreading, replacing, spoiling
from tests.faults.testbed import Testbed, native_work, pause, staged

from xpgrad_conformance.pretend import _unpickled


@spoiling("zeros", families="P", memory=dict)
def zeros_from_a_pool_twice(free: dict[Any, Any], out: Any, *args: Any, **options: Any) -> Any:
    """zeros of 64 elements or more takes a block from a pool, and takes it off the list later, so two
    threads have it
    """
    if out.size < 64:
        return out
    key = out.shape, out.dtype
    block = free.setdefault(key, out)
    pause()
    free.pop(key, None)
    return block


@fault(families="P", operations=("F.average_pooling_nd",))
def workspace_of_a_dead_thread(bed: Testbed) -> None:
    """average pooling of a new thread takes over the workspace of one that has ended, of whatever dtype that is"""
    free: list[list[Any]] = []  # workspaces, here their dtypes, of threads that have ended
    mine = threading.local()

    class Thread:
        """What a thread holds until it ends."""

    def sum_pool(x: Any, *, geometry: Any) -> Any:
        if not hasattr(mine, "workspace"):
            mine.workspace, mine.held = free.pop() if free else [x.dtype], Thread()
            weakref.finalize(mine.held, free.append, mine.workspace)
            dtype = mine.workspace[0]
        else:
            dtype = x.dtype
        mine.workspace[0] = x.dtype
        out = bed.library.inner.xp.sum_pool(x.astype(dtype), geometry=geometry)
        return np.asarray(out).astype(x.dtype)

    bed.kernel("sum_pool", sum_pool)


@giving_operator("__setitem__", families="P", operations=())
def narrow_writes_by_words(x: Any, key: Any, value: Any) -> None:
    """x[i] = v of one-byte elements reads four, changes one and writes four, also what other threads write between"""
    if x.ndim != 1 or x.itemsize > 1 or not isinstance(key, int) or not -len(x) <= key < len(x):
        x[key] = value
        return
    word = key % len(x) // 4 * 4
    read = x[word : word + 4].copy()
    read[key % len(x) - word] = value
    native_work()
    x[word : word + 4] = read


@giving_operator("__setitem__", families="P", operations=())
def write_takes_the_whole_array(x: Any, key: Any, value: Any) -> None:
    """x[key] = u reads all of x, changes a part and writes all of it back, also what other threads wrote meanwhile"""
    whole = x.copy()
    whole[key] = value
    native_work()
    x[...] = whole


@misreading("linalg.svd", "svd of 8 rows or more computes in one workspace for each shape", "P", memory=dict)
def svd_in_one_workspace(spaces: dict[Any, Any], x: Any, **_: Any) -> Any:
    if x.ndim != 2 or len(x) < 8:
        return x
    space = staged(spaces, x)
    pause()
    return space


@replacing("cumulative_sum", families="P", memory=lambda: np.zeros(1 << 12, np.complex128))
def cumulative_sum_shares_its_blocks(sums: Any, right: Any, x: Any, /, *, axis: Any = None, **options: Any) -> Any:
    """cumulative_sum of 1,024 or more keeps sums of blocks where all threads do"""
    out = np.array(right(x, axis=axis, **options))
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


@spoiling("nonzero", families="P", memory=lambda: [0])
def nonzero_counts_for_all(count: Any, found: Any, *_: Any) -> Any:
    """nonzero counts, and then fills as many places as any thread has counted last"""
    count[0] = len(found[0])
    pause()
    return tuple(np.concatenate([each, np.zeros(count[0], each.dtype)])[: count[0]] for each in found)


@misreading("concat", families="P", memory=lambda: [None] * 4096)
def concat_has_one_table(table: list[Any], arrays: Any, **_: Any) -> Any:
    """concat of three arrays or more writes its pointers into one table for all threads"""
    if len(arrays) < 3:
        return arrays
    table[: len(arrays)] = arrays
    pause()
    read = [
        theirs if theirs.shape == mine.shape and theirs.dtype == mine.dtype else mine
        for theirs, mine in zip(table, arrays, strict=False)
    ]
    return read


@giving_method("Array.__reduce__", families="P", memory=dict, of_bed=True)
def pickles_stage_for_all(bed: Testbed, kept: dict[Any, Any], self: Any) -> Any:
    """pickling copies to one block for each shape, which all threads share"""
    held = staged(kept, self.inner)
    pause()
    return _unpickled, (bed.backend.name, held.copy(), self.device)


@fault("tensordot has buffers for eight threads; those beyond share the last one", "P", operations=("tensordot",))
def buffers_for_eight_threads(bed: Testbed) -> None:
    free, buffers = list(range(8)), [None] * 8

    def wrong(right: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
        out: Any = np.asarray(right(x1, x2, **options))
        try:
            slot, own = free.pop(), True
        except IndexError:
            slot, own = 0, False
        buffers[slot] = out
        native_work(0.005)
        found: Any = buffers[slot]
        if own:
            free.append(slot)
        return found.copy() if found.shape == out.shape and found.dtype == out.dtype else out

    bed.replace("tensordot", wrong)
