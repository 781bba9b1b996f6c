"""The library and the device on which functions create arrays, and copies to another device or memory."""

from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.current import current_device, get_device
from xpgrad.backend.device import Device
from xpgrad.backend.levels import innermost_backend
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.graph.definition import identity
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, DeviceHandle, Namespace


def place_of(backend: Backend, device: Any) -> tuple[Backend, DeviceHandle]:
    """Return the backend that creates arrays on `device`, and the device object of its library.

    Parameters
    ----------
    backend : Backend
        None means the current device if it belongs to this backend, else the default device of this backend.
    device : as `get_device` takes it, a device object of the library of `backend`, or None
    """
    backend = innermost_backend(backend)
    if device is None:
        current = current_device()
        return backend, (current if current.backend is backend else backend.default_device).handle
    if not isinstance(device, Device) and any(
        device is known.handle or device == known.handle for known in backend.devices()
    ):
        return backend, device
    found = get_device(device)
    return found.backend, found.handle


def device_at(backend: Backend, device: Any) -> Device:
    """Return the `Device` that `place_of` finds."""
    owner, handle = place_of(backend, device)
    return owner.device_for(handle)


class Copy(FunctionNode):
    """A copy on another device.

    A class, because its input and its output may belong to two backends; the gradient returns to the input's device.
    """

    of_library = True

    def __init__(self, target: Device) -> None:
        self.target = target

    @property
    def label(self) -> str:
        """Name with the target."""
        return f"copy to {self.target}"

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the array on the target device."""
        (x,) = inputs
        self.source = plugins.backend_of(x).device_of(x)
        moved = transfer(x, self.target)
        return (plugins.backend_of(x).copy(x) if moved is x else moved,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Variable, ...]:
        """Return the gradient on the source device."""
        (gy,) = grad_outputs
        return (copy(gy, self.source),)


@primitive(linear=("x",), x=identity)
def duplicate(xp: Namespace, x: AnyArray, /) -> Array:
    """A copy in new memory, on the same device."""
    return xp.asarray(x, copy=True)


def copy(x: AnyArray, /, device: Any = None) -> Variable:
    """Return a copy of `x`, on another device if one is given; its gradient returns to the device of `x`.

    Parameters
    ----------
    x : Variable or array
    device : as `get_device` takes it, or None
    """
    x = as_variable(x)
    target = None if device is None else device_at(x._node.spec.backend, device)
    if target is None or target == x.device:
        return duplicate(x)
    return Copy(target).apply((x,))[0]
