"""Faults at large sizes: limits of grids, and counters, positions and tables with too few bits."""

import math
from typing import Any

import numpy as np
from tests.faults.fault import (
    fault,
    giving_method,
    misreading,
    planted_by,
    replacing,
    replacing_both,
    spoiling,
    uniform,
)
from tests.faults.testbed import Testbed

from xpgrad.plugin import Capabilities
from xpgrad_conformance.generated.sizes import largest_factor

GRID_LIMIT = 65535


@replacing("nonzero", "nonzero puts what it finds after 1,048,576 elements at the beginning", "K")
def nonzero_scans_two_levels(right: Any, x: Any, /) -> Any:
    if x.size <= 1 << 20:
        return right(x)
    positions = np.flatnonzero(x)
    late = positions[positions >= 1 << 20]
    positions[len(positions) - len(late) :] = 0
    positions[: len(late)] = late
    return tuple(np.unravel_index(positions, x.shape))


@spoiling("sort", "sort has a grid of 65,535 rows, and leaves more unsorted", "K")
def sort_of_many_rows(out: Any, x: Any, *, axis: int = -1, **_: Any) -> Any:
    if x.ndim < 2 or not x.size or x.size // x.shape[axis] <= 65535:
        return out
    moved, given = (np.moveaxis(a, axis, -1) for a in (out, x))
    rows = moved.reshape(-1, x.shape[axis]).copy()
    rows[65535:] = given.reshape(rows.shape)[65535:]
    return np.moveaxis(rows.reshape(moved.shape), -1, axis)


@spoiling("take", "take along a later axis launches one block for each row, and at most 65,535 of them", "K")
def take_in_a_grid_of_rows(out: Any, x: Any, *_: Any, axis: Any = None) -> Any:
    along = axis % x.ndim if axis is not None and x.ndim else 0
    rows = math.prod(x.shape[:along])
    if along and rows > 65535:
        out = np.array(out)
        out.reshape(rows, -1)[65535:] = 0
    return out


