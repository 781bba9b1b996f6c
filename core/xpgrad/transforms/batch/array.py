"""Batched arrays: the elements of a batch in one array of the library, with a hidden leading axis."""

from typing import Any

from xpgrad.backend.levels import Level
from xpgrad.errors import BatchError
from xpgrad.transforms.batch.batching import Batching, Later
from xpgrad.transforms.enclosing.array import TransformedArray
from xpgrad.types import Array, DeviceHandle, Dtype, Shape


class BatchArray(TransformedArray):
    """Base of the types of batched arrays, whose shape is the shape of one batch element.

    Attributes
    ----------
    batching : Batching
        The batch that it belongs to.
    values : array
        The library's array.
    batched : bool
        Whether the first axis of `values` is the batch axis; otherwise all elements are the same.
    later : Later or None
        Deferred computation of `values`.
    """

    __slots__ = ("batched", "batching", "later", "values")

    noun = "a batched array"
    error = BatchError
    values: Array
    later: Later | None

    def __init__(self, batching: Batching, values: Array, batched: bool) -> None:
        self.batching, self.values, self.batched = batching, values, batched
        self.later = None

    def __getattr__(self, name: str) -> Any:
        if name != "values":
            return super().__getattr__(name)
        assert self.later is not None  # else values have been set
        self.values, self.later = self.later.values(), None
        return self.values

    @property
    def level(self) -> Level:
        """The transformation to which it belongs."""
        return self.batching.level

    @property
    def shape(self) -> Shape:
        """Shape of a batch element."""
        shape: Shape = self.values.shape if self.later is None else self.later.shape
        return shape[1:] if self.batched else shape

    @property
    def dtype(self) -> Dtype:
        """Dtype of the array."""
        return self.values.dtype if self.later is None else self.later.like.dtype

    @property
    def device(self) -> DeviceHandle:
        """The library's device object."""
        return self.backend.base.handle_of(self.values if self.later is None else self.later.like)

    def values_for(self, use: str) -> Array:
        """Return the value shared by all batch elements, or raise if they differ."""
        self.batching.check()
        if self.batched:
            raise self.batching.refused(use)
        return self.values

    def __repr__(self) -> str:
        state = "" if self.batching.level.live else ", of a call that has ended"
        spec = self.backend.spec(self)
        return f"<{spec!r} for {f'each of {self.batching.size}' if self.batched else 'all'} batch elements{state}>"
