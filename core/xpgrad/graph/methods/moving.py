"""Moving Variables between devices: data and gradient together, all or nothing."""

import functools
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from xpgrad.backend.current import call_on, get_device
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import fitted, transfer
from xpgrad.config import backprop_mode, called_with
from xpgrad.errors import BackendUnavailable, ShapeError
from xpgrad.graph.exchange import exchange, lock
from xpgrad.graph.gradients import check_gradient_variable
from xpgrad.graph.node import VariableNode, leaf_node
from xpgrad.graph.slot import slot
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.graph.variable import Variable

Moved = Callable[[Any], Any]
STATE = ("_array", "_node", "_grad", "_grad_valid", "_zero_grad")
"""What a Variable or a Parameter holds; the rest is its user's."""


def to_device(x: "Variable", specifier: Any) -> "Variable":
    """Move data and gradient of `x`, and return `x`; if anything fails, `x` is as it was.

    A Variable inside a graph becomes the output of a recorded copy, so that the graph stays whole; one without an array
    remembers the device.
    """
    target = get_device(specifier)
    if x._array is None:
        x._node.own_extra().device = target
        return x
    if x.device == target:
        return x
    moved = functools.partial(_moved_grad, target)
    if x.creator_node is None:
        _replace(x, transfer(x._array, target), moved)
        return x
    copied = called_with(backprop_mode(True), slot.functions.copy, x, target)  # moving cuts no graph, whatever the mode
    _rebind(x, copied, moved)
    return x


def _rebind(x: "Variable", copied: "Variable", moved: Moved) -> None:
    """Let `x`, which is inside a graph, be `copied`, an output of it.

    Its hooks stay with the old node, where the gradients of all its consumers come together.
    """
    old = x._node
    _settle(x, copied._array, copied._node, moved)
    _adopt(old, x._node, copied._array, hooks=False)
    x._node.variable = weakref.ref(x)


def _settle(x: "Variable", array: Array, node: VariableNode, moved: Moved) -> None:
    """Give `x` an array and a node, and what `moved` makes of its gradient, also of one that arrives meanwhile."""
    while True:
        held = x._grad
        grad = moved(held)
        with lock:
            if x._grad is held:
                x._array, x._node, x._grad = array, node, grad
                return


def _moved_grad(target: Device, grad: Any) -> Any:
    """Return a gradient on `target`, connected to its graph if it is in one."""
    if grad is None or not hasattr(grad, "_node"):
        return None if grad is None else transfer(grad, target)
    if grad.creator_node is None:
        return transfer(grad._array, target)
    return called_with(backprop_mode(True), slot.functions.copy, grad, target)


def _replace(x: "Variable", array: Array, moved: Moved) -> None:
    """Give a root another place: a node for there, which gradients from graphs that know the old one still find."""
    old, spec = x._node, plugins.backend_of(array).spec(array)
    node = leaf_node(x, spec, x.requires_grad)
    _adopt(old, node, array)
    _settle(x, array, node, moved)
    ref = weakref.ref(old)
    del old
    if (known := ref()) is not None:  # no graph holds it otherwise
        node.succeed(known)


def _adopt(old: VariableNode, node: VariableNode, array: Array, hooks: bool = True) -> None:
    """Let `node` have the name, hooks and retained data of `old`."""
    if old.extra is not None:
        extra = node.own_extra()
        extra.name, extra.declared = old.extra.name, old.extra.declared
        extra.hooks = old.extra.hooks if hooks else {}
        extra.loss_scale, extra.device = old.extra.loss_scale, old.extra.device
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
    return _share(x, backend.adopt, backend.release, "to_chx")


def from_chx(x: "Variable") -> "Variable":
    """Let chx data and gradient become plain arrays on the same physical device; other arrays stay as they are."""
    if x._array is None:
        return x
    backend: Any = plugins.backend_of(x._array)
    release = getattr(backend, "release", None)
    return x if release is None else _share(x, release, backend.adopt, "from_chx")


