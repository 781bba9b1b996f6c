"""`BatchLevel`: one run of a function for all members of a batch."""

from xpgrad.backend.backend import Backend
from xpgrad.backend.device import Device
from xpgrad.errors import BatchError
from xpgrad.graph.variable import Variable
from xpgrad.transforms.batch import ports
from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.backend import BatchBackend, over
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.enclosing.level import EnclosingLevel
from xpgrad.transforms.enclosing.port import Port
from xpgrad.types import Array


class BatchLevel(EnclosingLevel):
    """One run of a function for all members of a batch.

    Parameters
    ----------
    title : str
    size : int
        Number of members.
    randomness : {"different", "same"}
        Whether each member draws random numbers of its own.
    axis_name : str or None
        What `psum` and others call it.

    Attributes
    ----------
    home : Device or None
        The device of the level below where the first argument is.

    Notes
    -----
    Gradients within are those of the sum over the members: a cotangent that is the same for all counts for each.
    """

    def __init__(self, title: str, size: int, randomness: str = "different", axis_name: str | None = None) -> None:
        super().__init__(title)
        self.size, self.randomness, self.axis_name = size, randomness, axis_name
        self.home: Device | None = None
        self._batchings: dict[BatchBackend, Batching] = {}

    def backend(self, base: Backend) -> BatchBackend:
        """Return the backend of this level over `base`."""
        return over(base, self.depth)

    def batching(self, backend: BatchBackend) -> Batching:
        """Return this batch for arrays of one library."""
        found = self._batchings.get(backend)
        if found is None:
            found = self._batchings[backend] = Batching(self, backend)
        return found

    def over(self, array: Array) -> Batching:
        """Return this batch for the library of an array of the level below."""
        return self.batching(self.backend(self.below(array)))

    def holds(self, array: Array) -> bool:
        """Return whether `array` is of this level."""
        return isinstance(array, BatchArray) and array.batching.level is self

    def constant(self, array: Array) -> BatchArray:
        """Return an array of the level below as one that is the same for all members."""
        return self.over(array).same(array)

    def captured_port(self) -> Port:
        """Return how a Variable enters that is the same for all members: its gradient is the sum over them."""
        return ports.shared(self)

    def stored(self, array: Array, x: Variable) -> Array:
        """Return an array that is the same for all members, or raise."""
        if array.batched:
            raise BatchError(
                f"{self.title}: the function has given {x.name or 'a Variable from outside'} an array for each member; "
                "return it instead, or leave moving averages as they are by using_config('train', False)"
            )
        return array.values

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, {self.size} members>"
