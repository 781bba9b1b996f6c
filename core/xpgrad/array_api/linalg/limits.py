"""Limits of quotients whose numerator and gap vanish simultaneously, by de l'Hospital's rule.

The gradient of a decomposition divides terms with the cotangents of its vectors by gaps between its values. For a
function that does not depend on the choice of vectors, the numerator is ``N = gap K`` with a smooth K. Along a change
of the values, with fixed vectors, that is ``N' = gap' K + gap K'``; so K is ``N' / gap'`` where the gap is 0, and
``N' / gap' - gap N'' / (2 gap'**2)`` up to a multiple of the gap's square. Its derivative is correct as well; its
second derivative differs from the second derivative of K, and is replaced by NaN. N' is the derivative of the
cotangents with respect to the values, which depends on the whole graph after the decomposition; one change that opens
every gap suffices for all limits.
"""

from typing import Any

from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import Variable
from xpgrad.types import Array

NAN = float("nan")


def limit(slope: Any, second: Any, gap: Any, opening: Array) -> Any:
    """Return the limit of a numerator divided by its `gap`.

    Parameters
    ----------
    slope, second : array or Variable
        N' and N'', the derivatives of the numerator along a change of the values; None for 0.
    gap : array or Variable
    opening : array
        gap', the slope of the gap.
    """
    value = slope / opening
    return value if second is None else value - 0.5 * gap * second / (opening * opening)


def fenced(value: Variable, gap: Variable, where: Array) -> Variable:
    """Return `value`, a limit that is used at some places, with a second derivative that is NaN there."""
    return value + Fence(where).apply((gap,))[0]


class Fence(FunctionNode):
    """Zeros, whose second derivative is NaN at some places. A class, because no formula gives that."""

    of_library = True

    def __init__(self, where: Array, last: bool = False) -> None:
        self.where, self.last = where, last

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        """Return zeros."""
        self.retain_inputs((0,))
        return (0.0 * inputs[0],)

    def backward(self, target_input_indexes: tuple[int, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return zeros, and NaN as their derivative."""
        (gap,) = self.get_retained_inputs()
        if not self.last:
            return Fence(self.where, last=True).apply((gap,))
        xp = gap.__array_namespace__()
        return (xp.where(self.where, NAN, 0.0 * gap),)
