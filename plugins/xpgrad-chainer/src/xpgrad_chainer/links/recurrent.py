"""Base classes of recurrent networks over whole sequences, and the order of sequences by length."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from xpgrad.links.n_step import NStepRNNBase as NStepRNNBase

NStepGRUBase = NStepLSTMBase = NStepRNNBase


def argsort_list_descent(lst: Sequence[Any]) -> Any:
    """Return the indices that sort sequences by length, the longest first."""
    return np.argsort([-len(x) for x in lst]).astype(np.int32)


def permutate_list(lst: Sequence[Any], indices: Iterable[int], inv: bool) -> list[Any]:
    """Return the elements in the order of the indices, or in their previous order with `inv`."""
    order = np.asarray(list(indices), dtype=int)
    return [lst[i] for i in (np.argsort(order) if inv else order)]
