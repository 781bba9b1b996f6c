"""Arrays with their own graph: how Variables hold them as plain arrays, and how the two graphs are connected.

A Variable holds a plain array over the same memory and returns a separate array to users, so that changes of that
array's graph do not affect the retained array.
"""

from typing import TYPE_CHECKING, Any

from xpgrad.backend.plugins import plugins
from xpgrad.errors import ConnectedArray, GraphError
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.graph.variable import Variable


def held(array: Array, operation: str) -> Array:
    """Return the plain array that a Variable holds for `array`, which must not be part of a graph."""
    backend = plugins.carriers[type(array)]
    if variable_of(array) is not None:
        raise ConnectedArray(f"{operation}: the array is in a graph, which would be lost; use as_grad_stopped()")
    return backend.held(array)


def shown(array: Array) -> Array:
    """Return the array that users get for an array that a Variable holds."""
    return plugins.carriers[type(array)].shown(array)


def visible(array: Any) -> Any:
    """Return the array that users get for an array of the graph, which may carry its own graph."""
    return shown(array) if type(array) in plugins.carriers else array


def variable_of(array: Array) -> "Variable | None":
    """Return the Variable of an array in a graph that requires a gradient, else None."""
    variable: Variable | None = plugins.carriers[type(array)].variable_of(array)
    return None if variable is None or not variable._node.requires_grad else variable


def operand(x: Any) -> Any:
    """Return an operand of a function as the graph takes it: an array in a graph as its Variable."""
    if type(x) not in plugins.carriers:
        return x
    variable = variable_of(x)
    return plugins.carriers[type(x)].held(x) if variable is None else variable


def enter(x: "Variable", array: Array, grad: Array | None, requires_grad: bool) -> bool:
    """Let the new Variable `x` have the node and gradient of `array`, and return True; False if that is in no graph."""
    source = variable_of(array)
    if source is None:
        return False
    if not requires_grad:
        raise ConnectedArray("Variable: requires_grad=False would cut the graph of the array; use as_grad_stopped()")
    source = plugins.carriers[type(array)].attach(array, x) or source
    x._array, x._node, x._grad = source._array, source._node, source._grad if grad is None else grad
    return True


def check_required(x: "Variable", operation: str) -> None:
    """Raise unless `x` requires a gradient: an array with its own graph cannot be made to require a gradient later."""
    if not x.requires_grad:
        backend = plugins.carriers[type(x._array)]
        raise GraphError(
            f"{operation}: expected a Variable that requires a gradient, got one over an array of {backend.name} with "
            "requires_grad=False; check requires_grad first, or create it with requires_grad=True"
        )
