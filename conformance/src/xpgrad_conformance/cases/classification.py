"""Cases of `xpgrad.functions`: measures of the quality of predictions."""

from functools import partial
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Input, of_functions

Host = Any  # a NumPy array
SCORES = Input(values=[[3, 1, 2], [1, 2, 3], [1, 3, 2], [2, 1, 3], [1, 2, 3], [2, 3, 1], [5, 1, 0]])
LABELS = Input(kind="int", values=[0, 2, 0, 2, 1, 1, -1])
MAPS = (2, 3, 1, 4)
PIXELS = Input((2, 1, 4), kind="int", values=[[[0, 2, 1, -1]], [[1, 1, 2, 0]]])
PAIR = ((5, 2), (5, 2))
FOUR = (None, None, None, "int")
TWO = (None, "int")
_f = partial(of_functions, order=0)


def _summary(y: Host, t: Host, classes: int = 3, beta: float = 1.0, ignored: int = -1) -> tuple[Host, ...]:
    """Return precision, recall, F-score and support from the matrix of confusion, example by example."""
    confusion = np.zeros((classes, y.shape[1]))
    rows = np.moveaxis(y, 1, -1).reshape(-1, y.shape[1])
    for scores, label in zip(rows, t.ravel(), strict=True):
        if label != ignored:
            confusion[label, list(scores).index(max(scores))] += 1
    hits = np.asarray([confusion[k, k] if k < y.shape[1] else 0 for k in range(classes)])
    predicted = np.asarray([confusion[:, k].sum() if k < y.shape[1] else 0 for k in range(classes)])
    support = confusion.sum(axis=1)
    with np.errstate(invalid="ignore"):
        precision, recall = hits / predicted, hits / support
        score = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
    return precision, recall, score, support.astype(int)


def _determination(pred: Host, true: Host, weight: Host | None = None) -> Host:
    weight = np.ones(len(pred)) if weight is None else weight
    moved = true - true[:1]  # 0 for constant values, whose mean may be rounded
    spread = weight @ (moved - np.average(moved, axis=0, weights=weight)) ** 2
    return np.where(spread > 0, 1 - weight @ (pred - true) ** 2 / np.where(spread > 0, spread, 1), 0.0)


CASES = (
    _f(
        "binary_accuracy",
        {},
        lambda y, t: np.asarray(
            sum((a >= 0) == b for a, b in zip(y.ravel(), t.ravel(), strict=True)) / max((t != -1).sum(), 1)
        ),
        (Input(values=[[-2, 0, 1], [3, -5, -1]]), Input(kind="int", values=[[0, 1, 0], [1, -1, 1]])),
    ),
    _f("binary_accuracy-all_ignored", {}, lambda y, t: np.asarray(0.0), ((2,), Input(kind="int", values=[-1, -1]))),
    _f("classification_summary", (3,), _summary, (SCORES, LABELS), dtype=FOUR),
    _f("classification_summary-more_classes", {"label_num": 4, "beta": 2.0}, lambda y, t: _summary(y, t, 4, 2.0),
       (SCORES, LABELS), dtype=FOUR),
    _f("classification_summary-maps", lambda F, y, t: F.classification_summary(y, t, 3, ignore_label=1),
       lambda y, t: _summary(y, t, 3, 1.0, 1), (MAPS, Input(kind="int", values=[[[0, 2, 1, 0]], [[1, 1, 2, 0]]])),
       dtype=FOUR),
    _f("precision", (3,), lambda y, t: _summary(y, t)[::3], (MAPS, PIXELS), dtype=TWO),
    _f("recall", (3,), lambda y, t: _summary(y, t)[1::2], (SCORES, LABELS), dtype=TWO),
    _f("f1_score", (3,), lambda y, t: _summary(y, t)[2:], (SCORES, LABELS), dtype=TWO),
    _f("r2_score", {}, lambda x, y: _determination(x, y).mean(), PAIR),
    _f("r2_score-raw", {"multioutput": "raw_values"}, _determination, PAIR),
    _f("r2_score-weights", ("raw_values",), _determination, (*PAIR, Input((5,), low=0.1))),
    _f("r2_score-constant", {"multioutput": "raw_values"}, _determination,
       ((3, 2), Input(values=[[0.1, 1], [0.1, 2], [0.1, 3]]))),
)  # fmt: skip
