"""Data sets in memory, parts of data sets, and data that scikit-learn carries (Chainer's ``chainer.datasets``).

No function downloads data: where Chainer's programs call ``get_mnist()``, `get_digits` gives smaller scans.
"""

from typing import TYPE_CHECKING

from xpgrad.datasets.members import ConcatenatedDataset, DictDataset, TransformDataset, TupleDataset, get_digits
from xpgrad.datasets.parts import (
    SubDataset,
    get_cross_validation_datasets,
    get_cross_validation_datasets_random,
    split_dataset,
    split_dataset_n,
    split_dataset_n_random,
    split_dataset_random,
)
from xpgrad.listing import listed as _listed

__all__ = [
    "ConcatenatedDataset", "DictDataset", "SubDataset", "TransformDataset", "TupleDataset",
    "get_cross_validation_datasets", "get_cross_validation_datasets_random", "get_digits",
    "split_dataset", "split_dataset_n", "split_dataset_n_random", "split_dataset_random",
]  # fmt: skip
if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
