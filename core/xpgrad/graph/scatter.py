"""`Scatter`: the cotangent of a gather, kept as index and values until the dense array is needed."""

from typing import Any

from xpgrad.backend.spec import Spec
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
    """What a slot of the sweep holds once a `Scatter` has arrived: a dense part and a list of scatters."""

    __slots__ = ("dense", "owned", "parts", "pending", "recorded", "size", "spec")

    def __init__(self, spec: Spec, dense: Any, recorded: bool) -> None:
        self.spec, self.dense, self.recorded = spec, dense, recorded
        self.parts: list[tuple[Index, Any]] = []
        self.pending, self.size = 0, spec.size
        self.owned = False

    def add(self, item: Any) -> None:
        """Add a contribution, dense or scattered."""
        if type(item) is Scatter:
            parts = self.parts
            parts.append((item.index, item.values))
            size = 1
            for length in item.values.shape:
                size *= length
            self.pending += size
            if self.pending > self.size and len(parts) > 1:
                self.flush()
        else:
            self._add_dense(item)

    def _add_dense(self, item: Any) -> None:
        if self.dense is None:
            self.dense = item
        elif self.owned and not self.recorded:
            self.dense = self.spec.backend.xp.accumulate(self.dense, item)
        else:
            self.dense, self.owned = self.dense + item, True

    def flush(self) -> Any:
        """Return the dense total; all scatters go into it by one kernel."""
        if self.parts:
            parts, self.parts, self.pending = self.parts, [], 0
            if self.recorded:
                made: Any = slot.functions.scatter(self.spec, parts)
            else:
                made = self.spec.backend.xp.scatter_add(self.spec, parts)
            fresh = self.dense is None
            self._add_dense(made)
            self.owned = self.owned or fresh
        return self.dense


def dense(item: Any, recorded: bool) -> Array:
    """Return a contribution as an array or Variable."""
    if type(item) is Gathered:
        return item.flush()
    if type(item) is Scatter:
        gathered = Gathered(item.spec, None, recorded)
        gathered.add(item)
        return gathered.flush()
    return item
