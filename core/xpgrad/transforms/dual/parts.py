"""`Parts`: how Variables are divided into primals and tangents, also within batches in forward mode."""

from typing import TYPE_CHECKING, Any

from xpgrad.backend.plugins import plugins
from xpgrad.graph.variable import Variable, constant_variable, inside
from xpgrad.transforms.dual.array import DualArray
from xpgrad.transforms.dual.custom import custom_output
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.transforms.dual.level import DualLevel


class Parts:
    """The primals and tangents of a level, for its arrays and for arrays of batches within it.

    All are constants of the innermost level without a tangent of this level.
    """

    def __init__(self, level: "DualLevel") -> None:
        self.level = level

    def has_tangent(self, x: Variable) -> bool:
        """Return whether a Variable has a tangent."""
        return self._split(inside(x)._array)[1] is not None

    def primal_of(self, x: Variable) -> Variable:
        """Return the primal of a Variable."""
        return constant_variable(self._split(inside(x)._array)[0])

    def tangent_of(self, x: Variable) -> Variable:
        """Return the tangent of a Variable, zeros by default."""
        primal, t = self._split(inside(x)._array)
        return constant_variable(plugins.backend_of(primal).xp.zeros_like(primal) if t is None else t)

    def joined(self, x: Variable, t: Variable) -> Variable:
        """Return a constant whose primal and tangent are the primals of two Variables."""
        return constant_variable(self._join(self._split(inside(x)._array)[0], self._split(inside(t)._array)[0]))

    def custom_output(self, rule: Any, args: tuple[Any, ...]) -> Any:
        """Return the output of a function with a user-defined gradient, or `NotImplemented`."""
        return custom_output(self, rule, args)

    def _split(self, array: Any) -> tuple[Array, Array | None]:
        if isinstance(array, DualArray) and array.level is self.level:
            t = array.tangent
            return self.level.constant(array.primal), None if t is None else self.level.constant(t)
        if isinstance(array, DualArray):
            return self._split_inner(array)
        if not hasattr(array, "batching"):
            return array, None
        primal, t = self._split(array.values)
        kind, batching, batched = type(array), array.batching, array.batched
        return kind(batching, primal, batched), None if t is None else kind(batching, t, batched)

    def _split_inner(self, array: DualArray) -> tuple[Array, Array | None]:
        """Return the parts of an array of an inner level in forward mode."""
        dual, (primal, t) = array.level.dual, self._split(array.primal)
        if array.tangent is None:
            return dual(primal, None), None if t is None else dual(t, None)
        inner, change = self._split(array.tangent)
        if t is None and change is not None:
            t = plugins.backend_of(primal).xp.zeros_like(primal)
        return dual(primal, inner), None if t is None else dual(t, change)

    def _join(self, primal: Any, t: Any) -> Array:
        if isinstance(primal, DualArray) and primal.level is not self.level:
            inner, change = primal.tangent, t.tangent
            if inner is not None or change is not None:
                zeros = plugins.backend_of(primal.primal).xp.zeros_like(primal.primal)
                inner = self._join(zeros if inner is None else inner, zeros if change is None else change)
            return primal.level.dual(self._join(primal.primal, t.primal), inner)
        if not hasattr(primal, "batching"):
            return self.level.dual(primal.primal, t.primal)
        if primal.batched != t.batched:  # batch elements that share one of the two get their own
            zeros_like = plugins.backend_of(primal).xp.zeros_like
            primal, t = primal + zeros_like(t), t + zeros_like(primal)
        made: Array = type(primal)(primal.batching, self._join(primal.values, t.values), primal.batched)
        return made
