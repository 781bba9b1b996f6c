"""Copies of Variables: shallow, deep, and through pickle. All are roots; hooks and graphs stay behind."""

import copy
from typing import TYPE_CHECKING, Any

from xpgrad.backend.plugins import plugins
from xpgrad.graph import moving
from xpgrad.graph.node import leaf_node
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.graph.variable import Variable

OWN = ("__dict__", "__weakref__", "_array", "_grad", "_node")
new = object.__new__


def shallow(x: "Variable") -> "Variable":
    """Return a Variable with the array and gradient of `x`, and a node of its own."""
    copied = new(type(x))
    copied._array, copied._grad = x._array, x._grad
    _complete(copied, x._node.spec, x.requires_grad, x.name, attributes_of(x))
    return copied


def deep(x: "Variable", memo: dict[int, Any]) -> "Variable":
    """Return a Variable with copies of the array, gradient and attributes of `x`, and a node of its own."""
    copied = memo[id(x)] = new(type(x))
    grad = x._grad
    grad = grad._array if hasattr(grad, "_node") else grad
    copied._array, copied._grad = (None if a is None else plugins.backend_of(a).copy(a) for a in (x._array, grad))
    _complete(copied, x._node.spec, x.requires_grad, x.name, {})
    _set_attributes(copied, {name: copy.deepcopy(value, memo) for name, value in attributes_of(x).items()})
    return copied


def reduced(x: "Variable") -> tuple[Any, ...]:
    """Return what pickle needs to make `x` again on its device; the arrays travel as the host's."""
    grad = x._grad
    grad = grad._array if hasattr(grad, "_node") else grad
    array, grad = (None if a is None else moving.on_host(a) for a in (x._array, grad))
    return restored, (type(x), array, grad, x.name, x.requires_grad, str(x.device), attributes_of(x))


def restored(
    kind: type["Variable"],
    array: Array,
    grad: Array,
    name: str | None,
    requires_grad: bool,
    device: str,
    attributes: dict[str, Any],
) -> "Variable":
    """Return the Variable that `reduced` described."""
    x = new(kind)
    x._array, x._grad = (None if a is None else moving.from_host(a, device) for a in (array, grad))
    spec = None if array is None else plugins.backend_of(x._array).spec(x._array)
    _complete(x, spec, requires_grad, name, attributes)
    return x


def attributes_of(x: "Variable") -> dict[str, Any]:
    """Return what subclasses and users have put on `x`, in slots or in its dictionary."""
    found = dict(getattr(x, "__dict__", {}))
    for kind in type(x).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            name = f"_{kind.__name__.lstrip('_')}{slot}" if slot.startswith("__") and not slot.endswith("__") else slot
            if name not in OWN and hasattr(x, name):
                found[name] = getattr(x, name)
    return found


def _complete(x: "Variable", spec: Any, requires_grad: bool, name: str | None, attributes: dict[str, Any]) -> None:
    x._node = leaf_node(x, spec, requires_grad)
    if name is not None:
        x._node.name = name
    _set_attributes(x, attributes)


def _set_attributes(x: "Variable", attributes: dict[str, Any]) -> None:
    for name, value in attributes.items():
        object.__setattr__(x, name, value)
