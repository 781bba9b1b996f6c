"""Data sets that combine, join or transform other data sets, and digits that scikit-learn carries."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.backend.spellings import dtype_of
from xpgrad.dataset.iterator import DatasetMixin
from xpgrad.datasets.parts import SubDataset


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


HELD_OUT = 360
_SHAPES = {1: (64,), 2: (8, 8), 3: (1, 8, 8)}


def get_digits(
    withlabel: bool = True, ndim: int = 1, scale: float = 1.0, dtype: Any = "float32", label_dtype: Any = "int32"
) -> tuple[Any, Any]:
    """Return 1,437 scans of handwritten digits to train with, and 360 to test with.

    The options are the same as for Chainer's ``get_mnist``, which downloads larger scans; these are the 8 x 8 scans of
    ``sklearn.datasets.load_digits`` (E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, CC BY 4.0).

    Parameters
    ----------
    withlabel : bool
        Whether examples are pairs of scan and label; else they are scans.
    ndim : {1, 2, 3}
        Scans of shape (64,), (8, 8) or (1, 8, 8).
    scale : float
        The largest value of a pixel.
    dtype, label_dtype : dtype of any library, or its name
    """
    if ndim not in _SHAPES:
        raise ValueError(f"get_digits: ndim must be 1, 2 or 3, got {ndim!r}")
    try:
        from sklearn.datasets import load_digits  # optional
    except ImportError:
        raise ImportError("get_digits: scikit-learn is not installed; pip install scikit-learn") from None
    np = plugins.host.module
    images, labels = load_digits(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(labels))  # a fixed generator, so that runs are comparable
    x = (images[order] * (scale / 16)).astype(dtype_of(dtype, plugins.host, "get_digits")).reshape(-1, *_SHAPES[ndim])
    data = TupleDataset(x, labels[order].astype(dtype_of(label_dtype, plugins.host, "get_digits"))) if withlabel else x
    split = len(x) - HELD_OUT
    return SubDataset(data, 0, split), SubDataset(data, split, len(x))
