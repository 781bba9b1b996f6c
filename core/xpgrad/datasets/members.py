"""Data sets that combine, join or transform other data sets."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.dataset.iterator import DatasetMixin


def _one_length(name: str, members: Sequence[Any]) -> int:
    lengths = {len(member) for member in members}
    if len(lengths) != 1:
        raise ValueError(f"{name}: expected members of one length, got lengths {sorted(lengths)}")
    return lengths.pop()


class TupleDataset(DatasetMixin):
    """Data sets of one length together: examples are tuples of their examples.

    Parameters
    ----------
    *datasets : sequences or arrays
    """

    def __init__(self, *datasets: Any) -> None:
        self._length, self._datasets = _one_length("TupleDataset", datasets), datasets

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        """Return an example, or for a slice, list or integer array a list of examples."""
        columns = [dataset[index] for dataset in self._datasets]
        several = isinstance(index, (slice, list)) or getattr(index, "ndim", 0) > 0
        return list(zip(*columns, strict=True)) if several else tuple(columns)


class DictDataset(DatasetMixin):
    """Data sets of one length together: examples are dictionaries of their examples."""

    def __init__(self, **datasets: Any) -> None:
        self._length, self._datasets = _one_length("DictDataset", list(datasets.values())), datasets

    def __len__(self) -> int:
        return self._length

    def get_example(self, i: int) -> dict[str, Any]:
        """Return the example with index `i`."""
        return {key: dataset[i] for key, dataset in self._datasets.items()}


class ConcatenatedDataset(DatasetMixin):
    """Data sets one after the other."""

    def __init__(self, *datasets: Any) -> None:
        self._datasets = datasets

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._datasets)

    def get_example(self, i: int) -> Any:
        """Return the example with index `i`."""
        rest = i + len(self) if i < 0 else i
        for dataset in self._datasets:
            if 0 <= rest < len(dataset):
                return dataset[rest]
            rest -= len(dataset)
        raise IndexError(f"ConcatenatedDataset: index {i} is out of range for {len(self)} examples")


class TransformDataset(DatasetMixin):
    """A data set whose examples are transformed when they are read.

    Parameters
    ----------
    dataset : sequence
    transform : function of an example
    """

    def __init__(self, dataset: Any, transform: Callable[[Any], Any]) -> None:
        self._dataset, self._transform = dataset, transform

    def __len__(self) -> int:
        return len(self._dataset)

    def get_example(self, i: int) -> Any:
        """Return the transformed example with index `i`."""
        return self._transform(self._dataset[i])
