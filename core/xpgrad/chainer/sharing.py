"""`Share`: the same memory as another library's array, inside a graph."""

from collections.abc import Callable
from typing import Any

from xpgrad.config import backprop_mode, called_with
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable
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
