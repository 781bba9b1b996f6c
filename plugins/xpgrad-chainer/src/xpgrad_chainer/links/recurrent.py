"""Base classes of recurrent networks over whole sequences, and the order of sequences by length."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from xpgrad import as_array, links
from xpgrad.functions import cast
from xpgrad.links.n_step import NStepRNNBase as NStepRNNBase

NStepGRUBase = NStepLSTMBase = NStepRNNBase


class CRF1d(links.CRF1d):
    """A conditional random field; with `transpose`, values are those of the sequences sorted by length."""

    def forward(self, xs: Any, ys: Any, reduce: str = "mean", transpose: bool = False) -> Any:
        """Return the loss; see `xpgrad.links.CRF1d`."""
        loss = super().forward(xs, ys, reduce, transpose)
        return loss[argsort_list_descent(xs)] if transpose and loss.ndim else loss

    def argmax(self, xs: Any, transpose: bool = False) -> Any:
        """Return the scores of the best paths, and their labels as int32 arrays."""
        score, path = super().argmax(xs, transpose)
        labels = [as_array(cast(each, "int32")) for each in path]
        return (score[argsort_list_descent(xs)] if transpose else score), labels


def argsort_list_descent(lst: Sequence[Any]) -> Any:
    """Return the indices that sort sequences by length, the longest first."""
    return np.argsort([-len(x) for x in lst]).astype(np.int32)


def permutate_list(lst: Sequence[Any], indices: Iterable[int], inv: bool) -> list[Any]:
    """Return the elements in the order of the indices, or in their previous order with `inv`."""
    order = np.asarray(list(indices), dtype=int)
    return [lst[i] for i in (np.argsort(order) if inv else order)]
