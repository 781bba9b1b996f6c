"""Lazy cotangents: contributions to a gradient that are computed later, all of one kind together."""

from collections.abc import Sequence
from typing import Any, ClassVar

from xpgrad.backend.backend import Backend
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.types import Array, Dtype, Shape


class Lazy:
    """Base of the lazy cotangents that rules return; the sweep collects them and computes their total.

    Attributes
    ----------
    spec : Spec
        Shape, dtype and device of the cotangent.
    shape : tuple of int
        Read by the sweep, as for any cotangent; so is `dtype`.
    dtype : dtype
    """

    __slots__ = ("dtype", "shape", "spec")

    dtype: Dtype
    shape: Shape
    spec: Spec

    limit: ClassVar[int | None]
    """Largest sum of costs of those of one kind that wait; None for the number of elements of the cotangent."""

    cost: int
    """The cost of deferring this contribution."""

    @classmethod
    def total(cls, items: Sequence[Any], recorded: bool) -> Any:
        """Return the sum of `items`, as a new array, or as a Variable if the sweep is recorded."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.spec!r}>"


class Gathered:
    """A sum with lazy contributions, in a slot of the sweep: a dense part and the lazy contributions."""

    __slots__ = ("dense", "lazy", "owned", "recorded", "size", "spec")

    def __init__(self, spec: Spec, recorded: bool, item: Any) -> None:
        self.spec, self.recorded, self.size = spec, recorded, spec.size
        self.dense: Any = None
        self.owned = False  # whether no other object refers to the dense part
        self.lazy: dict[type[Lazy], list[Any]] = {}  # for each kind the sum of the costs, then the contributions
        self.add(item)

    def add(self, item: Any) -> "Gathered":
        """Add a contribution, dense or lazy, and return the sum."""
        kind = type(item)
        waiting = self.lazy.get(kind)
        if waiting is None:
            if not isinstance(item, Lazy):
                self._add_dense(item, False)
                return self
            waiting = self.lazy[kind] = [0]
        waiting.append(item)
        waiting[0] += item.cost
        if waiting[0] > (item.limit or self.size) and len(waiting) > 2:
            self._compute(kind)
        return self

    def _compute(self, kind: type[Lazy]) -> None:
        self._add_dense(kind.total(self.lazy.pop(kind)[1:], self.recorded), True)

    def _add_dense(self, item: Any, owned: bool) -> None:
        if self.dense is None:
            self.dense, self.owned = item, owned
        elif self.owned and not self.recorded:
            self.dense = self.spec.backend.xp.accumulate(self.dense, item)
        else:
            self.dense, self.owned = added(self.dense, item, self.spec, self.recorded), True

    def total(self) -> Any:
        """Return the sum of all contributions, an array or a Variable."""
        for kind in tuple(self.lazy):
            self._compute(kind)
        return self.dense


def added(held: Any, gx: Any, spec: Spec, recorded: bool) -> Any:
    """Return the sum of two cotangents of `spec`, on their own device."""
    return spec.backend.xp.add(held, gx) if spec.backend.has_current_device and not recorded else held + gx


def dense(item: Any, recorded: bool) -> Any:
    """Return a cotangent as an array or a Variable."""
    if isinstance(item, Gathered):
        return item.total()
    return item.total([item], recorded) if isinstance(item, Lazy) else item


def as_array(g: Any, backend: Backend) -> Array:
    """Return a library's scalar as an array; a function's outputs may be of another library than its inputs."""
    if type(g) in plugins.by_type:
        return g
    own = backend if isinstance(g, backend.scalar_types) else plugins.backend_of_scalar(g) or backend
    return own.restore(g)
