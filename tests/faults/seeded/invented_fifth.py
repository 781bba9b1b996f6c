"""What survived of forty faults by a fifth stranger: inner broadcasts, rests of blocks, empty scans, long products"""

import threading
from typing import Any

import numpy as np
from tests.faults.fault import fault
from tests.faults.testbed import Testbed, change, native_work

from xpgrad.backend.plugins import plugins


@fault(
    "reshape-of-repeated-rows",
    "reshape of 64 elements or more whose middle axis has a stride of 0 lays the outer axis out innermost",
    "K",
    operations=("reshape",),
)
def reshape_of_repeated_rows(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, shape: Any, *, copy: Any = None) -> Any:
        if x.ndim == 3 and x.size >= 64 and x.strides[1] == 0 and x.strides[0] and x.strides[2]:
            x = np.ascontiguousarray(np.swapaxes(x, 0, 1)).reshape(x.shape)
        return original(x, shape, copy=copy)

    bed.replace("reshape", wrong)


@fault(
    "stack-interleaves-four",
    "stack along the last axis interleaves four arrays at a time, and repeats the first of a rest",
    "K",
    operations=("stack",),
)
def stack_interleaves_four(bed: Testbed) -> None:
    def wrong(original: Any, arrays: Any, /, *, axis: int = 0) -> Any:
        given = list(arrays)
        if len(given) > 4 and given[0].ndim and axis in (-1, given[0].ndim):
            full = len(given) // 4 * 4
            given[full:] = given[full : full + 1] * (len(given) - full)
        return original(given, axis=axis)

    bed.replace("stack", wrong)


