"""Moving Variables between devices: data and gradient together, all or nothing."""

import weakref
from typing import TYPE_CHECKING, Any

from xpgrad.backend.device import Device, get_device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import fitted, transfer
from xpgrad.config import using_config
from xpgrad.errors import BackendUnavailable, GraphError, ShapeError
from xpgrad.graph.node import VariableNode, leaf_node
from xpgrad.graph.slot import slot
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.graph.variable import Variable


def to_device(x: "Variable", specifier: Any) -> "Variable":
    """Move data and gradient of `x`, and return `x`; if anything fails, `x` is as it was.

    A Variable inside a graph becomes the output of a recorded copy, so that the graph stays whole.
    """
    target = get_device(specifier)
    if x._array is None or x.device == target:
        return x
    grad = _moved_grad(x, target)
    if x.creator_node is None:
        _replace(x, transfer(x._array, target), grad)
        return x
    with using_config("enable_backprop", True):  # moving cuts no graph, whatever the mode
        copied = slot.functions.copy(x, target)
    _adopt(x._node, copied._node, copied._array)
    x._array, x._node, x._grad = copied._array, copied._node, grad
    x._node.variable = weakref.ref(x)
    return x


def _moved_grad(x: "Variable", target: Device) -> Any:
    """Return what `x` holds as its gradient on `target`, connected to its graph if it is in one."""
    grad = x._grad
    if grad is None or not hasattr(grad, "_node"):
        return None if grad is None else transfer(grad, target)
    if grad.creator_node is None:
        return transfer(grad._array, target)
    with using_config("enable_backprop", True):
        return slot.functions.copy(grad, target)


def _replace(x: "Variable", array: Array, grad: Any) -> None:
    """Give a root another place: a node for there, which gradients from graphs that know the old one still find."""
    old, spec = x._node, plugins.backend_of(array).spec(array)
    node = leaf_node(x, spec, x.requires_grad)
    _adopt(old, node, array)
    x._array, x._node, x._grad = array, node, grad
    ref = weakref.ref(old)
    del old
    if (known := ref()) is not None:  # no graph holds it otherwise
        node.succeed(known)


def _adopt(old: VariableNode, node: VariableNode, array: Array) -> None:
    """Let `node` have the name, hooks and retained data of `old`."""
    if old.extra is not None:
        extra = node.own_extra()
        extra.name, extra.hooks, extra.declared = old.extra.name, old.extra.hooks, old.extra.declared
        extra.loss_scale = old.extra.loss_scale
        extra.data = None if old.extra.data is None else array


def to_gpu(x: "Variable", device: Any) -> "Variable":
    """Move `x` to a GPU: number `device`, or the current device if that is one, else number 0."""
    if device is None:
        gpu = plugins.role("gpu")
        current = get_device(None)
        device = current if current.backend is gpu else 0
    return x.to_device(device)


def to_chx(x: "Variable") -> "Variable":
    """Let data and gradient become chx arrays on the same physical device, without a copy."""
    backend: Any = plugins.role("native")
    return _share(x, backend.adopt, "to_chx")


def from_chx(x: "Variable") -> "Variable":
    """Let chx data and gradient become plain arrays on the same physical device; other arrays stay as they are."""
    if x._array is None:
        return x
    release = getattr(plugins.backend_of(x._array), "release", None)
    return x if release is None else _share(x, release, "from_chx")


def _share(x: "Variable", convert: Any, operation: str) -> "Variable":
    if x._array is None:
        return x
    if x.creator_node is not None:
        raise GraphError(
            f"{operation}: the Variable is inside a graph, which a view would not stay part of; use to_device"
        )
    grad = x.grad
    array, moved = convert(x._array), None if grad is None else convert(grad)
    if array is not x._array:
        _replace(x, array, moved)
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
                return x.to_device(device)
    return x.to_cpu()


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
    if source is target:
        return
    if tuple(source.shape) != tuple(target.shape):
        raise ShapeError(f"copydata: expected an array of shape {target.shape}, got {source.shape}")
    backend = target._node.spec.backend
    array: Any = target._array
    moved = fitted("copydata", array, source._array)
    if backend.immutable:
        target.array = backend.copy(moved)
    else:
        array[...] = moved


def addgrad(target: "Variable", source: "Variable") -> None:
    """Add the gradient of `source` to `target`'s, across devices; both stay differentiable if they are."""
    if source._grad is None:
        return
    if target._array is None:
        initialize = getattr(target, "initialize", None)
        if initialize is not None:
            initialize(source.shape)
            target.cleargrad()
        else:
            target.array = source._node.spec.backend.xp.full_like(source._array, float("nan"))
    held, grad = target.grad_var, source.grad_var
    if target.device != source.device:
        grad = slot.functions.copy(grad, target.device)
        target.grad_var = grad if held is None else slot.functions.add(grad, held)
    else:
        target.grad_var = slot.functions.copy(grad) if held is None else slot.functions.add(grad, held)


def on_host(array: Array) -> Array:
    """Return `array` as an array of the host backend; it may be the array itself."""
    backend, host = plugins.backend_of(array), plugins.role("cpu")
    return array if backend is host else backend.to_host(array)


def from_host(array: Array, device: str | Device) -> Array:
    """Return a host array on `device`; it may be the array itself."""
    return transfer(array, get_device(device))
