"""Conversion of arrays between libraries, without a copy where both can use the same memory."""

from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import DTYPES, transfer
from xpgrad.types import Array


def shared(array: Array, target: Device) -> Array:
    """Return `array` on the device `target`: through DLPack in the same memory where possible, else as a copy.

    In contrast, `transfer` copies so that neither library sees writes of the other. Computations with the
    result must not write into it.

    Raises
    ------
    DtypeError
        The library of `target` would change the dtype.
    """
    backend = plugins.backend_of(array)
    if backend.device_of(array) == target:
        return array
    new = target.backend
    if backend is not new and backend.exports(array, new.dlpack_device(target)) and _forward(array):
        try:
            made = new.from_dlpack(array, target)
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):  # not every array can be exported
            made = NotImplemented
        if made is not NotImplemented and _same(array, made, target):
            return made
    return transfer(array, target)


def peer(array: Array, library: Backend) -> Device:
    """Return the device of the backend `library` that uses the memory of `array`, else its default device."""
    backend = plugins.backend_of(array)
    if backend is library:
        return backend.device_of(array)
    for device in library.devices():
        if backend.exports(array, library.dlpack_device(device)):
            return device
    return library.default_device


def _forward(array: Array) -> bool:
    """Return whether no stride is negative, if the library shows strides; some libraries crash for negative strides."""
    strides = getattr(array, "strides", None)
    return not isinstance(strides, tuple) or all(stride >= 0 for stride in strides)


def _same(array: Array, made: Array, target: Device) -> bool:
    """Return whether the dtype is unchanged; if not, `transfer` reports this."""
    sent, got = plugins.backend_of(array).dtype_name(array.dtype), target.backend.dtype_name(made.dtype)
    return sent == got or sent not in DTYPES or got not in DTYPES