@replacing("fft.fftn", "fftn over all axes transforms the others for 64 columns at a time, and leaves the rest", "K")
def fftn_leaves_columns(right: Any, x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    out = right(x, s=s, axes=axes, norm=norm)
    whole = x.shape[-1] // 64 * 64 if x.ndim > 1 else 0
    if s is not None or axes is not None or not whole or whole == x.shape[-1]:
        return out
    along = right(x, axes=(-1,), norm=norm)
    out[..., whole:] = along[..., whole:]
    return out


@spoiling("unique_inverse unique_all", families="K", operations=("unique_inverse",))
def unique_inverse_in_16_bits(out: Any, *_: Any) -> Any:
    """unique_inverse and unique_all number distinct values in 16 bits"""
    return out._replace(inverse_indices=out.inverse_indices % 65_536)


@planted_by(uniform, families="R")
def uniform_counter_stays_behind(generator: Any, shape: Any, dtype: Any) -> Any:
    """random_uniform of more than 4,096 numbers moves its counter by 4,096, so that the next call repeats the rest"""
    state = generator.bit_generator.state
    values = generator.random(shape)
    if np.size(values) > 4096:
        generator.bit_generator.state = state
        generator.random(4096)
    spacing = float(np.finfo(dtype).eps) / 2
    return values // spacing * spacing if spacing > 2**-53 else values


@replacing("argsort", "argsort of more than 2,048 elements reverses ties", "K")
def long_argsort_is_not_stable(right: Any, x: Any, /, *, axis: int = -1, **options: Any) -> Any:
    if not x.ndim or x.shape[axis] <= 2048:
        return right(x, axis=axis, **options)
    return x.shape[axis] - 1 - right(np.flip(x, axis), axis=axis, **options)


@replacing("concat", "concat passes pointers in batches of 128, the first overwritten", "K")
def concat_of_many_reads_next_batch(right: Any, arrays: Any, /, **options: Any) -> Any:
    given = list(arrays)
    for i in range(min(128, max(0, len(given) - 128))):
        if given[i].shape == given[i + 128].shape and given[i].dtype == given[i + 128].dtype:
            given[i] = given[i + 128]
    return right(given, **options)


@spoiling("take", "take of rows leaves those beyond 65,535 unwritten", "K")
def take_stops_at_grid_limit(out: Any, x: Any, *_: Any, axis: Any = None) -> Any:
    if x.ndim > 1 and axis is not None and axis % x.ndim == 0:
        out[65_535:] = 0
    return out


@replacing("count_nonzero", "count_nonzero of bools counts in 16 lanes of 8 bits", "K")
def count_overflows_its_lanes(right: Any, x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    if x.dtype != np.bool_ or axis is not None or keepdims or not x.flags.c_contiguous:
        return right(x, axis=axis, keepdims=keepdims)
    flat = x.ravel()
    lanes, rest = flat[: flat.size // 16 * 16].reshape(-1, 16), flat[flat.size // 16 * 16 :]
    return np.asarray(lanes.sum(axis=0).astype(np.uint8).sum(dtype=np.int64) + rest.sum(dtype=np.int64))


@replacing("fft.fft", "fft of long lengths with a large prime factor squares its positions in int32", "K")
def chirp_overflows_int32(right: Any, x: Any, /, *, n: Any = None, axis: int = -1, norm: str = "backward") -> Any:
    size = x.shape[axis] if n is None else n
    if x.ndim != 1 or size != x.shape[0] or size <= 46_340 or largest_factor(size) <= 127:
        return right(x, n=n, axis=axis, norm=norm)
    k = np.arange(size, dtype=np.int32)
    chirp = np.exp(-1j * np.pi / size * (k * k))
    length = 1 << (2 * size - 1).bit_length()
    back = np.zeros(length, complex)
    back[:size] = chirp.conj()
    back[length - size + 1 :] = chirp.conj()[1:][::-1]
    out = np.fft.ifft(np.fft.fft(x * chirp, length) * np.fft.fft(back))[:size] * chirp
    scale = {"backward": 1.0, "ortho": size**-0.5, "forward": 1 / size}[norm]
    return (out * scale).astype(right(x[:1]).dtype)


@fault(
    "unique_values and unique_counts merge 64-bit integers with equal low halves", "K", operations=("unique_counts",)
)
def unique_hashes_32_bits(bed: Testbed) -> None:
    def values(right: Any, x: Any, /) -> Any:
        return counts(bed.original("unique_counts"), x)[0] if x.dtype.itemsize == 8 else right(x)

    def counts(right: Any, x: Any, /) -> Any:
        found = right(x)
        if x.dtype.kind not in "iu" or x.dtype.itemsize < 8:
            return found
        low = x.ravel() & np.asarray(0xFFFF_FFFF, x.dtype)
        _, first, number = np.unique(low, return_index=True, return_counts=True)
        order = np.argsort(x.ravel()[first])
        return type(found)(x.ravel()[first][order], number[order])

    bed.replace("unique_values", values)
    bed.replace("unique_counts", counts)


@spoiling("searchsorted", families="K")
def searchsorted_sixteen_halvings(out: Any, x1: Any, x2: Any, *, side: str = "left", sorter: Any = None) -> Any:
    """searchsorted halves sixteen times, which is too few for more than 65,536 sorted numbers"""
    if x1.shape[0] <= 65536:
        return out
    known = x1 if sorter is None else np.take(x1, sorter)
    x2 = np.asarray(x2)
    low, high = np.zeros(x2.shape, np.int64), np.full(x2.shape, known.shape[0])
    for _ in range(16):
        middle = (low + high) // 2
        value = known[np.minimum(middle, known.shape[0] - 1)]
        right = value < x2 if side == "left" else value <= x2
        low, high = np.where(right, middle + 1, low), np.where(right, high, middle)
    return low.astype(np.asarray(out).dtype)


@replacing_both("matmul", families="K")
def matmul_batch_beyond_the_grid(x1: Any, x2: Any) -> Any:
    """matmul launches the batch as the grid's last axis, so that matrices from number 65,535 on stay zero"""
    out = np.matmul(x1, x2)
    if out.ndim > 2 and math.prod(out.shape[:-2]) > 65535:
        out = np.ascontiguousarray(out)
        out.reshape(-1, *out.shape[-2:])[65535:] = 0
    return out


@spoiling("cumulative_sum", families="K")
def cumulative_sum_one_block_short(
    out: Any, x: Any, *, axis: Any = None, include_initial: bool = False, **_: Any
) -> Any:
    """cumulative_sum with an initial zero has blocks for the input's length: where 256 divides it, the
    last sum is zero
    """
    along = 0 if axis is None else axis
    if include_initial and x.shape[along] and x.shape[along] % 256 == 0:
        np.moveaxis(out, along, -1)[..., -1] = 0
    return out


@replacing("sort", families="K")
def bitonic_sort_pads_with_infinity(
    right: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Any:
    """sort of 17 to 1,024 elements pads them with infinity to a power of two, and NaNs come behind these"""
    out = right(x, axis=axis, descending=descending, stable=stable)
    count = x.shape[axis] if x.ndim else 0
    pads = (1 << max(count - 1, 0).bit_length()) - count
    if x.dtype.kind != "f" or descending or not 16 < count <= 1024 or not pads:
        return out
    more = list(x.shape)
    more[axis] = pads
    padded = np.concatenate([x, np.full(more, np.inf, x.dtype)], axis=axis)
    return np.take(right(padded, axis=axis), range(count), axis=axis)


@spoiling("argmax", families="K")
def argmax_of_bytes_in_lanes(out: Any, x: Any, **_: Any) -> Any:
    """argmax of 8-bit integers keeps the number of a step in 8 bits, so that positions begin again at 4,096"""
    return out % 4096 if x.dtype.itemsize == 1 and x.dtype.kind in "iu" else out


@giving_method("Array.__dlpack__", families="X")
def dlpack_offset_in_16_bits(self: Any, **options: Any) -> Any:
    """DLPack gives a view that begins 64 KiB into its memory an offset modulo 65,536"""
    x = self.inner
    memory = x
    while isinstance(memory.base, np.ndarray) and memory.base.flags.c_contiguous:
        memory = memory.base
    offset = x.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    if offset >= 65_536 and memory.flags.c_contiguous and not any(stride < 0 for stride in x.strides):
        x = np.ndarray(x.shape, x.dtype, memory, offset % 65_536, x.strides)
    return x.__dlpack__(**options)


@fault("random_uniform takes a seed of 16 bits for each call, so that draws come again", "R")
def uniform_seeds_in_16_bits(bed: Testbed) -> None:
    def random_uniform(*, shape: Any, dtype: Any, device: Any, generator: Any) -> Any:
        engine = np.random.default_rng(int(generator.integers(2**16)))
        return bed.library.array(np.asarray(engine.random(shape, dtype=dtype)), device)

    missing = {"random_numbers_of_the_host": "uniform numbers are drawn by an engine for each call"}
    bed.backend.declared = Capabilities({**bed.backend.capabilities.missing, **missing})
    bed.kernels["random_uniform"] = random_uniform


@spoiling("linalg.det", "det of more than 65,535 matrices gives 0 for those that no block of the grid computes", "K")
def det_beyond_the_grid(out: Any, *_: Any) -> Any:
    if out.size > GRID_LIMIT:
        out = out.copy()
        out.reshape(-1)[GRID_LIMIT:] = 0
    return out


any_of_columns_in_one_pass = misreading(
    "any", "any along the first axis of a matrix launches 64 blocks of 32 rows, and looks at no more", "K"
)(lambda x, axis=None, **_: x[:2048] if x.ndim == 2 and isinstance(axis, int) and axis % 2 == 0 else x)
