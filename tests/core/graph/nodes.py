"""Nodes for tests of the graph: each of a class of its own."""

from typing import Any, ClassVar

from xpgrad import FunctionNode, Variable


class Passing(FunctionNode):
    """The identity."""

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return a copy of the input."""
        return (inputs[0] * 1,)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        """Return the cotangent."""
        return grad_outputs


def node(name: str = "Node", base: type[FunctionNode] = Passing, **members: Any) -> Any:
    """Return a node of a new class `name` that has `members` and is else like `base`."""
    return type(name, (base,), members)()


def square(self: FunctionNode, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Compute the square and retain the input: `forward` of a node."""
    self.retain_inputs((0,))
    return (inputs[0] * inputs[0],)


def square_backward(self: FunctionNode, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
    """Compute the gradient of `square`."""
    return (2 * self.get_retained_inputs()[0] * grad_outputs[0],)


class Named(FunctionNode):
    """The sum of all inputs; `log` has the names whose backward ran."""

    log: ClassVar[list[str]] = []

    def __init__(self, name: str) -> None:
        self.name = name

    def forward(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the sum."""
        return (sum(inputs[1:], start=inputs[0] * 1),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> Any:
        """Note that it ran."""
        Named.log.append(self.name)
        return grad_outputs * len(target_input_indexes)


def named(name: str, *inputs: Variable) -> Variable:
    """Return the sum of the inputs, by a node of this name."""
    return Named(name).apply(inputs)[0]