@fault(
    "ifft-scales-groups-of-columns",
    "fft.ifft along the first axis of a matrix divides groups of 16 columns by the length, not those left over",
    "K",
    operations=("fft.ifft",),
)
def ifft_scales_groups_of_columns(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
        out = original(x, n=n, axis=axis, norm=norm)
        if x.ndim == 2 and axis in (0, -2) and norm == "backward" and x.shape[1] > 16:
            out[:, x.shape[1] // 16 * 16 :] *= len(out)
        return out

    bed.replace("fft.ifft", wrong)


@fault(
    "initial-of-an-empty-scan",
    "cumulative_sum with include_initial over an empty axis returns its empty input, without the 0",
    "K",
    operations=("cumulative_sum",),
)
def initial_of_an_empty_scan(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, include_initial: bool = False, **options: Any) -> Any:
        empty = x.ndim and x.shape[-1 if axis is None else axis] == 0
        return original(x, axis=axis, include_initial=include_initial and not empty, **options)

    bed.replace("cumulative_sum", wrong)


@fault(
    "prod-of-integers-by-double",
    "prod of integers multiplies in float64, and loses the last digits of products above 2^53",
    "K",
    operations=("prod",),
)
def prod_of_integers_by_double(bed: Testbed) -> None:
    def wrong(original: Any, x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        out = original(x, axis=axis, dtype=dtype, keepdims=keepdims)
        if x.dtype.kind not in "iu" or out.dtype.kind not in "iu":
            return out
        found = np.prod(x, axis=axis, dtype=np.float64, keepdims=keepdims)
        with np.errstate(all="ignore"):
            return np.where(np.abs(found) < 2.0**62, found.astype(out.dtype), out)

    bed.replace("prod", wrong)


@fault(
    "sum-pool-of-running-sums",
    "sum_pool subtracts running sums of a row, so that NaN or an infinity reaches all windows behind it",
    "K",
    operations=("F.average_pooling_nd",),
)
def sum_pool_of_running_sums(bed: Testbed) -> None:
    right: Any = plugins.host.lazy_override("sum_pool")

    def sum_pool(x: Any, *, geometry: Any) -> Any:
        out = right(x, geometry=geometry)
        if x.dtype.kind != "f" or not x.size or np.all(np.isfinite(x)):
            return out
        behind = np.logical_or.accumulate(~np.isfinite(x), axis=-1)
        with np.errstate(all="ignore"):
            return out + right(np.where(behind, np.nan, 0).astype(x.dtype), geometry=geometry)

    bed.kernel("sum_pool", sum_pool)


@fault(
    "refused-write-has-cleared",
    "x[key] = u that is refused for its shape has cleared the place already",
    "A",
)
def refused_write_has_cleared(bed: Testbed) -> None:
    def write(x: Any, key: Any, value: Any) -> None:
        x[key] = np.zeros((), x.dtype)
        x[key] = value

    right: Any = np.ndarray.__setitem__

    def careful(x: Any, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and np.shares_memory(x, value):
            right(x, key, value)
        else:
            write(x, key, value)

    bed.operator("__setitem__", careful)


@fault(
    "upload-of-a-broadcast",
    "host arrays of 4,096 elements or more with a stride of 0 are sent as the bytes that they span, the rest is 0",
    "T",
)
def upload_of_a_broadcast(bed: Testbed) -> None:
    right = bed.backend.from_host

    def from_host(array: Any, device: Any) -> Any:
        if array.size < 4096 or 0 not in array.strides or not array.ndim:
            return right(array, device)
        spanned = array[tuple(slice(1) if s == 0 else slice(None) for s in array.strides)].reshape(-1)
        sent = np.zeros(array.size, array.dtype)
        sent[: spanned.size] = spanned
        return right(sent.reshape(array.shape), device)

    change(bed.backend, from_host=from_host)


@fault(
    "triu-mask-grows-in-use",
    "triu keeps one mask, and makes a larger one at need, which other threads use before it is filled",
    "P",
    operations=("triu",),
)
def triu_mask_grows_in_use(bed: Testbed) -> None:
    masks = [np.ones((0, 0), bool)]

    def wrong(original: Any, x: Any, /, *, k: int = 0) -> Any:
        rows, columns = x.shape[-2:]
        if k or not x.size:
            return original(x, k=k)
        if len(masks[0]) < max(rows, columns):
            masks[0] = np.zeros((max(rows, columns),) * 2, bool)
            native_work()
            masks[0][...] = np.triu(np.ones_like(masks[0]))
        return np.where(masks[0][:rows, :columns], x, np.zeros((), x.dtype))

    bed.replace("triu", wrong)


@fault(
    "narrow-writes-by-words",
    "x[i] = v of one-byte elements reads four, changes one and writes four, also what other threads write between",
    "P",
)
def narrow_writes_by_words(bed: Testbed) -> None:
    def write(x: Any, key: Any, value: Any) -> None:
        if x.ndim != 1 or x.itemsize > 1 or not isinstance(key, int) or not -len(x) <= key < len(x):
            x[key] = value
            return
        word = key % len(x) // 4 * 4
        read = x[word : word + 4].copy()
        read[key % len(x) - word] = value
        native_work()
        x[word : word + 4] = read

    bed.operator("__setitem__", write)


@fault(
    "printing-shares-its-separator",
    "array_text sets prefix and separator for all threads, and prints with those that were set last",
    "P",
)
def printing_shares_its_separator(bed: Testbed) -> None:
    right, options = bed.backend.array_text, dict[str, str]()

    def array_text(array: Any, prefix: str, separator: str) -> str:
        options.update(prefix=prefix, separator=separator)
        native_work()
        return right(array, options["prefix"], options["separator"])

    change(bed.backend, array_text=array_text)


@fault(
    "dlpack-descriptor-is-static",
    "an array's DLPack fills one static descriptor, and hands out what any thread has filled in last",
    "P",
)
def dlpack_descriptor_is_static(bed: Testbed) -> None:
    right: Any = bed.library.Array.__dlpack__
    descriptor: list[Any] = [None]

    def dlpack(self: Any, **options: Any) -> Any:
        descriptor[0] = self
        native_work()
        return right(descriptor[0], **options)

    change(bed.library.Array, __dlpack__=dlpack)


@fault(
    "qr-and-svd-lock-crosswise",
    "linalg.qr takes the handle's lock and then the workspace's, linalg.svd the other way round: both give up",
    "P",
    operations=("linalg.qr", "linalg.svd"),
)
def qr_and_svd_lock_crosswise(bed: Testbed) -> None:
    handle, workspace = threading.Lock(), threading.Lock()

    def holding(first: Any, second: Any, original: Any, x: Any, options: Any) -> Any:
        with first:
            native_work()
            if not second.acquire(timeout=0.5):
                raise RuntimeError("timed out waiting for a lock of the solver library")
            try:
                return original(x, **options)
            finally:
                second.release()

    bed.replace("linalg.qr", lambda original, x, /, **options: holding(handle, workspace, original, x, options))
    bed.replace("linalg.svd", lambda original, x, /, **options: holding(workspace, handle, original, x, options))
