"""Data sets divided between processes, of which there is one."""

from typing import Any

import numpy as np

from xpgrad.datasets import SubDataset


class DataSizeError(RuntimeError):
    """A data set too large to be sent, which does not occur in one process."""


def scatter_dataset(
    dataset: Any, comm: Any, root: int = 0, shuffle: bool = False, seed: int | None = None, **options: Any
) -> SubDataset:
    """Return the whole data set, in random order with `shuffle`."""
    order = np.random.RandomState(seed).permutation(len(dataset)).tolist() if shuffle else None
    return SubDataset(dataset, 0, len(dataset), order)


def scatter_index(n_total_samples: int, comm: Any, root: int = 0, *, force_equal_length: bool = True) -> Any:
    """Return the bounds of the part of this process, the whole."""
    return 0, n_total_samples


def create_empty_dataset(dataset: Any) -> list[tuple[()]]:
    """Return as many empty examples as the data set has."""
    return [()] * len(dataset)


def get_n_iterations_for_one_epoch(dataset: Any, local_batch_size: int, comm: Any) -> int:
    """Return the number of batches of an epoch."""
    return -(-len(dataset) // local_batch_size)


def get_epoch_trigger(n_epochs: int, dataset: Any, local_batch_size: int, comm: Any) -> tuple[int, str]:
    """Return a trigger that fires after `n_epochs`."""
    return n_epochs * get_n_iterations_for_one_epoch(dataset, local_batch_size, comm), "iteration"
