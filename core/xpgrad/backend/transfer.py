"""Moving arrays between devices: one function that every move goes through."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.errors import DtypeError, PluginError, ShapeError, UnknownArray
from xpgrad.types import Array

KINDS = "bool", "integral", "real floating", "complex floating"


def transfer(array: Array, target: Device) -> Array:
    """Return `array` on the device `target`; the array itself if it is there already, else a copy.

    Tried in order: a plugin's direct path, the backend's own move, the host.

    Raises
    ------
    UnknownArray
        No backend serves the array.
    """
    backend = plugins.backend_of(array)
    source = backend.device_of(array)
    if source == target:
        return array
    direct = plugins.transfer(source, target)
    if direct is not None:
        moved = direct(array)
        if moved is not NotImplemented:
            return _arrived(moved, source, target)
    if backend is target.backend:
        return backend.move(array, target)
    host = plugins.role("cpu")
    on_host = array if backend is host else backend.to_host(array)
    return on_host if target.backend is host else target.backend.from_host(on_host, target)


def _arrived(moved: Array, source: Device, target: Device) -> Array:
    if Device.from_array(moved) != target:
        raise PluginError(
            f"a plugin's direct path from {source} to {target} gave {type(moved).__qualname__} on "
            f"{Device.from_array(moved)}; expected an array on {target}"
        )
    return moved


def send(arrays: Any, target: Device) -> Any:
    """Return nested lists and tuples of arrays on `target`; an object that occurs twice is moved once, None stays."""
    return _each(arrays, lambda array: transfer(_as_array(array), target))


def to_chx(arrays: Any) -> Any:
    """Return nested lists and tuples of arrays as chx arrays over the same memory."""
    native: Any = plugins.role("native")
    return _each(arrays, native.adopt)


def from_chx(arrays: Any) -> Any:
    """Return nested lists and tuples of arrays in which chx arrays have become plain ones over the same memory."""
    return _each(arrays, lambda array: getattr(plugins.backend_of(array), "release", lambda a: a)(array))


def copyto(dst: Array, src: Array) -> None:
    """Copy the values of `src`, an array on any device, into the memory of `dst`, to whose shape they broadcast.

    Raises
    ------
    TypeError
        One of the two is no array, `dst` is of a library whose arrays cannot be written to, or its dtype is of a kind
        that cannot hold the values.
    ShapeError
        `src` does not broadcast to the shape of `dst`.
    """
    backend = plugins.backend_of(dst)
    if backend.immutable:
        raise UnknownArray(f"copyto: arrays of {backend.name} cannot be written to; use get_device(...).send(src)")
    dst[...] = fitted("copyto", dst, _as_array(src))


def fitted(operation: str, dst: Array, src: Array) -> Array:
    """Return `src` on the device of `dst`, with its dtype and shape; it may be `src` itself."""
    backend = plugins.backend_of(dst)
    moved = transfer(src, backend.device_of(dst))
    if moved.dtype != dst.dtype:
        own, given = (next(i for i, kind in enumerate(KINDS) if backend.is_kind(a.dtype, kind)) for a in (dst, moved))
        if given > own:
            got, wanted = backend.spec(moved), backend.spec(dst)
            raise DtypeError(f"{operation}: {got!r} does not fit into {wanted!r}; cast it with astype first")
        moved = backend.namespace.astype(moved, dst.dtype)
    if tuple(moved.shape) == tuple(dst.shape):
        return moved
    try:
        return backend.namespace.broadcast_to(moved, dst.shape)
    except Exception as error:
        raise ShapeError(
            f"{operation}: expected an array that broadcasts to shape {tuple(dst.shape)}, got {tuple(moved.shape)}"
        ) from error


def _as_array(item: Any) -> Array:
    """Return a library's scalar as a 0-d array of its library, and anything else as it is."""
    if type(item) in plugins.by_type:
        return item
    backend = plugins.backend_of_scalar(item)
    return item if backend is None else backend.asarray(item)


def _each(arrays: Any, function: Callable[[Array], Array]) -> Any:
    done: dict[int, Any] = {}

    def visit(item: Any) -> Any:
        if item is None:
            return None
        if isinstance(item, (list, tuple)):
            items = [visit(each) for each in item]
            return items if isinstance(item, list) else tuple(items)
        if id(item) not in done:
            done[id(item)] = function(item)
        return done[id(item)]

    return visit(arrays)
