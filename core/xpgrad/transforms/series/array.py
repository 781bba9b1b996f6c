"""Truncated power series: an array of the level below, with those of the coefficients after it."""

from typing import TYPE_CHECKING, Any

from xpgrad.transforms.dual.array import DualArray
from xpgrad.transforms.series.terms import Tail

if TYPE_CHECKING:
    from xpgrad.transforms.series.level import SeriesLevel


class SeriesArray(DualArray):
    """Base of the types of series in one number t; the coefficient of ``t**0`` is the primal.

    Attributes
    ----------
    primal : array
    tangent : tuple of (array or None), or None
        The coefficients of ``t**1`` to ``t**n``, each None for zero; None if all are.
    """

    __slots__ = ()

    noun = "an array in Taylor mode"
    level: "SeriesLevel"  # pyright: ignore[reportIncompatibleVariableOverride]  # set once, when it is made
    tangent: Tail

    @property
    def terms(self) -> list[Any]:
        """All coefficients; those after the primal are missing if they are zero."""
        backend: Any = self.backend
        return [self.primal, *(self.tangent or (None,) * backend.order)]

    def __repr__(self) -> str:
        if not self.level.live:
            return f"<series {self.backend.spec(self)!r} of a call that has ended>"
        return f"<series {self.terms!r}>"
