"""`Initializer`: base class of initializers of parameters."""

import math
import operator
from typing import Any

from xpgrad.backend.checks import check_cast
from xpgrad.backend.current import current_device, get_device
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spellings import dtype_of
from xpgrad.backend.transfer import transfer
from xpgrad.errors import DtypeError
from xpgrad.types import Array, Dtype, Shape, integers


class Initializer:
    """Base of initializers.

    A subclass implements `generate`, or, as in Chainer, `__call__`, which writes to the array that it gets.

    Parameters
    ----------
    dtype : dtype, str or None
        Dtype of the arrays to initialise; None for ``config.dtype``, where `mixed16` means float32.
    """

    def __init__(self, dtype: Any = None) -> None:
        self.dtype = dtype

    def __call__(self, array: Array) -> Array | None:
        """Fill `array`, or leave it unchanged on an error; return a new array if arrays are immutable or traced."""
        backend = plugins.backend_of(array)
        if self.dtype is not None and dtype_of(self.dtype, backend, type(self).__name__) != array.dtype:
            raise TypeError(
                f"{type(self).__name__}: the initializer is for {self.dtype}, got an array of {array.dtype}"
            )
        made = self.generate(tuple(array.shape), array.dtype, backend.device_of(array))
        traced = plugins.by_type.get(type(made), backend).base is backend  # drawn within a transformation
        if backend.immutable or traced:
            return made if traced else backend.restore(made)
        backend.follow(operator.setitem)(array, ..., backend.restore(made))
        return None

    def generate(self, shape: Shape, dtype: Dtype, device: Device) -> Array:
        """Return a new array of this shape and dtype on `device`."""
        raise NotImplementedError(f"{type(self).__name__}: implement generate(shape, dtype, device) or __call__(array)")


def get_fans(shape: Shape) -> tuple[int, int]:
    """Return the number of inputs per output, and of outputs per input, for a filter of shape (out, in, *window).

    Raises
    ------
    ValueError
        `shape` is no tuple or has fewer than two axes.
    """
    if not isinstance(shape, tuple) or len(shape) < 2:
        raise ValueError(f"get_fans: expected the shape of a filter, a tuple of at least 2 lengths; got {shape}")
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def generate_array(initializer: Any, shape: Shape, xp: Any = None, dtype: Any = None, device: Any = None) -> Array:
    """Return a new array with the values of an initializer.

    Parameters
    ----------
    initializer : callable
        It writes to the array that it gets, or returns another.
    shape : tuple of int
    xp : module, optional
        Namespace of the library of the array; by default the namespace of `device`.
    dtype : dtype or str, optional
        By default the dtype of the initializer, or ``config.dtype``, where `mixed16` means float32.
    device : Device or specifier, optional
        By default the current one, or the default one of the library `xp`.

    Raises
    ------
    ValueError
        The initializer has another dtype.
    """
    target = _target(xp) if device is None else get_device(device)
    backend, own = target.backend, getattr(initializer, "dtype", None)
    found = dtype_of(own if dtype is None else dtype, backend, "generate_array")
    if own is not None and dtype_of(own, backend, "generate_array") != found:
        raise ValueError(f"generate_array: dtype is {dtype}, but that of the initializer is {own}; give one of them")
    array = backend.xp.zeros(integers(shape), dtype=found, device=target.handle)
    made = backend.follow(initializer)(array)
    return array if made is None else made


def _target(xp: Any) -> Device:
    current = current_device()
    if xp is None or xp is current.backend.namespace:
        return current
    made = xp.zeros(0)
    backend = plugins.backend_of(made)
    return current if backend is current.backend else backend.device_of(made)


def arrived(operation: str, values: Any, dtype: Dtype, device: Device) -> Array:
    """Return numbers of any library as an array of `dtype` on `device`.

    Raises
    ------
    DtypeError
        Complex numbers for a real dtype; the text begins with `operation`.
    """
    if plugins.is_scalar(values):
        values = plugins.plain(values)
        if isinstance(values, complex) and not device.backend.is_kind(dtype, "complex floating"):
            name = device.backend.dtype_name(dtype)
            raise DtypeError(f"{operation}: expected real numbers for an array of {name}, got {values}")
        return device.backend.xp.full((), values, dtype=dtype, device=device.handle)
    check_cast(values, device.backend.dtype_name(dtype), operation)
    old, new = plugins.backend_of(values), device.backend
    if old is not new:  # cast before the move: not each device has float64
        values = old.xp.astype(values, dtype_of(new.dtype_name(dtype), old))
    return new.xp.astype(transfer(values, device), dtype)
