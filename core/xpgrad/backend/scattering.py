"""Scatter-add in standard calls, for a plugin whose library has none of its own."""

from xpgrad.backend.indexing import getitem
from xpgrad.backend.spec import Spec
from xpgrad.types import Array, Index, Namespace


def scatter_add_by_sorting(spec: Spec, parts: list[tuple[Index, Array]], /) -> Array:
    """Return zeros of `spec` with every value added at its index; repeated positions accumulate.

    Only calls of the standard (2023.12), no writing to arrays and no decision on values, so it serves any library,
    immutable and lazy ones too. It takes every basic and advanced index. Values of one position are added
    pairwise. The cost is that of a sort, so a library's own scatter-add is faster.
    """
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
    first = xp.where(first < place.shape[0], first, xp.zeros_like(first))  # behind the last run: any place but its own
    found = xp.where(xp.take(place, first, axis=0) == cells, xp.take(total, first, axis=0), xp.reshape(zeros, (-1,)))
    return xp.reshape(found, spec.shape)


def _sum_of_runs(xp: Namespace, key: Array, value: Array) -> Array:
    """Return values in which the first of each run of equal keys holds the run's sum: 1, 2, 4, ... values at a time."""
    step, zeros = 1, xp.zeros_like(value)
    while step < key.shape[0]:
        same = xp.concat([key[step:] == key[:-step], xp.zeros_like(key[:step], dtype=xp.bool)])
        value = value + xp.where(same, xp.concat([value[step:], zeros[:step]]), zeros)
        step *= 2
    return value
