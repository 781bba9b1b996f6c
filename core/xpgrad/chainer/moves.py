"""Chainer's names for moving Variables: `to_cpu`, `to_gpu`, `to_chx`, `from_chx` and `to_intel64`."""

from typing import Any

from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.chainer.sharing import shared
from xpgrad.errors import BackendUnavailable
from xpgrad.graph.methods.declared import bind
from xpgrad.graph.methods.moving import rebind, replace_root
from xpgrad.graph.variable import Variable, as_array
from xpgrad.types import Array


def to_cpu(x: Variable) -> Variable:
    """Move `x` to the host."""
    return x.to_device(-1)


def to_gpu(x: Variable, device: Any = None) -> Variable:
    """Move `x` to a GPU: number `device`, or the current device if that is one, else number 0."""
    if device is None:
        gpu = plugins.backend_of_prefix("gpu")
        current = get_device(None)
        device = current if current.backend is gpu else 0
    return x.to_device(device)


def to_chx(x: Variable) -> Variable:
    """Make data and gradient chx arrays on the same physical device, without a copy."""
    backend: Any = plugins.backend_of_prefix("native")
    return _share(x, backend.wrap, backend.unwrap, "to_chx")


def from_chx(x: Variable) -> Variable:
    """Make chx data and gradient plain arrays on the same physical device; other arrays are unchanged."""
    if x._array is None:
        return x
    backend: Any = plugins.backend_of(x._array)
    unwrap = getattr(backend, "unwrap", None)
    return x if unwrap is None else _share(x, unwrap, backend.wrap, "from_chx")


def _share(x: Variable, convert: Any, back: Any, operation: str) -> Variable:
    """Replace data and gradient by arrays over the same memory; inside a graph, with a recorded function."""
    if x._array is None or type(convert(x._array)) is type(x._array):
        return x

    def moved(grad: Any) -> Any:
        if grad is None:
            return None
        recorded = isinstance(grad, Variable) and grad.creator_node is not None
        return shared(grad, convert, back, operation) if recorded else convert(as_array(grad))

    if x.creator_node is None:
        replace_root(x, convert(x._array), moved)
        return x
    rebind(x, shared(x, convert, back, operation), moved)
    return x


def to_intel64(x: Variable) -> Variable:
    """Move `x` to the intel64 device if this exists and supports the array, else to the host."""
    device = intel64()
    if device is not None and x._array is not None:
        spec = x._node.spec
        device = device if device.backend.suits(spec.shape, spec.backend.dtype_name(spec.dtype)) else None
    return x.to_device(-1 if device is None else device)


def moved_if_unsuitable(array: Array, device: Device) -> Array:
    """Return an array that was made on `device`, moved to the host if that does not suit it."""
    backend = device.backend
    if backend.suits(tuple(array.shape), backend.dtype_name(array.dtype)):
        return array
    return transfer(array, plugins.host.default_device)


def intel64() -> Device | None:
    """Return the device of the backend called ``intel64``, or that claims this prefix; None where none can be used."""
    try:
        if plugins.knows("intel64"):
            return get_device("@intel64")
        return plugins.device_of_prefix("intel64") if "intel64" in plugins.installed.prefixes else None
    except BackendUnavailable:
        return None


bind(Variable, {f.__name__: f for f in (to_cpu, to_gpu, to_chx, from_chx, to_intel64)})
