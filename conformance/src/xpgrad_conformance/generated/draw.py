"""The choices of one check: lengths, values, layouts, and combinations of which every pair occurs."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from xpgrad.types import Shape
from xpgrad_conformance.generated import sizes
from xpgrad_conformance.generated.layouts import NEEDS, constant_along
from xpgrad_conformance.generated.sample import Argument
from xpgrad_conformance.generated.values import values
from xpgrad_conformance.subject import Subject

Pair = tuple[int, int, int, int]
"""Two factors, each by its number, with the number of its value."""


class Draw:
    """The choices of one check on one function, in one dtype, on one device.

    Attributes
    ----------
    s : Subject
    dtype : str
    quick : bool
    rng : numpy.random.Generator
        Determined by the seed of the run and the check.
    """

    def __init__(self, s: Subject, name: str = "") -> None:
        self.s, self.dtype, self.quick, self.rng = s, s.dtype, s.quick, s.generator()
        self.thresholds = tuple(s.backend.thresholds.get(name, ())) + tuple(s.backend.thresholds.get("", ()))

    def has(self, *facts: str) -> bool:
        """Return whether the backend has these facts, dtypes or functions."""
        return self.s.has(*facts)

    def lengths(self, most: int = sizes.LARGEST, least: int = 0) -> list[int]:
        """Return lengths of an axis in ascending order, up to `most`; the longest one only in one dtype in quick."""
        found = sizes.lengths(self.rng, most=most, quick=self.quick, thresholds=self.thresholds)
        if not self.has("empty_arrays"):
            least = max(least, 1)
        if self.quick and self.dtype not in ("float32", "int32", "bool"):
            most = min(most, sizes.LARGEST - 1)
        return [n for n in found if least <= n <= most]

    def layouts(self) -> list[str]:
        """Return the layouts that the backend can make."""
        return [layout for layout, needed in NEEDS.items() if self.has(*needed)]

    def array(
        self,
        shape: Shape,
        kind: str = "ordinary",
        *,
        low: float = -2.0,
        high: float = 2.0,
        axes: Sequence[str] = (),
        layout: str = "contiguous",
        dtype: str = "",
    ) -> Argument:
        """Return an argument of values of a kind (see `values`) in a layout."""
        host = values(kind, self.rng, shape, dtype or self.dtype, low, high)
        if layout == "broadcast":
            host = constant_along(host)
        return Argument(host, tuple(axes), layout)

    def pick(self, items: Iterable[Any]) -> Any:
        """Return one of some items."""
        items = list(items)
        return items[int(self.rng.integers(len(items)))]

    def combinations(self, **factors: Sequence[Any]) -> Iterator[dict[str, Any]]:
        """Yield combinations of factors such that every pair of values of two factors occurs in one of them.

        In the quick profile a third of them, other ones for each seed, and every value of each factor.
        """
        rows = list(covering(factors, self.rng))
        if self.quick:
            rows = self._fewer(rows, factors)
        yield from rows

    def _fewer(self, rows: list[dict[str, Any]], factors: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
        wanted = {(name, i) for name, given in factors.items() for i in range(len(given))}
        kept = []
        for number, row in enumerate(rows):
            met = {(name, list(given).index(row[name])) for name, given in factors.items()}
            if met & wanted or number % 3 == 0:
                kept.append(row)
                wanted -= met
        return kept


def covering(factors: Mapping[str, Sequence[Any]], rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield combinations of factors, few of them, such that every pair of values of two factors occurs in one."""
    names = list(factors)
    if len(names) == 1:
        yield from ({names[0]: value} for value in factors[names[0]])
        return
    pairs = {
        (a, i, b, j)
        for a, b in itertools.combinations(range(len(names)), 2)
        for i in range(len(factors[names[a]]))
        for j in range(len(factors[names[b]]))
    }
    while pairs:
        a, i, b, j = min(pairs)
        row = {a: i, b: j}
        for c in rng.permutation(len(names)).tolist():
            if c not in row:
                row[c] = _best(c, row, pairs, len(factors[names[c]]), rng)
        pairs -= {(x, row[x], y, row[y]) for x, y in itertools.combinations(range(len(names)), 2)}
        yield {names[c]: factors[names[c]][k] for c, k in sorted(row.items())}


def _best(
    c: int, row: Mapping[int, int], pairs: set[tuple[int, int, int, int]], count: int, rng: np.random.Generator
) -> int:
    """Return the value of one factor that meets most pairs that have not occurred."""

    def new(k: int) -> int:
        return sum(sorted_pair(x, i, c, k) in pairs for x, i in row.items())

    order = rng.permutation(count).tolist()
    return int(max(order, key=new))


def sorted_pair(a: int, i: int, b: int, j: int) -> Pair:
    """Return a pair of factors with their values, the earlier factor first."""
    return (a, i, b, j) if a < b else (b, j, a, i)
