"""Moving arrays between devices: one function that every move goes through."""

from typing import Any

from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.types import Array


def transfer(array: Array, target: Device) -> Array:
    """Return `array` on the device `target`; the array itself if it is there already.

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
        return direct(array)
    if backend is target.backend:
        return backend.move(array, target)
    host = plugins.role("cpu")
    on_host = array if backend is host else backend.to_host(array)
    return on_host if target.backend is host else target.backend.from_host(on_host, target)


def send(arrays: Any, target: Device) -> Any:
    """Return nested lists and tuples of arrays on `target`; an object that occurs twice is moved once, None stays."""
    moved: dict[int, Any] = {}

    def visit(item: Any) -> Any:
        if item is None:
            return None
        if isinstance(item, (list, tuple)):
            items = [visit(each) for each in item]
            return items if isinstance(item, list) else tuple(items)
        if id(item) not in moved:
            if type(item) not in plugins.by_type and plugins.is_scalar(item):
                moved[id(item)] = target.backend.asarray(item, device=target.handle)
            else:
                moved[id(item)] = transfer(item, target)
        return moved[id(item)]

    return visit(arrays)
