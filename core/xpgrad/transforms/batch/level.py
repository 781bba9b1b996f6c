"""`BatchLevel`: one run of a function for all elements of a batch."""

from xpgrad.backend.backend import Backend
from xpgrad.errors import BatchError
from xpgrad.graph.variable import Variable
from xpgrad.transforms.batch import ports
from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.backend import BatchBackend
from xpgrad.transforms.batch.batching import BatchRun
from xpgrad.transforms.enclosing.backend import backend_over
from xpgrad.transforms.enclosing.level import Port, root
from xpgrad.types import Array


class BatchLevel(BatchRun):
    """One run of a function for all elements of a batch."""

    def backend(self, base: Backend) -> BatchBackend:
        """Return the backend of this level over `base`."""
        return backend_over(BatchBackend, base, self.depth)

    def holds(self, array: Array) -> bool:
        """Return whether `array` is of this level."""
        return isinstance(array, BatchArray) and array.batching.level is self

    def constant(self, array: Array) -> Array:
        """Return an array of the level below as an array shared by all batch elements."""
        return self.over(array).same(array)

    def captured_port(self) -> Port:
        """Return the port of a Variable shared by all batch elements: its gradient is the sum over them."""
        return ports.shared(self)

    def check_cut(self, x: Variable) -> None:
        """Raise if the level below cannot cut the graph at `x`."""
        if self.outer is not None and self.holds(x._array):
            self.outer.check_cut(root(x._array.values, False))

    def stored(self, array: Array, x: Variable) -> Array:
        """Return an array that is shared by all batch elements, or raise."""
        if array.batched:
            raise BatchError(
                f"{self.title}: the function assigned {x.name or 'an outer Variable'} an array per batch element; "
                "return it instead, or leave moving averages as they are by using_config('train', False)"
            )
        return array.values
