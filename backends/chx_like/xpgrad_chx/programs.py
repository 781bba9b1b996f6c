"""`ChainerxPrograms`: the memory of chx arrays, for programs in C."""

import ctypes
from collections.abc import Mapping
from typing import Any

from xpgrad.plugin import Backend, Programs, programs_of
from xpgrad.types import Array
from xpgrad_chx.array import ndarray
from xpgrad_chx.memory import over


class ChainerxPrograms(Programs):
    """The memory of chx arrays, which is the memory of their buffers.

    Parameters
    ----------
    backend : Backend
    buffers : Backend
        The library of buffers in host memory.
    """

    def __init__(self, backend: Backend, buffers: Backend) -> None:
        super().__init__(backend)
        self._buffers = buffers

    def address(self, array: Array) -> int:
        """Return the address of the first element of a plain array in host memory that is in C order, else 0."""
        plain = array._graph is None and array._device.on_host
        return programs_of(array._device.buffers).address(array._data) if plain else 0

    def contiguous(self, array: Array) -> Array:
        """Return a copy in C order; return an array in a graph unchanged, since a copy would leave the graph."""
        if array._graph is not None:
            return array
        return over(ndarray, programs_of(array._device.buffers).contiguous(array._data), array._device)

    def array_layout(self) -> Mapping[str, Any] | None:
        """Return the offsets of the buffer and the graph, which must be None, and the layout of host buffers."""
        buffers = programs_of(self._buffers).array_layout()
        if buffers is None:
            return None
        sample = ndarray.__new__(ndarray)
        places = {}
        for key, slot in (("inner", "_data"), ("none", "_graph")):
            setattr(sample, slot, marker := object())
            words = range(object.__basicsize__, ndarray.__basicsize__, ctypes.sizeof(ctypes.c_void_p))
            found = [at for at in words if ctypes.c_void_p.from_address(id(sample) + at).value == id(marker)]
            if len(found) != 1:
                return None
            places[key] = found[0]
        return {**buffers, **places, "inner_kind": self._buffers.array_types[0]}
