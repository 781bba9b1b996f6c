"""The choices of one check: lengths, values, layouts, and combinations in which every pair occurs."""

import functools
import itertools
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from xpgrad.plugin import Backend
from xpgrad.types import Shape
from xpgrad_conformance.generated import sizes
from xpgrad_conformance.generated.accuracy import PERIOD
from xpgrad_conformance.generated.layouts import NEEDS
from xpgrad_conformance.generated.sample import Argument, laid
from xpgrad_conformance.generated.values import values
from xpgrad_conformance.subject import Subject

THIN = 3, 8
"""The profile thin takes every third sample in the dtype of long arrays, and every eighth in the remaining dtypes."""
SPARE, LEAST = 300, 8
"""The largest length and the number of samples for dtypes in which the quick profile takes few inputs."""
OTHERS = 0.45
"""The share of the samples that the quick profile takes in other dtypes than the one of long arrays."""
MODERATE = 70_001
"""The largest length in these dtypes in the full profile; in the quick profile in dtypes of less than four bytes."""
COVERINGS = 16
"""How many sets of combinations of so many factors there are: each is made once."""
Item = TypeVar("Item")


class Draw:
    """The choices of one check on one function, in one dtype, on one device.

    Attributes
    ----------
    s : Subject
    dtype : str
    quick : bool
    rng : numpy.random.Generator
        Determined by the seed of the run, the check and the number.
    few : bool
        Whether it chooses fewer lengths, as for gradients.
    most : int
        The largest length that it chooses.
    spare : bool
        Whether this is a dtype in which the quick profile takes few inputs, small ones but for narrow dtypes.
    long : bool
        Whether the quick profile uses long arrays in this dtype, which depends on the seed.

    Parameters
    ----------
    s : Subject
    name : str
        The kernel or function whose thresholds are meant.
    number : int
        Another one for other random numbers.
    few : bool
    most : int
        The largest length.
    """

    def __init__(
        self, s: Subject, name: str = "", number: int = 0, *, few: bool = False, most: int = sizes.LARGEST
    ) -> None:
        second = s.operation is not None and s.dtype not in s.operation.quick
        self.s, self.dtype, self.quick, self.spare = s, s.dtype, s.quick, s.quick and second
        narrow = np.dtype(s.dtype).itemsize < 4  # in which counters overflow
        limit = SPARE if self.spare and not narrow else MODERATE if second else most
        self.few, self.most = few or self.spare, min(most, limit)
        first = s.generator()
        self.rng = first if number == 0 else np.random.default_rng([int(first.integers(2**32)), number])
        self.thresholds = thresholds_of(s.backend, name)
        dtypes = (s.dtype,) if s.operation is None else s.operation.quick
        self._offset = zlib.crc32(f"{name}{s.dtype}".encode()) + s.seed
        self.long = s.dtype == dtypes[(zlib.crc32(name.encode()) + s.seed) % len(dtypes)]

    def has(self, *facts: str) -> bool:
        """Return whether the backend has these facts, dtypes or functions."""
        return self.s.has(*facts)

    def lengths(self, most: int = sizes.LARGEST, least: int = 0) -> list[int]:
        """Return lengths of an axis in ascending order, up to `most`; in quick long ones in one dtype only."""
        most = min(most, self.most)
        found = sizes.lengths(self.rng, most=most, quick=self.quick, thresholds=self.thresholds, few=self.few)
        if not self.has("empty_arrays"):
            least = max(least, 1)
        found = [n for n in found if least <= n <= most]
        if self.quick and not self.long:
            found = [n for i, n in enumerate(found, self._offset) if n <= sizes.LARGE and i % 2]
        return found

    def part_of(self, samples: Iterator[Item]) -> Iterator[Item]:
        """Return the samples that are tried in this dtype: all, or a part that the profile decides.

        The quick profile yields all samples in one dtype, and in the other dtypes a share, with fewer lengths and
        combinations. The profile thin yields a share in each dtype, which depends on the seed, with at least one
        sample.
        """
        if self.s.thin:
            found, every = list(samples), THIN[not self.long]
            return iter(found[self._offset % every :: every] or found[-1:])
        if self.long or not self.quick:
            return samples
        if self.spare:
            found = list(samples)
            chosen = self.rng.permutation(len(found))[:LEAST].tolist()
            return (found[i] for i in sorted({*chosen, *_longest(found)}))
        return (sample for sample in samples if self.rng.random() < OTHERS)

    def turn(self, parts: int) -> bool:
        """Return whether this function is selected: about one function in `parts`, which depends on the seed."""
        return self._offset % parts == 0

    def largest_sum(self) -> int:
        """Return the largest integer that the dtype of integer sums, as wide as the default dtype, can represent."""
        backend = self.s.backend
        bits = max(np.iinfo(self.dtype).bits, np.iinfo(backend.dtype_name(backend.default_dtype("int"))).bits)
        return int(2 ** (bits - 1) - 1)

    def layouts(self, *, broadcast: bool = True) -> list[str]:
        """Return the layouts that the backend can make; without "broadcast", which repeats elements, if False."""
        return [x for x, needed in NEEDS.items() if self.has(*needed) and (broadcast or x != "broadcast")]

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
        points: Sequence[float] = (),
    ) -> Argument:
        """Return an argument of values of a kind (see `values`) in a layout.

        A long vector of ordinary values repeats them, so that a reference need not compute them all (see `repeated`).
        """
        dtype = dtype or self.dtype
        if kind == "ordinary" and len(shape) == 1 and shape[0] > 2 * PERIOD and not points:
            host = np.resize(values(kind, self.rng, (PERIOD,), dtype, low, high), shape)
        else:
            subnormal = self.has("subnormal_numbers")
            host = values(kind, self.rng, shape, dtype, low, high, points=points, subnormal=subnormal)
        return laid(host, axes, layout)

    def pick(self, items: Iterable[Any]) -> Any:
        """Return a random item."""
        items = list(items)
        return items[int(self.rng.integers(len(items)))]

    def combinations(self, **factors: Sequence[Any]) -> Iterator[dict[str, Any]]:
        """Yield combinations of factors such that every pair of values of two factors occurs.

        The quick profile yields a third of the combinations, which depends on the seed, with every value of each
        factor.
        """
        rows = covering(factors, int(self.rng.integers(COVERINGS)))
        if self.quick:
            rows = self._fewer(rows, factors)
        yield from rows

    def _fewer(self, rows: list[dict[str, Any]], factors: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
        wanted = {(name, i) for name, given in factors.items() for i in range(len(given))}
        kept, every = [], 4 if self.long else 9
        for number, row in enumerate(rows):
            met = {(name, list(given).index(row[name])) for name, given in factors.items()}
            if met & wanted or number % every == 0:
                kept.append(row)
                wanted -= met
        return kept


def _longest(samples: Sequence[Any]) -> list[int]:
    """Return the numbers of the samples with the longest and the second longest axes."""
    lengths = [max((n for x in sample.arguments for n in x.host.shape), default=0) for sample in samples]
    return sorted(range(len(samples)), key=lengths.__getitem__)[-2:]


def thresholds_of(backend: Backend, name: str) -> tuple[int, ...]:
    """Return the sizes at which a backend says that it takes another path in a kernel or function."""
    general = (each for each in (backend.in_place_from, backend.blocks_from) if each < sizes.LARGEST)
    given = (*backend.thresholds.get(name, ()), *backend.thresholds.get("", ()), *map(int, general))
    return tuple(sorted({each for each in given if each > 0}))


def covering(factors: Mapping[str, Sequence[Any]], number: int) -> list[dict[str, Any]]:
    """Return a small number of combinations of factors such that every pair of values of two factors occurs.

    Parameters
    ----------
    factors : mapping
        The values of each factor.
    number : int
        Another one for other combinations.
    """
    rows = _covering(tuple(map(len, factors.values())), number)
    return [{name: factors[name][k] for name, k in zip(factors, row, strict=True)} for row in rows]


@functools.cache
def _covering(counts: tuple[int, ...], number: int) -> list[tuple[int, ...]]:
    """Return combinations of indices below the given counts such that every pair occurs at least once."""
    if len(counts) == 1:
        return [(k,) for k in range(counts[0])]
    rng, rows = np.random.default_rng(number), []
    starts = list(itertools.accumulate(counts, initial=0))
    factors = [factor for factor, count in enumerate(counts) for _ in range(count)]
    own = [((1 << count) - 1) << start for start, count in zip(starts, counts, strict=False)]
    left = [((1 << starts[-1]) - 1) & ~own[factor] for factor in factors]
    # for each value, numbered through all factors, the bits of values that it has not been combined with
    while any(left):
        first = next(value for value, others in enumerate(left) if others)
        second = (left[first] & -left[first]).bit_length() - 1
        row = {factors[value]: value for value in (first, second)}
        chosen = 1 << first | 1 << second
        for factor in rng.permutation(len(counts)).tolist():
            if factor not in row:
                order = (starts[factor] + rng.permutation(counts[factor])).tolist()
                row[factor] = max(order, key=lambda value: (left[value] & chosen).bit_count())
                chosen |= 1 << row[factor]
        for value in row.values():
            left[value] &= ~chosen
        rows.append(tuple(row[factor] - start for factor, start in enumerate(starts[:-1])))
    return rows
