"""Lets einops work on Variables: ``rearrange``, ``reduce``, ``repeat``, ``pack``, ``einsum``.

einops finds backends among the subclasses of its `AbstractBackend`, so importing this module is enough.
`import xpgrad` does so if einops has been imported before; otherwise::

    import xpgrad.interop.einops
"""

from collections.abc import Sequence

from einops._backends import AbstractBackend

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import Array, Shape


class VariableBackend(AbstractBackend):
    """The operations of einops on Variables, under the names of einops."""

    framework_name = "xpgrad"

    def is_appropriate_type(self, tensor: object) -> bool:
        """Return whether `tensor` is a Variable."""
        return isinstance(tensor, Variable)

    def from_numpy(self, x: Array) -> Variable:
        """Return a Variable over the array `x`."""
        return as_variable(x)

    def to_numpy(self, x: Variable) -> Array:
        """Return the array of `x`."""
        return x.array

    def arange(self, start: int, stop: int) -> Variable:
        """Return consecutive integers."""
        return xp.arange(start, stop)

    def transpose(self, x: Variable, axes: Sequence[int]) -> Variable:
        """Return `x` with its axes permuted."""
        return xp.permute_dims(x, axes=tuple(axes))

    def reduce(self, x: Variable, operation: str, axes: Sequence[int]) -> Variable:
        """Return the reduction of `x` over `axes`: sum, mean, prod, max, min, all or any."""
        return getattr(xp, operation)(x, axis=tuple(axes))  # type: ignore[no-any-return]  # as above

    def stack_on_zeroth_dimension(self, tensors: Sequence[Variable]) -> Variable:
        """Stack arrays along a new first axis."""
        return xp.stack(tensors)

    def add_axis(self, x: Variable, new_position: int) -> Variable:
        """Return `x` with a new axis of length 1."""
        return xp.expand_dims(x, axis=new_position)

    def tile(self, x: Variable, repeats: Shape) -> Variable:
        """Return `x` repeated along its axes."""
        return xp.tile(x, tuple(repeats))

    def concat(self, tensors: Sequence[Variable], axis: int) -> Variable:
        """Concatenate arrays along an axis."""
        return xp.concat(tensors, axis=axis)

    def is_float_type(self, x: Variable) -> bool:
        """Return whether `x` is floating-point, so that it can be averaged."""
        return x.node.spec.differentiable

    def einsum(self, pattern: str, *x: Variable) -> Variable:
        """Return a contraction by Einstein's summation."""
        return ops.einsum(pattern, *x)
