"""Scatter-add: in single precision for half precision, and in standard calls for a library without scatter-add."""

from xpgrad.backend.indexing import block, getitem, is_basic
from xpgrad.backend.spec import Spec
from xpgrad.types import Array, Index, Namespace, Shape


def scattered(spec: Spec, parts: list[tuple[Index, Array]], /) -> Array:
    """Return zeros of `spec` with all values added at their indices, by the kernel of its backend.

    Sums of many values at one position would stagnate in half precision, so they are computed in single precision.
    """
    xp = spec.backend.xp
    if not spec.half or all(is_basic(index) for index, _ in parts):
        return xp.scatter_add(spec, parts)
    wide = spec.backend.spec_for(spec.shape, spec.wide, spec.device)
    return xp.astype(xp.scatter_add(wide, [(index, xp.astype(value, spec.wide)) for index, value in parts]), spec.dtype)


def scatter_add_by_sorting(spec: Spec, parts: list[tuple[Index, Array]], /) -> Array:
    """Return zeros of `spec` with all values added at their indices; values at repeated positions are added up.

    It only calls functions of the standard (2023.12), does not write to arrays, and does not branch on values, so it
    works for immutable and lazy libraries as well. It supports all basic and advanced indices. Blocks (integers, slices
    without a step) are padded with zeros. All other values are sorted by position, and values of one position are added
    pairwise; a library's own scatter-add is faster.
    """
    scattered, total = [], None
    for index, value in parts:
        found = block(index, spec.shape)
        if found is None:
            scattered.append((index, value))
        else:
            laid = _among_zeros(spec, value, *found)
            total = laid if total is None else total + laid
    if total is not None and not scattered:
        return total
    found = _sorted_sum(spec, scattered)
    return found if total is None else total + found


def _among_zeros(spec: Spec, value: Array, shape: Shape, ranges: list[tuple[int, int]]) -> Array:
    """Return a block padded with zeros to `spec`, always in new memory."""
    xp = spec.backend.namespace
    made = xp.astype(xp.broadcast_to(value, shape), spec.dtype, copy=True)
    made = xp.reshape(made, tuple(stop - start for start, stop in ranges))
    for axis, (start, stop) in enumerate(ranges):
        if stop - start < spec.shape[axis]:
            around = [
                xp.zeros((*made.shape[:axis], width, *made.shape[axis + 1 :]), dtype=spec.dtype, device=spec.device)
                for width in (start, spec.shape[axis] - stop)
            ]
            made = xp.concat([around[0], made, around[1]], axis=axis)
    return made


def _sorted_sum(spec: Spec, parts: list[tuple[Index, Array]]) -> Array:
    xp, device = spec.backend.namespace, spec.device
    zeros = xp.zeros(spec.shape, dtype=spec.dtype, device=device)
    cells = xp.arange(spec.size, device=device)
    numbered = xp.reshape(cells, spec.shape)
    places, values = [], []
    for index, value in parts:
        hit = getitem(spec.backend, numbered, index)
        places.append(xp.reshape(hit, (-1,)))
        values.append(xp.reshape(xp.astype(xp.broadcast_to(value, hit.shape), spec.dtype), (-1,)))
    place, total = xp.concat(places), xp.concat(values)
    if 0 in place.shape:
        return zeros
    order = xp.argsort(place)
    place = xp.take(place, order, axis=0)
    total = _sum_of_runs(xp, place, xp.take(total, order, axis=0))
    first = xp.searchsorted(place, cells)
    first = xp.where(first < place.shape[0], first, xp.zeros_like(first))  # after the last run: any other position
    found = xp.where(xp.take(place, first, axis=0) == cells, xp.take(total, first, axis=0), xp.reshape(zeros, (-1,)))
    return xp.reshape(found, spec.shape)


def _sum_of_runs(xp: Namespace, key: Array, value: Array) -> Array:
    """Return values in which the first of each run of equal keys is the run's sum, added in steps of 1, 2, 4, ..."""
    step, zeros = 1, xp.zeros_like(value)
    while step < key.shape[0]:
        same = xp.concat([key[step:] == key[:-step], xp.zeros_like(key[:step], dtype=xp.bool)])
        value = value + xp.where(same, xp.concat([value[step:], zeros[:step]]), zeros)
        step *= 2
    return value
