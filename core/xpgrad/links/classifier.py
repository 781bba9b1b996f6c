"""Predictors with loss and accuracy, and conditional random fields."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.functions.crf import argmax_crf1d, crf1d
from xpgrad.functions.evaluation import accuracy
from xpgrad.functions.loss import softmax_cross_entropy
from xpgrad.functions.mixed import unified
from xpgrad.functions.sequences import transpose_sequence
from xpgrad.graph.variable import Variable
from xpgrad.links.parameters import weight
from xpgrad.models import Chain, Link
from xpgrad.reporter import report
from xpgrad.types import AnyArray, as_list


class Classifier(Chain):
    """The loss of a predictor, which is reported with its accuracy.

    Parameters
    ----------
    predictor : Link
    lossfun, accfun : callable
        Take the output of the predictor and the labels.
    label_key : int or str
        Which of the arguments of a call, or which keyword argument, is the labels; other arguments go to the predictor.

    Attributes
    ----------
    predictor : Link
    y, loss, accuracy : Variable or None
        Results of the last call.
    compute_accuracy : bool
    """

    compute_accuracy = True

    def __init__(
        self, predictor: Link, lossfun: Callable[..., Any] = softmax_cross_entropy,
        accfun: Callable[..., Any] = accuracy, label_key: int | str = -1,
    ) -> None:  # fmt: skip
        if not isinstance(label_key, (int, str)):
            raise TypeError(f"Classifier: label_key must be int or str, got {type(label_key).__name__}")
        super().__init__()
        self.lossfun, self.accfun, self.label_key = lossfun, accfun, label_key
        self.y: Any = None
        self.loss: Any = None
        self.accuracy: Any = None
        with self.init_scope():
            self.predictor = predictor

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle: attributes except the results of the last call, which are in a graph."""
        return {**self.__dict__, "y": None, "loss": None, "accuracy": None}

    def forward(self, *args: Any, **kwargs: Any) -> Variable:
        """Return the loss, and report it as ``loss``, and the accuracy as ``accuracy``."""
        rest, key = list(args), self.label_key
        if isinstance(key, str):
            if key not in kwargs:
                raise ValueError(f"Classifier: Label key {key!r} is not among the arguments {sorted(kwargs)}")
            t = kwargs.pop(key)
        elif -len(rest) <= key < len(rest):
            t = rest.pop(key)
        else:
            raise ValueError(f"Classifier: Label key {key} is out of bounds: there are {len(rest)} arguments")
        self.y = self.loss = self.accuracy = None
        self.y = self.predictor(*rest, **kwargs)
        self.loss = self.lossfun(self.y, t)
        report({"loss": self.loss}, self)
        if self.compute_accuracy:
            self.accuracy = self.accfun(self.y, t)
            report({"accuracy": self.accuracy}, self)
        found: Variable = self.loss
        return found


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
