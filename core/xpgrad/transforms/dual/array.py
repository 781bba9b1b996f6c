"""Dual arrays: an array of the level below, with its tangent."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xpgrad.errors import GradientError
from xpgrad.transforms.enclosing.array import TransformedArray
from xpgrad.types import Array, Dtype, Shape

if TYPE_CHECKING:
    from xpgrad.transforms.dual.level import DualLevel


class DualArray(TransformedArray):
    """Base of the types of dual arrays, whose values are the primal's values. Both arrays are never written to.

    Attributes
    ----------
    level : DualLevel
        The transformation that it belongs to.
    primal : array
    tangent : array or None
        Of the shape, dtype and device of the primal; None for zero, and for integers and booleans.
    later : callable or None
        Returns the primal, if that is not computed before it is needed; there is a tangent then.
    """

    __slots__ = ("later", "level", "primal", "tangent")

    noun = "an array in forward mode"
    level: "DualLevel"

    def __init__(self, level: "DualLevel", primal: Array, tangent: Array | None) -> None:
        self.level = level  # pyright: ignore[reportIncompatibleMethodOverride]  # a slot is faster than a property
        self.primal, self.tangent = primal, tangent
        self.later: Callable[[], Array] | None = None

    @classmethod
    def with_later(cls, level: "DualLevel", later: Callable[[], Array], tangent: Array) -> "DualArray":
        """Return an array whose primal is computed when it is needed."""
        x = cls.__new__(cls)
        x.level, x.later, x.tangent = level, later, tangent
        return x

    def __getattr__(self, name: str) -> Any:
        if name != "primal":
            return super().__getattr__(name)
        assert self.later is not None  # else the primal has been set
        self.primal, self.later = self.later(), None
        return self.primal

    @property
    def like(self) -> Array:
        """The primal, or the tangent once computed: an array of the same shape, dtype and device."""
        return self.primal if self.later is None else self.tangent

    @property
    def shape(self) -> Shape:
        """Shape of the array."""
        shape: Shape = self.like.shape
        return shape

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array."""
        return self.like.dtype

    @property
    def values(self) -> Array:
        """The primal."""
        return self.primal

    def values_for(self, use: str) -> Array:
        """Return the primal, after a check that the level has not ended."""
        if not self.level.live:
            self.level.check()
        return self.primal

    def exported(self) -> Array:
        """Return the primal, or raise if there is a tangent, which would be lost."""
        if self.tangent is not None:
            raise GradientError(
                f"{self.level.title}: an array in forward mode was converted to an array of another library, which has "
                "no tangent; compute with functions of the library of the array, or apply stop_gradient to the array"
            )
        return self.values_for("it was converted to an array of another library")

    def __repr__(self) -> str:
        if not self.level.live:
            return f"<dual {self.backend.spec(self)!r} of a call that has ended>"
        return f"<dual: primal {self.primal!r}, tangent {self.tangent!r}>"
