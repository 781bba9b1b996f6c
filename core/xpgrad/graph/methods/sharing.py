"""Chainer's `to_chx` and `from_chx`: Variables over the same memory as before, inside a graph, too."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.config import backprop_mode, called_with
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.methods.declared import bind
from xpgrad.graph.methods.moving import rebind, replace_root
from xpgrad.graph.variable import Variable, as_array
from xpgrad.types import Array

Convert = Callable[[Array], Array]


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


bind(Variable, {"to_chx": to_chx, "from_chx": from_chx})
