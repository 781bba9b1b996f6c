"""Losses over a large vocabulary, which compare the label of an example with a few random labels."""

from collections.abc import Callable
from typing import Any, Literal, overload

from xpgrad import array_api
from xpgrad.array_api import expand_dims, where
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.statistical import sum_by_count
from xpgrad.backend.checks import require_together
from xpgrad.backend.spec import Spec
from xpgrad.functions.activation import softplus
from xpgrad.functions.checks import integral, invalid, real_floating, require_option
from xpgrad.functions.connection import embed_id
from xpgrad.functions.math import logsumexp
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.types import AnyArray, Array, Shape

__all__ = ["black_out", "negative_sampling"]

Sampler = Callable[[Shape], AnyArray]


@in_single_precision
def black_out(x: AnyArray, t: AnyArray, W: AnyArray, samples: AnyArray, reduce: str = "mean") -> Variable:
    """Return the BlackOut loss: cross entropy of the label among the samples, which should not be predicted instead.

    Parameters
    ----------
    x : Variable or array, shape (N, D), real floating-point
    t : Variable or array, shape (N,), integer
        Labels, rows of `W`.
    W : Variable or array, shape (V, D), of the dtype of `x`
        A vector for each word.
    samples : Variable or array, shape (N, S), integer
        Negative samples of each example, rows of `W`.
    reduce : {"mean", "no"}

    Returns
    -------
    Variable, shape () or (N,)

    References
    ----------
    Ji, Vishwanathan, Satish, Anderson, Dubey: BlackOut, 2016.
    """
    require_option("black_out", "reduce", reduce, ("mean", "no"))
    spec = _words("black_out", x, t, W)
    others = integral(samples, "black_out", "samples")
    if others.ndim != 2 or others.shape[0] != spec.shape[0]:
        raise invalid("black_out", f"samples of shape ({spec.shape[0]}, S)", f"samples is {others!r}")
    require_together("black_out", x, samples)
    numbers = array_api.concat([array_api.astype(expand_dims(t, axis=1), others.dtype), as_variable(samples)], axis=1)
    scores = _scores(x, W, numbers)
    log_p = scores - expand_dims(logsumexp(scores, axis=1), axis=1)
    missed = array_api.log(-array_api.expm1(log_p[:, 1:]))
    losses = -(log_p[:, 0] + array_api.sum(missed, axis=1))
    return losses if reduce == "no" else sum_by_count(losses, spec.shape[0] or 1)


@overload
def negative_sampling(
    x: AnyArray, t: AnyArray, W: AnyArray, sampler: Sampler, sample_size: int, reduce: str = "sum", *,
    return_samples: Literal[False] = False,
) -> Variable: ...  # fmt: skip


@overload
def negative_sampling(
    x: AnyArray, t: AnyArray, W: AnyArray, sampler: Sampler, sample_size: int, reduce: str = "sum", *,
    return_samples: Literal[True],
) -> tuple[Variable, Array]: ...  # fmt: skip


@in_single_precision
def negative_sampling(
    x: AnyArray, t: AnyArray, W: AnyArray, sampler: Sampler, sample_size: int, reduce: str = "sum", *,
    return_samples: bool = False,
) -> Any:  # fmt: skip
    """Return the loss of distinguishing the label of each example from random labels, by the sigmoid of inner products.

    Parameters
    ----------
    x : Variable or array, shape (N, D), real floating-point
    t : Variable or array, shape (N,), integer
        Labels, rows of `W`; examples with -1 are ignored.
    W : Variable or array, shape (V, D), of the dtype of `x`
        A vector for each word.
    sampler : callable
        Takes a shape and returns an array of int, words drawn at random; such as `utils.WalkerAlias.sample`. Under
        `compile` only numbers from `xpgrad.random` are drawn again at each call.
    sample_size : int
        Number of negative samples of each example.
    reduce : {"sum", "no"}
    return_samples : bool
        Return also the array of words, shape (N, sample_size + 1), with the labels first.

    Returns
    -------
    Variable, shape () or (N,); or tuple of it and an array
        ``softplus(-x @ w_t)`` plus the sum of ``softplus(x @ w_k)`` over the samples.

    References
    ----------
    Mikolov, Sutskever, Chen, Corrado, Dean: Distributed representations of words and phrases, 2013.
    """
    require_option("negative_sampling", "reduce", reduce, ("sum", "no"))
    spec = _words("negative_sampling", x, t, W)
    drawn = spec.backend.device_for(spec.device).send(as_array(sampler((spec.shape[0], sample_size + 1))))
    found = integral(drawn, "negative_sampling", "what sampler returns")
    if found.shape != (spec.shape[0], sample_size + 1):
        expect = f"an array of shape {(spec.shape[0], sample_size + 1)} from sampler"
        raise invalid("negative_sampling", expect, f"it returns {found!r}")
    numbers = array_api.concat(
        [array_api.astype(expand_dims(t, axis=1), found.dtype), as_variable(drawn)[:, 1:]], axis=1
    )
    ignored = array_api.equal(t, -1)
    column = expand_dims(ignored, axis=1)
    scores = _scores(where(column, 0.0, x), W, where(column, array_api.zeros_like(numbers), numbers))
    losses = softplus(-scores[:, 0]) + array_api.sum(softplus(scores[:, 1:]), axis=1)
    losses = where(ignored, 0.0, losses)
    if reduce == "sum":
        losses = array_api.sum(losses)
    return (losses, numbers.array) if return_samples else losses


def _scores(x: AnyArray, W: AnyArray, numbers: Variable) -> Variable:
    """Return the inner products of each row of `x` with the rows of `W` that `numbers`, shape (N, K), names."""
    return array_api.squeeze(array_api.matmul(embed_id(numbers, W), expand_dims(x, axis=2)), axis=2)


def _words(function: str, x: Any, t: Any, W: Any) -> Spec:
    """Return the spec of `x`, if it fits to labels `t` and word vectors `W`."""
    spec, words, labels = real_floating(x, function), real_floating(W, function, "W"), integral(t, function)
    if spec.ndim != 2 or words.ndim != 2 or words.shape[1] != spec.shape[1] or words.dtype != spec.dtype:
        expect = "x of shape (N, D) and W of shape (V, D), of one dtype"
        raise invalid(function, expect, f"x is {spec!r}, W is {words!r}")
    if labels.shape != spec.shape[:1]:
        raise invalid(function, f"t of shape {spec.shape[:1]}, one label for each row of x", f"t is {labels!r}")
    require_together(function, x, t, W)
    return spec
