"""Moving Variables between devices: data and gradient together, all or nothing."""

import weakref
from typing import TYPE_CHECKING, Any

from xpgrad.backend.device import Device, get_device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.errors import BackendUnavailable
from xpgrad.graph.slot import slot
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.graph.variable import Variable


def to_device(x: "Variable", specifier: Any) -> "Variable":
    """Move data and gradient of `x`, and return `x`; if anything fails, `x` is as it was.

    A root keeps its node. A Variable inside a graph becomes the output of a recorded copy, so that the graph stays whole.
    """
    target = get_device(specifier)
    if x._array is None or x.device == target:
        return x
    grad = x._grad
    moved_grad = None if grad is None else transfer(x.grad, target)
    if x.creator_node is not None:
        copied = slot.functions.copy(x, target)
        name, hooks = x.name, None if x._node.extra is None else x._node.extra.hooks
        x._array, x._node = copied._array, copied._node
        _adopt(x, name, hooks)
    else:
        array = transfer(x._array, target)
        spec = target.backend.spec(array)
        x._array, x._node.spec = array, spec
        if x._node.extra is not None and x._node.extra.data is not None:
            x._node.extra.data = array
    x._grad = moved_grad
    return x


def _adopt(x: "Variable", name: str | None, hooks: Any) -> None:
    x._node.variable = weakref.ref(x)
    if name is not None:
        x._node.name = name
    if hooks:
        x._node.own_extra().hooks = hooks


def to_gpu(x: "Variable", device: Any) -> "Variable":
    """Move `x` to a GPU: number `device`, or the current device if that is one, else number 0."""
    if device is None:
        gpu = plugins.role("gpu")
        current = get_device(None)
        device = current if current.backend is gpu else 0
    return to_device(x, device)


def to_chx(x: "Variable") -> "Variable":
    """Let data and gradient become chx arrays on the same physical device, without a copy."""
    backend = plugins.role("native")
    return _share(x, backend.adopt)


def from_chx(x: "Variable") -> "Variable":
    """Let chx data and gradient become plain arrays on the same physical device; other arrays stay as they are."""
    if x._array is None:
        return x
    release = getattr(plugins.backend_of(x._array), "release", None)
    return x if release is None else _share(x, release)


def _share(x: "Variable", convert: Any) -> "Variable":
    if x._array is None:
        return x
    grad = x.grad
    array, moved = convert(x._array), None if grad is None else convert(grad)
    x.array = array
    x._grad = moved
    return x


def to_intel64(x: "Variable") -> "Variable":
    """Move `x` to the intel64 backend where one is installed and takes the array, else to the host."""
    if plugins.knows("intel64"):
        try:
            device = get_device("@intel64")
        except BackendUnavailable:
            pass
        else:
            suits = getattr(device.backend, "suits", None)
            if x._array is not None and (suits is None or suits(x._array)):
                return to_device(x, device)
    return to_device(x, -1)


def copydata(target: "Variable", source: "Variable") -> None:
    """Copy the data of `source` into `target`'s array; an uninitialised side is initialised from the other."""
    if source._array is None:
        if target._array is None:
            return
        initialize = getattr(source, "initialize", None)
        if initialize is None:
            source.array = plugins.backend_of(target._array).copy(target._array)
            return
        initialize(target.shape)
    if target._array is None:
        initialize = getattr(target, "initialize", None)
        if initialize is None:
            target.array = plugins.backend_of(source._array).copy(source._array)
            return
        initialize(source.shape)
    moved = transfer(source._array, target.device)
    backend = plugins.backend_of(target._array)
    if backend.immutable:
        target.array = backend.copy(moved)
    else:
        target._array[...] = moved


def addgrad(target: "Variable", source: "Variable") -> None:
    """Add the gradient of `source` to `target`'s, across devices; both stay differentiable if they are."""
    grad = source.grad_var
    if grad is None:
        return
    if target._array is None:
        initialize = getattr(target, "initialize", None)
        if initialize is not None:
            initialize(source.shape)
            target.cleargrad()
        else:
            xp = plugins.backend_of(source._array).xp
            target.array = xp.full_like(source._array, float("nan"))
    if target.device != source.device:
        grad = slot.functions.copy(grad, target.device)
    held = target.grad_var
    target.grad_var = slot.functions.copy(grad) if held is None else slot.functions.add(held, grad)


def on_host(array: Array) -> Array:
    """Return `array` as an array of the host backend; it may be the array itself."""
    backend, host = plugins.backend_of(array), plugins.role("cpu")
    return array if backend is host else backend.to_host(array)


def from_host(array: Array, device: str | Device) -> Array:
    """Return a host array on `device`; it may be the array itself."""
    return transfer(array, get_device(device))
