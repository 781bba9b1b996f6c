"""dpnp's kernels: what gathers need in their gradients."""

import math

import dpnp

from xpgrad.plugin import Spec, flat_index, scatter_add_by_sorting
from xpgrad.types import Array, Index

BASIC = int, slice, type(None), type(...)
COUNTED_FROM = 16384
NARROW = frozenset(map(dpnp.dtype, ("float16", "float32", "complex64")))
"""Dtypes that `bincount`, which adds in float64 and in no fixed order, sums to the same bits but in rare cases."""


def accumulate(total: Array, g: Array, /) -> Array:
    """Return ``total + g``, written into `total` where it can hold it."""
    if total.dtype == g.dtype and total.shape == g.shape:
        total += g
        return total
    return total + g


def scatter_add(spec: Spec, parts: list[tuple[Index, Array]], /) -> Array:
    """Return zeros of `spec` with every value added at its index; repeated positions accumulate.

    Slices are added in place. Of index arrays, many values of narrow dtypes are counted, which takes a tenth of the
    time; all others are sorted, so that the order of the additions, and the last bit, is always the same.
    """
    total, sorted_parts = None, []
    for index, value in parts:
        basic = all(isinstance(item, BASIC) for item in (index if type(index) is tuple else (index,)))
        if not basic and (spec.dtype not in NARROW or value.size < COUNTED_FROM):
            sorted_parts.append((index, value))
            continue
        if total is None:
            total = dpnp.zeros(spec.shape, dtype=spec.dtype, device=spec.device)
        if basic:
            total[index] += value
        else:
            total += _counted(spec, index, value)
    if total is None:
        return scatter_add_by_sorting(spec, sorted_parts)
    return total + scatter_add_by_sorting(spec, sorted_parts) if sorted_parts else total


def _counted(spec: Spec, index: Index, value: Array) -> Array:
    """Return zeros of `spec` with the values added at the places of an index with arrays in it."""
    places = flat_index(spec.backend, spec.shape, index, spec.device)
    value = dpnp.reshape(dpnp.broadcast_to(value, places.shape), (-1,))
    places, size = dpnp.reshape(places, (-1,)), math.prod(spec.shape)
    if spec.complex:
        real, imag = (dpnp.bincount(places, weights=part, minlength=size) for part in (value.real, value.imag))
        found = real + 1j * imag
    else:
        found = dpnp.bincount(places, weights=value, minlength=size)
    return dpnp.reshape(dpnp.astype(found, spec.dtype), spec.shape)


KERNELS = {"accumulate": accumulate, "scatter_add": scatter_add}
