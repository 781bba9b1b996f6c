"""Parts of data sets: ranges, splits and folds."""

import operator
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.dataset.iterator import DatasetMixin, permutation


class SubDataset(DatasetMixin):
    """The examples of a data set from `start` to before `finish`.

    Parameters
    ----------
    dataset : sequence
    start, finish : int
    order : sequence of int, optional
        The range is one of this permutation of the indices.
    """

    def __init__(self, dataset: Any, start: int, finish: int, order: Sequence[int] | None = None) -> None:
        if start < 0 or finish > len(dataset):
            raise ValueError(f"SubDataset: expected a part of 0 to {len(dataset)}, got {start} to {finish}")
        if order is not None and len(order) != len(dataset):
            raise ValueError(f"SubDataset: expected an order of {len(dataset)} indices, got {len(order)}")
        self._dataset, self._start, self._size, self._order = dataset, start, finish - start, order

    def __len__(self) -> int:
        return self._size

    def get_example(self, i: int) -> Any:
        """Return the example with index `i`."""
        if not -self._size <= i < self._size:
            raise IndexError(f"SubDataset: index {i} is out of range for {self._size} examples")
        i = self._start + i % self._size
        return self._dataset[i if self._order is None else self._order[i]]


def split_dataset(dataset: Any, split_at: int, order: Sequence[int] | None = None) -> tuple[SubDataset, SubDataset]:
    """Return the first `split_at` examples of a data set, in `order` if it is given, and the remaining examples."""
    if not hasattr(split_at, "__index__"):
        raise TypeError(f"split_dataset: split_at must be an int, got {split_at!r}")
    if not 0 <= split_at <= len(dataset):
        raise ValueError(f"split_dataset: split_at must be an int from 0 to {len(dataset)}, got {split_at!r}")
    return SubDataset(dataset, 0, split_at, order), SubDataset(dataset, split_at, len(dataset), order)


def split_dataset_random(dataset: Any, first_size: int, seed: int | None = None) -> tuple[SubDataset, SubDataset]:
    """Return `first_size` examples drawn at random, the same for a `seed`, and the remaining examples."""
    return split_dataset(dataset, first_size, _order(len(dataset), seed))


def split_dataset_n(dataset: Any, n: int, order: Sequence[int] | None = None) -> list[SubDataset]:
    """Return `n` parts of equal size, in `order` if it is given; leftover examples at the end are dropped."""
    size = len(dataset) // _checked("split_dataset_n", n, len(dataset))
    return [SubDataset(dataset, size * i, size * (i + 1), order) for i in range(n)]


def split_dataset_n_random(dataset: Any, n: int, seed: int | None = None) -> list[SubDataset]:
    """Return `n` parts of equal size, drawn at random, the same for a `seed`; leftover examples are dropped."""
    return split_dataset_n(dataset, n, _order(len(dataset), seed))


def get_cross_validation_datasets(
    dataset: Any, n_folds: int, order: Sequence[int] | None = None
) -> list[tuple[SubDataset, SubDataset]]:
    """Return `n_folds` pairs of training and held-out examples, each held out once, in `order` if it is given."""
    n = len(dataset)
    _checked("get_cross_validation_datasets", n_folds, n)
    order = range(n) if order is None else order
    edges, pairs = [n * i // n_folds for i in range(n_folds + 1)], []
    for start, finish in reversed([*pairwise(edges)]):
        held_out = list(order[start:finish])
        rotated = [*order[finish:], *order[:start], *held_out]
        pairs.append(split_dataset(dataset, n - len(held_out), rotated))
    return pairs


def get_cross_validation_datasets_random(
    dataset: Any, n_folds: int, seed: int | None = None
) -> list[tuple[SubDataset, SubDataset]]:
    """Return pairs like `get_cross_validation_datasets`, with examples in a random order."""
    return get_cross_validation_datasets(dataset, n_folds, _order(len(dataset), seed))


def _checked(function: str, parts: int, examples: int) -> int:
    """Return the number of parts of so many examples, at most one for each."""
    if not 1 <= operator.index(parts) <= max(examples, 1):
        raise ValueError(f"{function}: expected from 1 to {max(examples, 1)} parts of {examples} examples, got {parts}")
    return parts


def _order(n: int, seed: int | None) -> Sequence[int]:
    if seed is None:
        return permutation(n)
    order: Callable[[int], Any] = plugins.host.module.random.RandomState(seed).permutation
    return [int(i) for i in order(n)]
