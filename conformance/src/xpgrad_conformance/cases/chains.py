"""Cases of `xpgrad.functions`: losses of label sequences, compared with sums over all paths."""

import itertools
from functools import partial
from typing import Any

import numpy as np

from xpgrad_conformance.table.case import Input, of_functions

Host = Any  # a NumPy array
BATCHES = (3, 2, 1)
COST = (3, 3)
XS = tuple(Input((batch, 3)) for batch in BATCHES)
APART = tuple(Input((batch, 3), low=-9.0, high=9.0) for batch in BATCHES)  # no two paths have nearly equal scores
LABELS = tuple(Input(kind="int", values=values) for values in ([2, 0, 1], [1, 1], [0]))
_f = partial(of_functions, order=2)


def _scores(cost: Host, xs: Any) -> dict[tuple[int, ...], Host]:
    """Return the score of every way through one sequence."""
    ways = itertools.product(range(3), repeat=len(xs))
    return {
        way: sum(x[k] for x, k in zip(xs, way, strict=True)) + sum(cost[i, j] for i, j in itertools.pairwise(way))
        for way in ways
    }


def _lines(arrays: Any) -> list[list[Host]]:
    return [[x[n] for x in arrays if len(x) > n] for n in range(BATCHES[0])]


def _crf(cost: Host, *arrays: Host) -> Host:
    losses = []
    for xs, ys in zip(_lines(arrays[:3]), _lines(arrays[3:]), strict=True):
        scores = _scores(cost, xs)
        losses.append(np.log(sum(np.exp(s) for s in scores.values())) - scores[tuple(int(y) for y in ys)])
    return np.stack(losses)


def _ctc(xs: Any, t: Any, steps: Any, ends: Any) -> Host:
    """CTC losses with blank 0: over paths that give the labels when repetitions, then blanks, are removed."""
    losses = []
    for n, (length, end) in enumerate(zip(steps, ends, strict=True)):
        p = [np.exp(x[n]) / np.exp(x[n]).sum() for x in xs[:length]]
        wanted = tuple(int(label) for label in t[n][:end])
        ways = itertools.product(range(3), repeat=length)
        fitting = [way for way in ways if tuple(k for k, _ in itertools.groupby(way) if k) == wanted]
        losses.append(-np.log(sum(np.prod([p[i][k] for i, k in enumerate(way)]) for way in fitting)))
    return np.stack(losses)


STEPS = tuple((2, 3) for _ in range(4))
TARGETS = Input((2, 2), kind="int", values=[[1, 1], [2, 1]])
LENGTHS = (Input((2,), kind="int", values=[4, 3]), Input((2,), kind="int", values=[2, 1]))
NAME = "connectionist_temporal_classification"

CASES = (
    _f("crf1d", lambda F, cost, *xs: F.crf1d(cost, xs[:3], xs[3:]), lambda cost, *xs: _crf(cost, *xs).sum() / 3,
       (COST, *XS, *LABELS)),
    _f("crf1d-no_reduce", lambda F, cost, *xs: F.crf1d(cost, xs[:3], xs[3:], "no"), _crf, (COST, *XS, *LABELS)),
    _f("argmax_crf1d", lambda F, cost, *xs: F.argmax_crf1d(cost, xs)[0],
       lambda cost, *xs: np.stack([max(_scores(cost, line).values()) for line in _lines(xs)]), (COST, *APART)),
    _f(NAME, lambda F, *xs: F.connectionist_temporal_classification(xs[:4], xs[4], 0),
       lambda *xs: _ctc(xs[:4], xs[4], (4, 4), (2, 2)).sum() / 2, (*STEPS, TARGETS)),
    _f(f"{NAME}-lengths",
       lambda F, *xs: F.connectionist_temporal_classification(xs[:4], xs[4], 0, xs[5], xs[6], reduce="no"),
       lambda *xs: _ctc(xs[:4], xs[4], xs[5], xs[6]), (*STEPS, TARGETS, *LENGTHS)),
)  # fmt: skip
