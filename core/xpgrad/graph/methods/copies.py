"""Copies of Variables: shallow, deep, and through pickle.

Copying a Variable in a graph is recorded, so that gradients reach the original; a copy of a root is a new root.
Hooks are not copied. Variables in a graph cannot be pickled.
"""

import sys
from typing import Any

from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.levels import innermost
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.errors import GraphError
from xpgrad.graph.methods.declared import bind
from xpgrad.graph.node import leaf_node
from xpgrad.graph.slot import slot
from xpgrad.graph.variable import Variable, as_array
from xpgrad.types import Array

OWN = ("_array", "_grad", "_node")
PASSING_ON = {"dataclasses"}
"""Packages whose deep copies are steps of a computation, where a root is a value like others; `interop` adds more."""
new = object.__new__


def shallow(x: Variable) -> Variable:
    """Return a Variable with the gradient of `x`: over the same array if `x` is a root, else a recorded copy."""
    copied = new(type(x))
    copied._grad = x._grad
    if in_graph(x):
        _record(copied, x)
    else:
        _note_copy(x)
        copied._array, copied._node = x._array, leaf_node(copied, x._node.spec, x.requires_grad)
    _complete(copied, x, attributes_of(x, *OWN))
    return copied


def deep(x: Variable, memo: dict[int, Any]) -> Variable:
    """Return a Variable with copies of the array, gradient and attributes of `x`, connected to the graph of `x`."""
    copied = memo[id(x)] = new(type(x))
    grad = x._grad
    if isinstance(grad, Variable):
        grad = slot.functions.copy(grad) if in_graph(grad) else grad._array
    copied._grad = grad if grad is None or isinstance(grad, Variable) else plugins.backend_of(grad).copy(grad)
    if in_graph(x) or (x._node.requires_grad and _caller() in PASSING_ON):
        _record(copied, x)
    else:
        _note_copy(x)
        copied._array = None if x._array is None else plugins.backend_of(x._array).copy(x._array)
        copied._node = leaf_node(copied, x._node.spec, x.requires_grad)
    _complete(copied, x, {})
    import copy  # where this is called, it is imported already

    _set_attributes(copied, {name: copy.deepcopy(value, memo) for name, value in attributes_of(x, *OWN).items()})
    return copied


def in_graph(x: Variable) -> bool:
    """Return whether gradients continue from `x` to the inputs of its creator or to the argument of a transform."""
    node = x._node
    return node.requires_grad and (node.live_creator() is not None or (node.extra is not None and node.extra.passed))


def reduced(x: Variable) -> tuple[Any, ...]:
    """Return the arguments with which pickle rebuilds `x` on its device; the arrays travel as host arrays.

    Raises
    ------
    GraphError
        The Variable is in a graph, which would be lost.
    """
    if in_graph(x):
        creator = x._node.live_creator()
        maker = "the transform whose argument it is" if creator is None else creator.label
        raise GraphError(
            f"pickle: expected a Variable in no graph, got {x._title()}, made by {maker}, whose gradient would be "
            "lost; pickle v.array"
        )
    if x._array is not None and plugins.backend_of(x._array).base is not None:
        x._array.__reduce__()  # raises: it belongs to one call of a transformation
    grad, extra, host = x._grad, x._node.extra, plugins.host.default_device
    array, grad = (None if a is None else transfer(a, host) for a in (x._array, as_array(grad)))
    place = x._node.intended_device() if x._array is None else plugins.backend_of(x._array).device_of(x._array)
    intended = None if extra is None or extra.device is None else str(extra.device)
    return restored, (type(x), array, grad, x.name, x.requires_grad, str(place), attributes_of(x, *OWN), intended)


def restored(
    kind: type[Variable], array: Array, grad: Array, name: str | None, requires_grad: bool, device: str,
    attributes: dict[str, Any], intended: str | None,
) -> Variable:  # fmt: skip
    """Return the Variable that `reduced` described."""
    x = new(kind)
    place = get_device(device)
    x._array, x._grad = (None if a is None else transfer(a, place) for a in (array, grad))
    x._node = leaf_node(x, None if array is None else plugins.backend_of(x._array).spec(x._array), requires_grad)
    _note(x, name, None if intended is None else get_device(intended))
    _set_attributes(x, attributes)
    return x


def attributes_of(x: Any, *left_out: str) -> dict[str, Any]:
    """Return the attributes of an object, in slots or in its dictionary."""
    left_out += ("__dict__", "__weakref__")
    found = {name: value for name, value in getattr(x, "__dict__", {}).items() if name not in left_out}
    for kind in type(x).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{kind.__name__.lstrip('_')}{name}"
            if name not in left_out and hasattr(x, name):
                found[name] = getattr(x, name)
    return found


def _note_copy(x: Variable) -> None:
    """Note in a transformation that an outer Variable was copied: later calls would use the first call's copy."""
    level = innermost()
    if level is not None and x._array is not None and not level.holds(x._array):
        level.note_outside("a Variable from outside was copied", "copy it, or its model, outside of the function")


def _record(copied: Variable, x: Variable) -> None:
    """Let `copied` be the output of the function `copy` for `x`."""
    made = slot.functions.copy(x)
    copied._array, copied._node = made._array, made._node
    copied._node.refer_to(copied)


def _caller() -> str:
    """Return the name of the package that requested a deep copy of this object or of its container."""
    frame, own = sys._getframe(1), __name__.partition(".")[0]
    while frame.f_back is not None:
        frame = frame.f_back
        name = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if name not in ("copy", own):
            return name
    return ""


def _complete(copied: Variable, x: Variable, attributes: dict[str, Any]) -> None:
    """Give a copy of `x` the name and the intended device of the original."""
    extra = x._node.extra
    if extra is not None:
        _note(copied, extra.name, extra.device)
    _set_attributes(copied, attributes)


def _note(x: Variable, name: str | None, device: Device | None) -> None:
    if name is not None or device is not None:
        extra = x._node.own_extra()
        extra.name, extra.device = name, device


def _set_attributes(x: Variable, attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        object.__setattr__(x, name, value)


bind(Variable, {"__copy__": shallow, "__deepcopy__": deep, "__reduce__": reduced})
