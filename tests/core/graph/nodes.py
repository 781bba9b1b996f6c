"""Nodes for tests of the graph: each of a class of its own."""

from typing import Any

from xpgrad import FunctionNode


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
