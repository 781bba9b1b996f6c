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
        """Return the loss for scores `xs` and labels `ys`, one array per step, or per sequence if `transpose`.

        Sequences may be in any order; the steps of sequences that are the longest first are given without `transpose`.
        """
        order: list[int] = []
        if transpose:
            order = _longest_first(xs)
            xs, ys = transpose_sequence([xs[i] for i in order]), transpose_sequence([ys[i] for i in order])
        cost, *xs = unified("crf1d", self.cost, *as_list(xs, "arrays"))
        loss = crf1d(cost, xs, ys, reduce)
        return _in_order(loss, order) if loss.ndim else loss

    def argmax(self, xs: Sequence[AnyArray], transpose: bool = False) -> tuple[Variable, Any]:
        """Return the scores of the best paths, and their labels per step, or per sequence if `transpose`."""
        order: list[int] = []
        if transpose:
            order = _longest_first(xs)
            xs = transpose_sequence([xs[i] for i in order])
        cost, *xs = unified("argmax_crf1d", self.cost, *as_list(xs, "arrays"))
        score, path = argmax_crf1d(cost, xs)
        if not transpose:
            return score, path
        paths = dict(zip(order, transpose_sequence(path), strict=True))
        return _in_order(score, order), [paths[i] for i in range(len(paths))]


def _longest_first(xs: Sequence[AnyArray]) -> list[int]:
    """Return the positions of sequences by their lengths, equal ones in their order."""
    return sorted(range(len(xs)), key=lambda i: -xs[i].shape[0])


def _in_order(values: Variable, order: list[int]) -> Variable:
    """Return values of the sequences at the positions `order`, in the order of positions."""
    return values if order == sorted(order) else values[sorted(range(len(order)), key=order.__getitem__)]
