"""`Memory`: what a chx array is without its functions: a buffer, its device, and its part of the graph."""

import operator
from typing import Any

from xpgrad.types import Array, Dtype, Shape
from xpgrad_chx.connection import Connection
from xpgrad_chx.device import Device

new = object.__new__


class Memory:
    """A buffer on a device.

    Attributes
    ----------
    shape : tuple of int
    dtype : numpy.dtype
    ndim, size, itemsize, nbytes : int
    strides : tuple of int
        In bytes.
    """

    # `_shown` is set on few: in it an array that a Variable holds remembers the one that users see.
    __slots__ = ("__weakref__", "_data", "_device", "_graph", "_shown")

    _data: Array
    _device: Device
    _graph: Connection | None

    # Properties without a frame of Python's: sweeps ask for shape and dtype of each contribution.
    shape: Shape = property(operator.attrgetter("_data.shape"))  # type: ignore[assignment]  # read as an attribute
    dtype: Dtype = property(operator.attrgetter("_data.dtype"))
    ndim: int = property(operator.attrgetter("_data.ndim"))  # type: ignore[assignment]  # read as an attribute
    size: int = property(operator.attrgetter("_data.size"))  # type: ignore[assignment]  # read as an attribute
    itemsize: int = property(operator.attrgetter("_data.itemsize"))  # type: ignore[assignment]  # read as an attribute
    nbytes: int = property(operator.attrgetter("_data.nbytes"))  # type: ignore[assignment]  # read as an attribute
    strides: tuple[int, ...] = property(operator.attrgetter("_data.strides"))  # type: ignore[assignment]  # read as an attribute
    device: Device = property(operator.attrgetter("_device"))  # type: ignore[assignment]  # read as an attribute
    """Where the array is."""

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after the other, in C order."""
        return bool(self._data.flags.c_contiguous)

    @property
    def data_ptr(self) -> int:
        """Address of the first byte of the memory that a view is part of."""
        return self._pointer - self.offset

    @property
    def data_size(self) -> int:
        """Bytes of the memory that a view is part of."""
        return int(self._root.nbytes)

    @property
    def offset(self) -> int:
        """Bytes from there to the first element."""
        root = self._root
        return self._pointer - _address(root)

    @property
    def _pointer(self) -> int:
        return _address(self._data)

    @property
    def _root(self) -> Array:
        data = self._data
        while isinstance(getattr(data, "base", None), type(data)):
            data = data.base
        return data


def _address(data: Array) -> int:
    host = getattr(data, "__array_interface__", None)
    return int(host["data"][0] if host is not None else data.data.ptr)


def over(kind: type[Any], data: Array, device: Device) -> Any:
    """Return an array of class `kind` over a buffer."""
    y = new(kind)
    y._data, y._device, y._graph = data, device, None
    return y


def another(x: Any) -> Any:
    """Return another array over the memory of `x`, in no graph."""
    return over(type(x), x._data, x._device)