def _share(x: "Variable", convert: Any, back: Any, operation: str) -> "Variable":
    """Put arrays over the same memory in the place of data and gradient; inside a graph, by a recorded function."""
    if x._array is None or type(convert(x._array)) is type(x._array):
        return x
    from xpgrad.graph.methods.sharing import shared  # which is built on Variables

    def moved(grad: Any) -> Any:
        if grad is None:
            return None
        recorded = hasattr(grad, "_node") and grad.creator_node is not None
        return shared(grad, convert, back, operation) if recorded else convert(getattr(grad, "_array", grad))

    if x.creator_node is None:
        _replace(x, convert(x._array), moved)
        return x
    _rebind(x, shared(x, convert, back, operation), moved)
    return x


def to_intel64(x: "Variable") -> "Variable":
    """Move `x` to the intel64 device, if there is one and it suits the array, else to the host."""
    device = intel64()
    if device is not None and x._array is not None:
        spec = x._node.spec
        device = device if device.backend.suits(spec.shape, spec.backend.dtype_name(spec.dtype)) else None
    return x.to_cpu() if device is None else x.to_device(device)


def suited(array: Array, device: Device) -> Array:
    """Return an array that was made on `device`, moved to the host if that does not suit it."""
    backend = device.backend
    if backend.suits(tuple(array.shape), backend.dtype_name(array.dtype)):
        return array
    return transfer(array, plugins.role("cpu").default_device)


def intel64() -> Device | None:
    """Return the device of the backend called ``intel64``, or that claims this word; None where none can be used."""
    try:
        if plugins.knows("intel64"):
            return get_device("@intel64")
        return plugins.device_of_role("intel64") if "intel64" in plugins.installed.words else None
    except BackendUnavailable:
        return None


def copydata(target: "Variable", source: "Variable") -> None:
    """Copy the data of `source` into `target`'s array; an uninitialised side is initialised from the other."""
    if source is target or (source._array is None and target._array is None):
        return
    with _undone_by_errors(source), _undone_by_errors(target):
        if _initialized(source, target) or _initialized(target, source):
            return
        if tuple(source.shape) != tuple(target.shape):
            raise ShapeError(f"copydata: expected an array of shape {target.shape}, got {source.shape}")
        backend = target._node.spec.backend
        array: Any = target._array
        moved = fitted("copydata", array, source._array)
        if backend.immutable:
            target.array = backend.copy(moved)
        else:
            call_on(array, array.__setitem__, ..., moved)


def _initialized(x: "Variable", other: "Variable") -> bool:
    """Give `x` an array, if it has none, of the shape of `other`; tell whether it is a copy of `other`'s."""
    if x._array is not None:
        return False
    initialize = getattr(x, "initialize", None)
    if initialize is not None:
        initialize(other.shape)
        return False
    x.array = _copied(other._array, x.device if _was_sent(x) else other.device)
    return True


def _copied(array: Array, device: Device) -> Array:
    moved = transfer(array, device)
    return plugins.backend_of(array).copy(array) if moved is array else moved


def _was_sent(x: "Variable") -> bool:
    return x._node.extra is not None and x._node.extra.device is not None


@contextmanager
def _undone_by_errors(x: "Variable") -> Iterator[None]:
    """Leave `x` as it was if an error passes: an array that an initialiser made goes, what is in it does not."""
    before = {name: getattr(x, name) for name in STATE if hasattr(x, name)}
    try:
        yield
    except BaseException:
        for name, value in before.items():
            setattr(x, name, value)
        raise


def addgrad(target: "Variable", source: "Variable") -> None:
    """Add the gradient of `source` to `target`'s, across devices; both stay differentiable if they are."""
    if source._grad is None:
        return
    with _undone_by_errors(target) if target._array is None else nullcontext():
        if target._array is None:
            initialize = getattr(target, "initialize", None)
            if initialize is not None:
                initialize(source.shape)
                target.cleargrad()
            else:
                unknown = source._node.spec.backend.xp.full_like(source._array, float("nan"))
                target.array = transfer(unknown, target.device) if _was_sent(target) else unknown
        while True:
            held, grad = target.grad_var, source.grad_var
            if grad is None:
                return
            if target.device != source.device or held is None:
                grad = slot.functions.copy(grad, target.device)
            total = grad if held is None else slot.functions.add(grad, held)
            check_gradient_variable(total, target._node.spec)
            if exchange(target, held, total):
                break
    if hasattr(target, "_grad_valid"):
        setattr(target, "_grad_valid", True)  # noqa: B010 - a Parameter, which is made of this
