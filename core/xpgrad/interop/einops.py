"""Lets einops work on Variables: ``rearrange``, ``reduce``, ``repeat``, ``pack``, ``einsum``.

einops finds the backends of arrays among the subclasses of its own `AbstractBackend`, so that importing this module is
all that it takes. `import xpgrad` does so where einops has been imported before it; elsewhere::

    import xpgrad.interop.einops
"""

from collections.abc import Sequence

from einops._backends import AbstractBackend

from xpgrad import array_api as xp
from xpgrad import ops
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import Array, Shape


class VariableBackend(AbstractBackend):
    """What einops does to arrays, for Variables; methods have its names."""

    framework_name = "xpgrad"

    def is_appropriate_type(self, tensor: object) -> bool:
        """Tell whether this backend is the one for `tensor`."""
        return isinstance(tensor, Variable)

    def from_numpy(self, x: Array) -> Variable:
        """Return a Variable over an array."""
        return as_variable(x)

    def to_numpy(self, x: Variable) -> Array:
        """Return the array."""
        return x.array

    def arange(self, start: int, stop: int) -> Variable:
        """Return whole numbers."""
        return xp.arange(start, stop)

    def transpose(self, x: Variable, axes: Sequence[int]) -> Variable:
        """Return `x` with its axes in another order."""
        return xp.permute_dims(x, axes=tuple(axes))

    def reduce(self, x: Variable, operation: str, axes: Sequence[int]) -> Variable:
        """Return the sum, mean, product, maximum or minimum, or the truth of all or any, over `axes`."""
        return getattr(xp, operation)(x, axis=tuple(axes))  # type: ignore[no-any-return]  # as above

    def stack_on_zeroth_dimension(self, tensors: Sequence[Variable]) -> Variable:
        """Return arrays behind one another along a new first axis."""
        return xp.stack(tensors)

    def add_axis(self, x: Variable, new_position: int) -> Variable:
        """Return `x` with one axis more."""
        return xp.expand_dims(x, axis=new_position)

    def tile(self, x: Variable, repeats: Shape) -> Variable:
        """Return copies of `x` side by side."""
        return xp.tile(x, tuple(repeats))

    def concat(self, tensors: Sequence[Variable], axis: int) -> Variable:
        """Return arrays behind one another."""
        return xp.concat(tensors, axis=axis)

    def is_float_type(self, x: Variable) -> bool:
        """Tell whether `x` can be averaged."""
        return x.node.spec.differentiable

    def einsum(self, pattern: str, *x: Variable) -> Variable:
        """Return a contraction."""
        return ops.einsum(pattern, *x)
