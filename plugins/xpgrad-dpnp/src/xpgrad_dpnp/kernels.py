"""dpnp's kernels: indexing by NumPy's rules, and the gradients of gathers."""

import math
from typing import Any

import dpnp

import xpgrad
from xpgrad.plugin import Backend, Spec, flat_index, scatter_add_by_sorting
from xpgrad.types import Array, Index, Kernel
from xpgrad_dpnp.order import settled

BASIC = frozenset((int, slice, type(None), type(...)))
COUNTED_FROM = 16384
NARROW = frozenset(map(dpnp.dtype, ("float16", "float32", "complex64")))
"""Dtypes that `bincount`, which adds in float64 and in no fixed order, sums reproducibly except in rare cases."""


def getitem(x: Array, /, index: Index) -> Array:
    """Return ``x[index]``."""
    if _is_basic(index):
        return x[index]
    if not _needs_places(index):
        return settled(x[index])
    places = flat_index(_backend(), x.shape, index, x.device)
    return settled(dpnp.take(dpnp.reshape(x, (-1,)), places))


def setitem(x: Array, u: Any, /, index: Index) -> Array:
    """Return a copy of `x` with `u` at `index`."""
    y = dpnp.copy(x, order="C")
    if _needs_places(index):
        places = flat_index(_backend(), x.shape, index, x.device)
        dpnp.reshape(y, (-1,), copy=False)[places] = u
    else:
        y[index] = u
    return y if _is_basic(index) else settled(y)


def accumulate(total: Array, g: Array, /) -> Array:
    """Return ``total + g``, written into `total` where it can hold it."""
    if total.dtype == g.dtype and total.shape == g.shape:
        total += g
        return total
    return total + g


def scatter_add(spec: Spec, parts: list[tuple[Index, Array]], /) -> Array:
    """Return zeros of `spec` with every value added at its index; repeated positions accumulate.

    Slices are added in place. Positions of index arrays are flattened. For many values of narrow dtypes `bincount`
    computes the sums, in a tenth of the time; other values are sorted, so that the order of the additions, and the last
    bit, is always the same.
    """
    total = dpnp.zeros(spec.shape, dtype=spec.dtype, device=spec.device)
    places, values = [], []
    for index, value in parts:
        if _is_basic(index):
            total[index] += value
        else:
            place = flat_index(spec.backend, spec.shape, index, spec.device)
            places.append(dpnp.reshape(place, (-1,)))
            values.append(dpnp.reshape(dpnp.broadcast_to(value, place.shape), (-1,)))
    if not places:
        return total
    place, value = (each[0] if len(each) == 1 else dpnp.concat(each) for each in (places, values))
    if not place.size:
        return total
    counted = value.dtype in NARROW and spec.dtype == value.dtype and place.size >= COUNTED_FROM
    flat = spec.backend.spec_for((math.prod(spec.shape),), spec.dtype, spec.device)
    found = _counted(flat, place, value) if counted else scatter_add_by_sorting(flat, [(place, value)])
    total += dpnp.reshape(found, spec.shape)
    return total


def _counted(spec: Spec, places: Array, values: Array) -> Array:
    """Return zeros of a flat `spec` with the values added at their positions."""
    (size,) = spec.shape
    if not spec.complex:
        return dpnp.astype(dpnp.bincount(places, weights=values, minlength=size), spec.dtype)
    real, imag = (dpnp.bincount(places, weights=part, minlength=size) for part in (values.real, values.imag))
    return dpnp.astype(real + 1j * imag, spec.dtype)


def _is_basic(index: Index) -> bool:
    return all(type(item) in BASIC for item in (index if type(index) is tuple else (index,)))


def _needs_places(index: Index) -> bool:
    """Return whether dpnp takes an index otherwise than NumPy, or not at all: index arrays and something in between.

    dpnp treats a whole number next to index arrays as a slice, which places the axes differently.
    """
    if type(index) is not tuple or _is_basic(index):
        return False
    arrays = [i for i, item in enumerate(index) if type(item) not in BASIC]
    apart = arrays[-1] - arrays[0] >= len(arrays)
    return apart or any(type(item) is int for item in index)


def _backend() -> Backend:
    return xpgrad.get_device("@dpnp").backend.root


KERNELS: dict[str, Kernel] = {
    "accumulate": accumulate,
    "getitem": getitem,
    "scatter_add": scatter_add,
    "setitem": setitem,
}
