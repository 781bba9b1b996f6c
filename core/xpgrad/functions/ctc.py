"""Connectionist temporal classification: labels of a sequence without their times."""

from collections.abc import Sequence
from typing import Any

from xpgrad import array_api
from xpgrad.array_api import reshape, where
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.statistical import sum_by_count
from xpgrad.backend.spec import Spec
from xpgrad.functions.activation import log_softmax
from xpgrad.functions.checks import integral, invalid, real_floating, require_option
from xpgrad.functions.math import logsumexp
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray

__all__ = ["connectionist_temporal_classification"]


@in_single_precision
def connectionist_temporal_classification(
    x: Sequence[AnyArray], t: Any, blank_symbol: int, input_length: Any = None, label_length: Any = None,
    reduce: str = "mean",
) -> Variable:  # fmt: skip
    """Return the negative logarithm of the probability of label sequences, summed over all their times.

    Parameters
    ----------
    x : sequence of T Variables or arrays, shape (B, C), real floating-point
        Logits of the symbols at each step.
    t : Variable or array, shape (B, M), integer
        Labels; M at least 1. The blank symbol among them is a label as any other.
    blank_symbol : int
        The symbol that represents no label.
    input_length : Variable or array, shape (B,), integer, optional
        Number of steps of each sequence, by default T.
    label_length : Variable or array, shape (B,), integer, optional
        Number of labels of each sequence, by default M.
    reduce : {"mean", "no"}

    Returns
    -------
    Variable, shape () or (B,)
        Large, about half of the largest number of the dtype, if the sequence has too few steps for the labels.

    Raises
    ------
    TypeError
        `x` is not a list or tuple.

    References
    ----------
    Graves, Fernández, Gomez, Schmidhuber: Connectionist temporal classification, 2006.
    """
    name = "connectionist_temporal_classification"
    spec, labels = _checked(name, x, t, blank_symbol, reduce)
    xp, (batch, count) = spec.backend.namespace, labels.shape
    steps = _lengths(name, "input_length", input_length, labels)
    ends = _lengths(name, "label_length", label_length, labels)
    t = as_variable(t)
    blanks = array_api.full_like(t, blank_symbol)
    pairs = reshape(array_api.stack([blanks, t], axis=2), shape=(batch, 2 * count))
    path = array_api.concat([pairs, blanks[:, :1]], axis=1)
    impossible = float(xp.finfo(spec.dtype).min) / 4  # minus infinity would make NaN in gradients
    odd = array_api.remainder(xp.arange(2 * count - 1, device=spec.device), 2) == 1  # a label, not a blank between them
    may_skip = (path[:, 2:] != path[:, :-2]) & odd
    now = None
    for k, logits in enumerate(x):
        scores = array_api.take_along_axis(log_softmax(logits), path.array, axis=1)
        if now is None:
            now = array_api.concat([scores[:, :2], array_api.full_like(scores[:, 2:], impossible)], axis=1)
            continue
        step = array_api.full_like(now[:, :1], impossible)
        skip = array_api.concat([step, step, where(may_skip, now[:, :-2], impossible)], axis=1)
        paths = array_api.stack([now, array_api.concat([step, now[:, :-1]], axis=1), skip], axis=0)
        after = array_api.maximum(logsumexp(paths, axis=0), impossible) + scores
        now = after if steps is None else where(reshape(steps, shape=(-1, 1)) > k, after, now)
    assert now is not None
    if ends is None:
        last = now[:, -2:]
    else:
        final = reshape(2 * as_variable(ends), shape=(-1, 1))
        last = array_api.take_along_axis(now, array_api.concat([abs(final - 1), final], axis=1).array, axis=1)
        empty = final == 0  # a single path of blanks
        last = where(array_api.concat([empty, empty & False], axis=1), impossible, last)
    losses = -logsumexp(last, axis=1)
    return losses if reduce == "no" else sum_by_count(losses, batch or 1)


def _checked(name: str, x: Any, t: Any, blank_symbol: int, reduce: str) -> tuple[Spec, Spec]:
    """Return the specs of a step's logits and of the labels, if everything fits."""
    if not isinstance(x, (list, tuple)):
        raise TypeError(f"{name}: x must be a list or tuple of arrays, one for each step; got {type(x).__name__}")
    require_option(name, "reduce", reduce, ("mean", "no"))
    specs = [real_floating(logits, name, f"x[{k}]") for k, logits in enumerate(x)]
    labels = integral(t, name)
    if not specs or any((spec.ndim, spec.shape, spec.dtype) != (2, specs[0].shape, specs[0].dtype) for spec in specs):
        raise invalid(name, "x of at least one array, all of one shape (B, C) and dtype", f"x is {specs!r}")
    if labels.ndim != 2 or labels.shape[0] != specs[0].shape[0] or not labels.shape[1]:
        raise invalid(name, "t of shape (B, M) with M > 0", f"x[0] is {specs[0]!r}, t is {labels!r}")
    if not 0 <= blank_symbol < specs[0].shape[1]:
        raise ValueError(f"{name}: blank_symbol must be from 0 to {specs[0].shape[1] - 1}, got {blank_symbol}")
    return specs[0], labels


def _lengths(name: str, argument: str, lengths: Any, labels: Spec) -> Any:
    if lengths is not None and integral(lengths, name, argument).shape != labels.shape[:1]:
        raise invalid(name, f"{argument} of shape {labels.shape[:1]}", f"{argument} is of shape {tuple(lengths.shape)}")
    return lengths
