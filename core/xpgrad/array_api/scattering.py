"""Scatter-add as a function: what a recorded sweep makes of the cotangents of gathers."""

from typing import Any

from xpgrad.backend.scattering import scattered
from xpgrad.backend.spec import Spec
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import Array, Index


class ScatterAdd(FunctionNode):
    """Zeros of one shape with many values added at their indices; the gradient of each value is a gather.

    A class, because it has any number of inputs and an index for each.
    """

    of_library = True

    def __init__(self, spec: Spec, indices: list[Index]) -> None:
        self.spec, self.indices = spec, indices

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the dense array."""
        return (scattered(self.spec, list(zip(self.indices, inputs, strict=True))),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Variable, ...]:
        """Return what lies at each index."""
        (gy,) = grad_outputs
        return tuple(gy[self.indices[i]] for i in target_input_indexes)


def scatter(spec: Spec, parts: list[tuple[Index, Any]]) -> Variable:
    """Return zeros of `spec` with all values added at their index; repeated positions accumulate."""
    return ScatterAdd(spec, [index for index, _ in parts]).apply([as_variable(v) for _, v in parts])[0]
