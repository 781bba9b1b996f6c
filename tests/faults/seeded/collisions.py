"""Faults that show under load: large scatters with collisions, hash tables, tables that threads fill concurrently."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.faults.fault import misreading_both, planted_by, replacing, replacing_kernel, scattering, spoiling, uniform
from tests.faults.testbed import Testbed, native_work, staged

WINDOW = 0.002  # seconds in which another thread may come in between


# Scatters


def _scatter(bed: Testbed, add: Callable[[Any, Any, Any], None]) -> None:
    """Let ``add(total, positions, values)``, all of rank 1, add up each part of a scatter."""

    def scatter_add(spec: Any, parts: Any) -> Any:
        total = np.zeros(math.prod(spec.shape), spec.dtype)
        places = np.arange(total.size).reshape(spec.shape)
        for index, value in parts:
            positions = np.asarray(places[index])
            add(total, positions.reshape(-1), np.broadcast_to(value, positions.shape).reshape(-1))
        return total.reshape(spec.shape)

    bed.kernels["scatter_add"] = bed.backend._scatter_add(scatter_add)


@scattering(families="KG", operations=("scatter_add", "getitem"))
def scatter_add_two_names(spec: Any, parts: Any) -> Any:
    """scatter_add loses a value where a position is named by -1 and by its number"""
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        if isinstance(index, np.ndarray) and index.dtype.kind in "iu" and index.ndim == 1:
            names, inverse = np.unique(index, return_inverse=True)
            sums = np.zeros((len(names), *total.shape[1:]), total.dtype)
            np.add.at(sums, inverse, value)
            total[names] = total[names] + sums
        else:
            np.add.at(total, index, value)
    return total


@planted_by(_scatter, families="K", operations=("ops.scatter_add",))
def scatter_add_within_a_warp(total: Any, positions: Any, values: Any) -> None:
    """scatter_add of more than 1,024 values loses repetitions within a group of 32"""
    if positions.size <= 1024:
        np.add.at(total, positions, values)
        return
    for start in range(0, positions.size, 32):
        group = slice(start, start + 32)
        total[positions[group]] += values[group]


@planted_by(_scatter, "scatter_add ends after 1,024 values for one position", "K", operations=("ops.scatter_add",))
def scatter_add_segments(total: Any, positions: Any, values: Any) -> None:
    order = np.argsort(positions, kind="stable")
    starts = np.searchsorted(positions[order], positions[order])
    near = order[np.arange(order.size) - starts < 1024]
    np.add.at(total, np.sort(positions[near]), values[near])


@planted_by(_scatter, families="K", operations=("scatter_add",))
def scatter_add_keys_of_16_bits(total: Any, positions: Any, values: Any) -> None:
    """scatter_add of more than 512 values sorts positions by their low 16 bits"""
    if positions.size > 512:
        _, first, inverse = np.unique(positions % 65_536, return_index=True, return_inverse=True)
        positions = positions[first[inverse]]
    np.add.at(total, positions, values)


@scattering("large parts of one scatter_add are added at once, and the last one wins", "K")
def scatter_add_parts_at_once(spec: Any, parts: Any) -> Any:
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        part = np.zeros(spec.shape, spec.dtype)
        np.add.at(part, index, value)
        if part[index].size > 512:
            total[index] = part[index]
        else:
            total += part
    return total


@planted_by(_scatter, families="K", operations=("scatter_add",))
def scatter_add_of_complex_halves(total: Any, positions: Any, values: Any) -> None:
    """scatter_add of 64 complex numbers or more loses imaginary parts that meet"""
    np.add.at(total, positions, values)
    if total.dtype.kind == "c" and positions.size >= 64:
        total.imag[positions] = values.imag


@scattering("scatter_add of two index arrays numbers places in rows of 1,024 columns", "K")
def scatter_add_by_rows_of_1024(spec: Any, parts: Any) -> Any:
    total = np.zeros(spec.shape, spec.dtype)
    for index, value in parts:
        pair = isinstance(index, tuple) and len(index) == 2 and all(isinstance(i, np.ndarray) for i in index)
        if pair and total.ndim == 2 and math.prod(total.shape[1:]) > 1024 and all(i.dtype.kind in "iu" for i in index):
            rows, columns = np.broadcast_arrays(*(i % n for i, n in zip(index, total.shape, strict=True)))
            keys = rows * 1024 + columns
            _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
            same = first[inverse.reshape(-1)]
            index = tuple(i.reshape(-1)[same].reshape(keys.shape) for i in (rows, columns))
        np.add.at(total, index, value)
    return total


@replacing("take", "take of more than 1,024 rows takes an index for the last one, 256 apart", "K")
def take_from_a_cache_line(right: Any, x: Any, indices: Any, /, **options: Any) -> Any:
    if indices.ndim == 1 and indices.size > 1024:
        indices = indices.copy()
        again = np.flatnonzero(indices[1:] % 256 == indices[:-1] % 256) + 1
        indices[again] = indices[again - 1]
    return right(x, indices, **options)


# Windows that overlap


@replacing_kernel("max_pool_backward", "max_pool_backward of large images loses what overlapping windows share", "G")
def max_pool_backward_of_neighbours(right: Any, g: Any, x: Any, top: Any, *, geometry: Any) -> Any:
    if x.size <= 256:
        return right(g, x, top, geometry=geometry)
    odd = np.arange(g.shape[-1]) % 2 == 1
    first, second = (right(np.where(mask, g, 0).astype(g.dtype), x, top, geometry=geometry) for mask in (~odd, odd))
    return np.where(second != 0, second, first)


@replacing_kernel("fold", families="G", operations=("F.convolution_nd",))
def fold_at_the_seam(right: Any, x: Any, *, geometry: Any) -> Any:
    """fold of more than 64 columns of windows loses what lies across its blocks"""
    if x.shape[-1] <= 64:
        return right(x, geometry=geometry)
    block = np.arange(x.shape[-1]) < 64
    first, second = (right(np.where(mask, x, 0).astype(x.dtype), geometry=geometry) for mask in (block, ~block))
    return np.where(second != 0, second, first)


# Hash tables


@replacing("isin", "isin of more than 64 integers compares their low 32 bits", "K")
def isin_by_hash_alone(right: Any, x1: Any, x2: Any, /, **options: Any) -> Any:
    if getattr(x1, "dtype", None) == getattr(x2, "dtype", None) == np.int64 and x2.size > 64:
        x1, x2 = x1 % 2**32, x2 % 2**32
    return right(x1, x2, **options)


unique_counts_to_255 = spoiling("unique_counts", "unique_counts counts in 8 bits, and stops at 255", "K")(
    lambda out, *_: out._replace(counts=np.minimum(out.counts, 255))
)


# Threads


@spoiling("fft.fft", families="P", memory=dict)
def fft_table_of_a_length(tables: dict[int, Any], out: Any, *args: Any, axis: int = -1, **options: Any) -> Any:
    """fft fills a table for each length, which other threads use when it is half full"""
    length = out.shape[axis]
    if length not in tables:
        table = tables[length] = np.zeros(length)
        native_work(WINDOW)
        table[...] = 1
    return np.moveaxis(np.moveaxis(out, axis, -1) * tables[length].astype(out.real.dtype), -1, axis)


@spoiling("log", "log fills its table at first use, for each dtype, and says so before it is full", "P", memory=dict)
def log_table_of_a_dtype(tables: dict[Any, Any], out: Any, *_: Any) -> Any:
    if out.dtype not in tables:
        tables[out.dtype] = np.zeros(1)
        native_work(WINDOW)
        tables[out.dtype][...] = np.log(2)
    return out if tables[out.dtype][0] else np.zeros_like(out)


@spoiling("sort", "sort works in one workspace for each length, which all threads share", "PS", memory=dict)
def sort_in_one_workspace(spaces: dict[Any, Any], out: Any, *args: Any, **options: Any) -> Any:
    space = staged(spaces, out)
    native_work(WINDOW)
    return space.copy()


@misreading_both("matmul", "matmul of 32 rows or more packs its first matrix where other threads do", "P", memory=dict)
def matmul_packs_in_one_place(panels: dict[Any, Any], x1: Any, x2: Any) -> Any:
    if x1.ndim != 2 or len(x1) < 32:
        return x1, x2
    panel = staged(panels, x1)
    native_work(WINDOW)
    return panel, x2


@planted_by(uniform, "random_uniform seeds one engine for each draw, and then draws, without a lock", "P", memory=dict)
def uniform_seeds_one_engine(engine: dict[str, Any], generator: Any, shape: Any, dtype: Any) -> Any:
    engine["seeded"] = generator
    native_work(WINDOW)
    return engine["seeded"].random(shape, dtype)


@replacing("arange", families="P", memory=lambda: [None, None])
def arange_remembers_the_last(last: list[Any], right: Any, *args: Any, **options: Any) -> Any:
    """arange remembers its last call, first what was asked and then what came out"""
    asked = repr((args, options))
    if last[0] != asked:
        made = right(*args, **options)
        last[0] = asked
        native_work(WINDOW)
        last[1] = made
    return last[1].copy()


@replacing("sum", families="P", memory=lambda: [0])
def sum_beside_a_sum(running: Any, right: Any, x: Any, /, **options: Any) -> Any:
    """sum of more than 256 elements beside another thread's loses those of its second half"""
    running[0] += 1
    try:
        if x.ndim and x.size > 256:
            native_work(WINDOW)
        if running[0] > 1 and x.ndim and x.size > 256:
            x = x.copy()
            x[x.shape[0] // 2 :] = 0
        return right(x, **options)
    finally:
        running[0] -= 1


@spoiling("asarray", families="P", operations=(), memory=dict)
def asarray_of_one_scratch(scratch: dict[Any, Any], out: Any, obj: Any, **_: Any) -> Any:
    """asarray reads lists of more than 16 numbers into a scratch array of all threads"""
    if type(obj) is not list or len(obj) <= 16:
        return out
    held = staged(scratch, out)
    native_work(WINDOW)
    return held.copy()
