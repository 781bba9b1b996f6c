"""Gradients that hooks and users' backward computations get: in separate memory, so that a write changes no other.

In a raw sweep a write changes only that gradient. In a recorded sweep it is an error: the recorded operations would not
describe the gradient.
"""

from collections.abc import Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.errors import ChangedArray
from xpgrad.graph.variable import Variable, variable_over
from xpgrad.types import Array


def private(g: Any) -> Any:
    """Return a copy of the cotangent `g`, an array or a Variable; a Variable's is the same value of the graph."""
    array = g._array if isinstance(g, Variable) else g
    backend = plugins.backend_of(array)
    if backend.immutable:
        return g
    copied = backend.copy(array)
    return variable_over(g._node, copied) if isinstance(g, Variable) else copied


def may_share(gxs: Sequence[Any], given: Any) -> bool:
    """Return whether any result of a rule may share memory with the array `given`, from which it was computed."""
    return any(g is given or type(g) not in plugins.by_type or plugins.backend_of(g).is_view(g) for g in gxs)


def check_unwritten(array: Array, before: Array, who: str) -> None:
    """Raise `ChangedArray` if `array`, the copy of a recorded gradient passed to `who`, was modified."""
    if array is not before and not plugins.backend_of(array).same_values(array, before):
        raise ChangedArray(
            f"{who} wrote into the gradient that it was given, in a sweep with enable_double_backprop=True, so "
            "derivatives of it would be wrong; return a new gradient instead"
        )
