"""Moves of Variables between devices and to chx arrays: data and gradient move together or not at all."""

import functools
import weakref
from collections.abc import Callable
from typing import Any

from xpgrad.backend.current import get_device, intel64
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.config import backprop_mode, called_with
from xpgrad.graph.exchange import lock
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.methods.declared import bind
from xpgrad.graph.node import VariableNode, leaf_node
from xpgrad.graph.slot import slot
from xpgrad.graph.variable import Variable, as_array, inside
from xpgrad.types import Array

Moved = Callable[[Any], Any]
"""Returns what becomes of a gradient, or of None, when its Variable moves."""
Convert = Callable[[Array], Array]


def to_device(x: Variable, device: Any, /, *, stream: Any = None) -> Variable:
    """Move data and gradient of `x`, and return `x`; if an error occurs, `x` is unchanged.

    A Variable inside a graph becomes the output of a recorded copy, so that the graph stays whole; one without an array
    remembers the device.
    """
    x, target = inside(x), get_device(device)
    if x._array is None:
        x._node.own_extra().device = target
        return x
    if x.device == target:
        return x
    moved = functools.partial(_moved_grad, target)
    if x.creator_node is None:
        replace_root(x, transfer(x._array, target), moved)
        return x
    copied = called_with(backprop_mode(True), slot.functions.copy, x, target)  # moving keeps the graph, in every mode
    rebind(x, copied, moved)
    return x


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


def to_intel64(x: Variable) -> Variable:
    """Move `x` to the intel64 device if this exists and supports the array, else to the host."""
    device = intel64()
    if device is not None and x._array is not None:
        spec = x._node.spec
        device = device if device.backend.suits(spec.shape, spec.backend.dtype_name(spec.dtype)) else None
    return x.to_device(-1 if device is None else device)


def rebind(x: Variable, copied: Variable, moved: Moved) -> None:
    """Turn `x`, a Variable inside a graph, into the graph's output `copied`.

    Its hooks stay on the old node, where the gradients of everything computed from it are added up.
    """
    old = x._node
    _settle(x, copied._array, copied._node, moved)
    _adopt(old, x._node, copied._array, hooks=False)
    x._node.refer_to(x)


def _settle(x: Variable, array: Array, node: VariableNode, moved: Moved) -> None:
    """Give `x` an array and a node, and the result of `moved` for its gradient, even if it arrives meanwhile."""
    while True:
        held = x._grad
        grad = moved(held)
        with lock:
            if x._grad is held:
                x._array, x._node, x._grad = array, node, grad
                return


def _moved_grad(target: Device, grad: Any) -> Any:
    """Return a gradient on `target`, connected to the graph of the original."""
    if not isinstance(grad, Variable):
        return None if grad is None else transfer(grad, target)
    if grad.creator_node is None:
        return transfer(grad._array, target)
    return called_with(backprop_mode(True), slot.functions.copy, grad, target)


def replace_root(x: Variable, array: Array, moved: Moved) -> None:
    """Give the root `x` another array and a new node; gradients from graphs with the old node still arrive."""
    old, spec = x._node, plugins.backend_of(array).spec(array)
    node = leaf_node(x, spec, x.requires_grad)
    _adopt(old, node, array)
    _settle(x, array, node, moved)
    ref = weakref.ref(old)
    del old
    if (known := ref()) is not None:  # no graph holds it otherwise
        node.succeed(known)


def _adopt(old: VariableNode, node: VariableNode, array: Array, hooks: bool = True) -> None:
    """Give `node` the name, hooks and retained data of `old`."""
    if old.extra is not None:
        extra = node.own_extra()
        extra.name, extra.declared = old.extra.name, old.extra.declared
        extra.hooks = old.extra.hooks if hooks else {}
        extra.loss_scale, extra.device = old.extra.loss_scale, old.extra.device
        extra.data = None if old.extra.data is None else array


class Share(FunctionNode):
    """An array that shares the memory of the input; the gradient is converted back in the same way.

    A class, because its input and its output belong to two backends.

    Parameters
    ----------
    convert, back : callable
        From an array to one over the same memory, and back.
    label : str
    """

    of_library = True

    def __init__(self, convert: Convert, back: Convert, label: str) -> None:
        self._convert, self._back, self._label = convert, back, label

    @property
    def label(self) -> str:
        """The name of the requested operation."""
        return self._label

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return an array over the same memory."""
        return (self._convert(inputs[0]),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Variable, ...]:
        """Return the gradient over the same memory."""
        return Share(self._back, self._convert, self._label).apply(grad_outputs)


def shared(x: Variable, convert: Convert, back: Convert, label: str) -> Variable:
    """Return a Variable over the memory of `x`, connected to its graph in every mode: sharing cuts no graph."""
    made: Variable = called_with(backprop_mode(True), Share(convert, back, label).apply, (x,))[0]
    return made


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


bind(Variable, {f.__name__: f for f in (to_device, to_cpu, to_gpu, to_intel64, to_chx, from_chx)})
