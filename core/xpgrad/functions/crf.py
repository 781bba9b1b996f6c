"""Conditional random fields over sequences: their loss, and the most likely labels."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

from xpgrad import array_api
from xpgrad.array_api import expand_dims, reshape
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.statistical import sum_by_count
from xpgrad.functions.array import select_item, split_axis
from xpgrad.functions.checks import integral, invalid, real_floating, require_option
from xpgrad.functions.math import logsumexp
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array

__all__ = ["argmax_crf1d", "crf1d"]


@in_single_precision
def crf1d(cost: AnyArray, xs: Sequence[AnyArray], ys: Sequence[AnyArray], reduce: str = "mean") -> Variable:
    """Return the negative logarithm of the likelihood of labels of sequences, in a linear-chain random field.

    Parameters
    ----------
    cost : Variable or array, shape (K, K), real floating-point
        Score of the label j after the label i at ``cost[i, j]``.
    xs : sequence of Variables or arrays, shapes (B_t, K)
        Scores of the labels at each step. Sequences are sorted by their length, the longest first.
    ys : sequence of Variables or arrays, shapes (B_t,), integer
        Labels.
    reduce : {"mean", "no"}

    Returns
    -------
    Variable, shape () or (B,)

    References
    ----------
    Lafferty, McCallum, Pereira: Conditional random fields, 2001.
    """
    require_option("crf1d", "reduce", reduce, ("mean", "no"))
    batches = _checked("crf1d", cost, xs)
    if [integral(y, "crf1d", "ys").shape for y in ys] != [(batch,) for batch in batches]:
        raise invalid("crf1d", "ys of a label for each row of xs", f"ys is {[tuple(y.shape) for y in ys]}")
    labels = [as_variable(y) for y in ys]
    total, score = as_variable(xs[0]), select_item(xs[0], labels[0])
    costs, taken = _at_each_step(cost, len(xs)), _of_transitions(cost, labels)
    ended: list[tuple[Variable, Variable]] = []
    for t, batch in enumerate(batches[1:], start=1):
        if batch < total.shape[0]:
            ended.append((total[batch:], score[batch:]))
            total, score = total[:batch], score[:batch]
        total = logsumexp(expand_dims(total, axis=2) + costs[t - 1], axis=1) + xs[t]
        score = score + taken[t - 1] + select_item(xs[t], labels[t])
    ended.append((total, score))
    totals, scores = (array_api.concat(parts, axis=0) for parts in zip(*reversed(ended), strict=True))
    losses = logsumexp(totals, axis=1) - scores
    return losses if reduce == "no" else sum_by_count(losses, batches[0] or 1)


@in_single_precision
def argmax_crf1d(cost: AnyArray, xs: Sequence[AnyArray]) -> tuple[Variable, list[Array]]:
    """Return the greatest score of each sequence, and the labels that have it.

    Parameters
    ----------
    cost, xs
        As for `crf1d`.

    Returns
    -------
    score : Variable, shape (B,)
    path : list of arrays, shapes (B_t,), integer
    """
    batches = _checked("argmax_crf1d", cost, xs)
    best = as_variable(xs[0])
    ended, arrows = [], []
    for x, batch, moves in zip(xs[1:], batches[1:], _at_each_step(cost, len(xs)), strict=True):
        if batch < best.shape[0]:
            ended.append(best[batch:])
            best = best[:batch]
        scores = expand_dims(best, axis=2) + moves
        arrows.append(array_api.argmax(scores, axis=1))
        best = array_api.max(scores, axis=1) + x
    ended.append(best)
    last = array_api.concat(ended[::-1], axis=0)
    path = [array_api.argmax(best, axis=1)]
    tails = ended[-2::-1]
    for t in range(len(arrows) - 1, -1, -1):
        labels = select_item(arrows[t], path[0])
        if batches[t] > batches[t + 1]:
            labels = array_api.concat([labels, array_api.argmax(tails.pop(0), axis=1)], axis=0)
        path.insert(0, labels)
    return array_api.max(last, axis=1), [labels.array for labels in path]


def _at_each_step(cost: Any, steps: int) -> tuple[Variable, ...]:
    """Return the costs for each step, from one broadcast array, so that gradients are summed in a fixed order."""
    if steps < 2:
        return ()
    return array_api.unstack(array_api.broadcast_to(cost, shape=(steps - 1, *cost.shape)), axis=0)


def _of_transitions(cost: Any, labels: list[Variable]) -> tuple[Variable, ...]:
    """Return the costs of the transitions between `labels`, gathered in one call for the same reason."""
    if len(labels) < 2:
        return ()
    moves = [before[: now.shape[0]] * cost.shape[1] + now for before, now in pairwise(labels)]
    numbers = array_api.concat(moves, axis=0)
    taken = array_api.take(reshape(cost, shape=(-1,)), numbers.array, axis=0)
    cuts = list(accumulate(move.shape[0] for move in moves))
    return split_axis(taken, cuts[:-1], 0)  # type: ignore[return-value]  # a tuple, as by default


def _checked(function: str, cost: Any, xs: Sequence[Any]) -> list[int]:
    """Return the number of sequences at each step, if shapes and dtypes fit."""
    if not xs:
        raise invalid(function, "at least one step", "xs is empty")
    moves, steps = real_floating(cost, function, "cost"), [real_floating(x, function, "xs") for x in xs]
    if moves.ndim != 2 or any(s.ndim != 2 or moves.shape != s.shape[1:] * 2 or s.dtype != moves.dtype for s in steps):
        raise invalid(function, "cost of shape (K, K) and xs of shapes (B_t, K)", f"cost is {moves!r}, xs is {steps!r}")
    batches = [step.shape[0] for step in steps]
    if batches != sorted(batches, reverse=True):
        raise invalid(function, "xs of shapes (B_t, K), in descending order of B_t", f"xs is {steps!r}")
    return batches
