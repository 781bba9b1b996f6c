"""`Memory`: the data of a chx array: a buffer, its device, and its connection to the graph."""

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

    # `_shown` is set on few: an array that a Variable holds stores in it the array that users get.
    __slots__ = ("__weakref__", "_data", "_device", "_graph", "_shown")

    _data: Array
    _device: Device
    _graph: Connection | None

    # Properties without a Python frame: sweeps read shape and dtype of each contribution.
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
        """Whether the array is C-contiguous."""
        return bool(self._data.flags.c_contiguous)

    @property
    def data_ptr(self) -> int:
        """Address of the first byte of the underlying memory of a view."""
        return self._pointer - self.offset

    @property
    def data_size(self) -> int:
        """Size of the underlying memory of a view in bytes."""
        return int(self._root.nbytes)

    @property
    def offset(self) -> int:
        """Offset of the first element from `data_ptr` in bytes."""
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
    """Return a view of `x` that is in no graph."""
    return over(type(x), x._data, x._device)
