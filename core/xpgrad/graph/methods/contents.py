"""Chainer's `copydata`, `addgrad` and `zerograd`: changes of the contents of a Variable, initialised or not."""

import operator
import warnings
from contextlib import nullcontext
from typing import Any

from xpgrad.backend.current import call_on
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import converted_like, transfer
from xpgrad.errors import ShapeError
from xpgrad.graph.exchange import exchange
from xpgrad.graph.gradients import check_gradient_variable
from xpgrad.graph.methods.declared import bind
from xpgrad.graph.node import leaf_node
from xpgrad.graph.parameter import Parameter
from xpgrad.graph.slot import slot
from xpgrad.graph.undo import undone_by_errors
from xpgrad.graph.variable import Variable, inside


def copydata(target: Variable, source: Variable) -> None:
    """Copy the data of `source` into `target`'s array; if one of the two has none, it is initialised from the other."""
    target, source = inside(target), inside(source)
    if source is target or (source._array is None and target._array is None):
        return
    with undone_by_errors((source, target)):  # values written into the array remain
        if _initialized(source, target) or _initialized(target, source):
            return
        if tuple(source.shape) != tuple(target.shape):
            raise ShapeError(f"copydata: expected an array of shape {target.shape}, got {source.shape}")
        backend = target._node.spec.backend
        array: Any = target._array
        moved = converted_like("copydata", array, source._array)
        if backend.immutable:
            target.array = backend.copy(moved)
        else:
            call_on(array, array.__setitem__, ..., moved)


def _initialized(x: Variable, other: Variable) -> bool:
    """Give an uninitialised `x` an array with the shape of `other`; return whether it copies the array of `other`."""
    if x._array is not None:
        return False
    if isinstance(x, Parameter):
        x.initialize(other.shape)
        return False
    array = transfer(other._array, x.device if _was_sent(x) else other.device)
    x.array = plugins.backend_of(array).copy(array) if array is other._array else array
    return True


def _was_sent(x: Variable) -> bool:
    return x._node.extra is not None and x._node.extra.device is not None


def addgrad(target: Variable, source: Variable) -> None:
    """Add the gradient of `source` to that in `target`, across devices, by a differentiable sum."""
    target, source = inside(target), inside(source)
    if source._grad is None:
        return
    with undone_by_errors(target) if target._array is None else nullcontext():
        if target._array is None:
            if isinstance(target, Parameter):
                target.initialize(source.shape)
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
    target._gradient_arrived()


def zerograd(x: Variable) -> None:
    """Fill the gradient of `x` with zeros, in place if a gradient exists."""
    warnings.warn("zerograd is deprecated; use cleargrad", DeprecationWarning, stacklevel=2)
    x = inside(x)
    if x._array is None:
        return
    grad, backend = x.grad, x._node.spec.backend
    if grad is None or backend.immutable:
        x._grad = backend.xp.zeros_like(x._array)
        return
    if isinstance(x._grad, Variable):
        x._grad._node = leaf_node(x._grad, x._node.spec, True)  # its values no longer follow from the graph
    backend.follow(operator.setitem)(grad, ..., 0)
    x._grad = Variable(grad)  # another object, so that a sweep that has read the old values adds again


bind(Variable, {"copydata": copydata, "addgrad": addgrad, "zerograd": zerograd})
