"""`Scatter`: the cotangent of indexing, kept as index and values, and scatter-add, which makes it dense."""

import math
from collections.abc import Sequence
from typing import Any, Self

from xpgrad.backend.scattering import scattered
from xpgrad.backend.spec import Spec
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.lazy import Lazy
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import Array, Index


class Scatter(Lazy):
    """A cotangent that is zero except for `values` at `index`, as rules of indexing return it.

    Parameters
    ----------
    index : index, or tuple of indices
    values : array or Variable
        At repeated positions, the values are added.
    spec : Spec
        Shape, dtype and device of the dense cotangent.
    """

    __slots__ = ("cost", "index", "values")

    limit = None

    def __init__(self, index: Index, values: Any, spec: Spec) -> None:
        self.spec, self.shape, self.dtype = spec, spec.shape, spec.dtype
        self.index, self.values, shape = index, values, values.shape
        self.cost = math.prod(shape) if shape else 1

    @classmethod
    def total(cls, items: Sequence[Self], recorded: bool) -> Any:
        """Return zeros with all values added at their indices, by one kernel."""
        return (scatter if recorded else scattered)(items[0].spec, [(each.index, each.values) for each in items])


class ScatterAdd(FunctionNode):
    """Zeros with values added at their indices; the gradient of each value is a gather.

    A class, because it has any number of inputs and an index for each.
    """

    of_library = True

    def __init__(self, spec: Spec, indices: list[Index]) -> None:
        self.spec, self.indices = spec, indices

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return the dense array."""
        return (scattered(self.spec, list(zip(self.indices, inputs, strict=True))),)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Variable, ...]:
        """Return the elements at each index."""
        (gy,) = grad_outputs
        return tuple(gy[self.indices[i]] for i in target_input_indexes)


def scatter(spec: Spec, parts: list[tuple[Index, Any]]) -> Variable:
    """Return zeros of `spec` with all values added at their index; repeated positions accumulate."""
    return ScatterAdd(spec, [index for index, _ in parts]).apply([as_variable(v) for _, v in parts])[0]
