"""Kernels for gradients of gathers: adding at positions, and into a buffer that the sweep owns."""

from typing import Any

import cupy
import cupyx

from xpgrad.plugin import Spec, scatter_add_by_sorting
from xpgrad.types import Array, Index

ATOMIC = frozenset("eflLiIqQ")
"""Type characters of the dtypes for which CuPy adds at positions: CUDA's atomic additions."""
BASIC = (int, slice, type(None), type(...))


def accumulate(total: Array, g: Array, /) -> Array:
    """Return ``total + g``, written into `total`."""
    if total.dtype != g.dtype or total.shape != g.shape:
        return total + g
    return cupy.add(total, g, out=total)


def scatter_add(spec: Spec, parts: list[tuple[Index, Array]], /) -> Array:
    """Return zeros of `spec` with every value added at its index; repeated positions accumulate.

    They are added in no fixed order (atomically), so that the last bits of sums of three and more may differ from run
    to run. Complex numbers are added as pairs of real ones, dtypes without atomic addition by sorting.
    """
    with cupy.cuda.Device(spec.device.id):
        total = cupy.zeros(spec.shape, spec.dtype)
        halves = [total.real, total.imag] if spec.complex else [total]
        arrays = [(index, value) for index, value in parts if not _is_basic(index)]
        if arrays and halves[0].dtype.char not in ATOMIC:
            return scatter_add_by_sorting(spec, parts)
        for index, value in parts:
            if _is_basic(index):
                place = total[index]  # a view, even for a single element
                cupy.add(place, value, out=place)
            elif spec.complex:
                cupyx.scatter_add(halves[0], index, value.real)
                cupyx.scatter_add(halves[1], index, value.imag)
            else:
                cupyx.scatter_add(total, index, value)
        return total


def _is_basic(index: Any) -> bool:
    items = index if type(index) is tuple else (index,)
    return all(type(item) in BASIC for item in items)


GATHERS = {"accumulate": accumulate, "scatter_add": scatter_add}
