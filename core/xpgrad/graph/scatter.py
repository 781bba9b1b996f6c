"""`Scatter`: the cotangent of a gather, kept as index and values until the dense array is needed."""

from typing import Any

from xpgrad.backend.scattering import scattered
from xpgrad.backend.spec import Spec
from xpgrad.graph.product import MOST_PRODUCTS, Product, multiplied
from xpgrad.graph.rules import recorded_namespace
from xpgrad.graph.slot import slot
from xpgrad.types import Array, Dtype, Index, Shape


class Scatter:
    """A cotangent that is zero but for `values` at `index`; what the rule of indexing returns.

    Parameters
    ----------
    index : index, or tuple of indices
    values : array or Variable
        Those that repeated positions would hold are added up.
    spec : Spec
        Shape, dtype and device of the dense cotangent.
    """

    __slots__ = ("dtype", "index", "shape", "spec", "values")

    def __init__(self, index: Index, values: Any, spec: Spec) -> None:
        self.index = index
        self.values = values
        self.spec = spec
        self.shape: Shape = spec.shape  # read by the sweep, as of any cotangent
        self.dtype: Dtype = spec.dtype


class Gathered:
    """What a slot of the sweep holds once a second lazy cotangent has arrived: a dense part, scatters and products."""

    __slots__ = ("dense", "owned", "parts", "pending", "products", "recorded", "size", "spec")

    def __init__(self, spec: Spec, dense: Any, recorded: bool) -> None:
        self.spec, self.dense, self.recorded = spec, dense, recorded
        self.parts: list[tuple[Index, Any]] = []
        self.products: list[Product] = []
        self.pending, self.size = 0, spec.size
        self.owned = False

    def add(self, item: Any) -> None:
        """Add a contribution, dense or lazy."""
        kind = type(item)
        if kind is Product:
            self.products.append(item)
            if len(self.products) == MOST_PRODUCTS:
                self._multiply()
        elif kind is Scatter:
            parts = self.parts
            parts.append((item.index, item.values))
            size = 1
            for length in item.values.shape:
                size *= length
            self.pending += size
            if self.pending > self.size and len(parts) > 1:
                self._scatter()
        else:
            self._add_dense(item, False)

    def _add_dense(self, item: Any, made: bool) -> None:
        """Add an array; `made` tells that nobody else has it."""
        if self.dense is None:
            self.dense, self.owned = item, made
        elif self.owned and not self.recorded:
            self.dense = self.spec.backend.xp.accumulate(self.dense, item)
        elif self.recorded or not self.spec.backend.has_current_device:
            self.dense, self.owned = self.dense + item, True
        else:
            self.dense, self.owned = self.spec.backend.xp.add(self.dense, item), True

    def _scatter(self) -> None:
        parts, self.parts, self.pending = self.parts, [], 0
        if self.recorded:
            made: Any = slot.functions.scatter(self.spec, parts)
        else:
            made = scattered(self.spec, parts)
        self._add_dense(made, True)

    def _multiply(self) -> None:
        products, self.products = self.products, []
        backend = self.spec.backend
        self._add_dense(multiplied(recorded_namespace(backend) if self.recorded else backend.xp, products), True)

    def flush(self) -> Any:
        """Return the dense total; all scatters go into it by one kernel."""
        if self.products:
            self._multiply()
        if self.parts:
            self._scatter()
        return self.dense


LAZY = frozenset({Scatter, Product})


def dense(item: Any, recorded: bool) -> Array:
    """Return a contribution as an array or Variable."""
    if type(item) is Gathered:
        return item.flush()
    if type(item) in LAZY:
        gathered = Gathered(item.spec, None, recorded)
        gathered.add(item)
        return gathered.flush()
    return item
