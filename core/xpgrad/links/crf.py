"""`CRF1d`: a conditional random field over sequences."""

from collections.abc import Sequence
from typing import Any

from xpgrad.functions.crf import argmax_crf1d, crf1d
from xpgrad.functions.mixed import unified
from xpgrad.functions.sequences import transpose_sequence
from xpgrad.graph.variable import Variable
from xpgrad.links.parameters import weight
from xpgrad.models import Link
from xpgrad.types import AnyArray, as_list


class CRF1d(Link):
    """Loss and best path of a linear chain with learnt costs of transitions.

    Parameters
    ----------
    n_label : int
    initial_cost : initializer, optional
        By default 0.

    Attributes
    ----------
    cost : Parameter, shape (n_label, n_label)
    """

    def __init__(self, n_label: int, initial_cost: Any = None) -> None:
        super().__init__()
        with self.init_scope():
            self.cost = weight(initial_cost, (n_label, n_label), 0)

    def forward(
        self, xs: Sequence[AnyArray], ys: Sequence[AnyArray], reduce: str = "mean", transpose: bool = False
    ) -> Variable:
        """Return the loss for scores `xs` and labels `ys` of each step, or of each sequence if `transpose`."""
        if transpose:
            xs, ys = transpose_sequence(xs), transpose_sequence(ys)
        cost, *xs = unified("crf1d", self.cost, *as_list(xs, "arrays"))
        return crf1d(cost, xs, ys, reduce)

    def argmax(self, xs: Sequence[AnyArray], transpose: bool = False) -> tuple[Variable, Any]:
        """Return the scores of the best paths, and their labels at each step, or of each sequence if `transpose`."""
        cost, *xs = unified("argmax_crf1d", self.cost, *as_list(transpose_sequence(xs) if transpose else xs, "arrays"))
        score, path = argmax_crf1d(cost, xs)
        return score, transpose_sequence(path) if transpose else path
