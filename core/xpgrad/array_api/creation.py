"""Creation: Variables without a gradient, on the device of a namespace's backend."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.current import current_device
from xpgrad.backend.device import Device, get_device
from xpgrad.backend.plugins import plugins
from xpgrad.errors import UnknownArray
from xpgrad.graph.variable import Variable, as_array, constant_variable
from xpgrad.types import DeviceHandle

NAMES = ("arange", "empty", "eye", "full", "linspace", "ones", "zeros")
LIKES = ("empty_like", "full_like", "ones_like", "zeros_like")


def handle_on(backend: Backend, device: Any) -> DeviceHandle:
    """Return what the library calls `device`: a specifier, its own object, or None for the current or the default."""
    if device is None:
        current = current_device()
        return current.handle if current.backend is backend else backend.default_device.handle
    if isinstance(device, Device):
        return device.handle
    if any(device is known.handle or device == known.handle for known in backend.devices()):
        return device
    return get_device(device).handle


def creators(backend: Backend) -> dict[str, Callable[..., Variable]]:
    """Return the creation functions of the namespace of `backend`, by name."""

    def creator(name: str) -> Callable[..., Variable]:
        make = getattr(backend.namespace, name)

        def create(*args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> Variable:
            plain = [as_array(a) for a in args]
            return constant_variable(
                backend.restore(make(*plain, dtype=dtype, device=handle_on(backend, device), **kwargs))
            )

        create.__name__ = create.__qualname__ = name
        create.__doc__ = f"Return a new Variable, as the standard's `{name}`; it requires no gradient."
        return create

    def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Variable:
        """Return `obj`, a Variable, an array, a scalar or nested lists, as a Variable."""
        from xpgrad.array_api.copying import astype
        from xpgrad.array_api.copying import copy as copied

        if isinstance(obj, Variable):
            y = obj if device is None else copied(obj, get_device_of(backend, device))
            y = y if dtype is None or y.dtype == dtype else astype(y, dtype)
            return copied(y) if copy and y is obj else y
        if type(obj) in plugins.by_type:
            if plugins.by_type[type(obj)] is not backend:
                raise UnknownArray(
                    f"asarray: expected an array of {backend.name}, got {type(obj).__qualname__}; use to_device"
                )
            made = backend.namespace.asarray(obj, dtype=dtype, copy=copy)
        else:
            made = backend.namespace.asarray(obj, dtype=dtype, device=handle_on(backend, device), copy=copy)
        return constant_variable(backend.restore(made))

    made = {name: creator(name) for name in NAMES}
    made["asarray"] = asarray
    return made


def get_device_of(backend: Backend, device: Any) -> Device:
    """Return the `Device` for a specifier or one of the library's own objects."""
    return device if isinstance(device, Device) else backend.device_for(handle_on(backend, device))


def _like(name: str) -> Callable[..., Variable]:
    def create(x: Any, /, *args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> Variable:
        array = as_array(x)
        backend = plugins.backend_of(array)
        make = getattr(backend.namespace, name)
        handle = backend.handle_of(array) if device is None else handle_on(backend, device)
        return constant_variable(
            backend.restore(make(array, *map(as_array, args), dtype=dtype, device=handle, **kwargs))
        )

    create.__name__ = create.__qualname__ = name
    create.__doc__ = (
        f"Return a new Variable with the shape of `x`, as the standard's `{name}`; it requires no gradient."
    )
    return create


empty_like, full_like, ones_like, zeros_like = (_like(name) for name in LIKES)
