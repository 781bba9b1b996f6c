"""PyTorch's losses, with its names of arguments, for Variables."""

import math
from typing import Any

from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.errors import ShapeError
from xpgrad_torch.functions.elementwise import clamp
from xpgrad_torch.functions.table import NoRule, expect_same, integers, torch_function, variable


def _reduced(losses: Any, reduction: str, size_average: Any = None, reduce: Any = None, count: Any = None) -> Any:
    """Return losses, their sum, or their mean: the sum divided by `count`; the older arguments take precedence."""
    if size_average is not None or reduce is not None:
        whole = [each is None or bool(each) for each in (reduce, size_average)]  # both are True by default
        reduction = "none" if not whole[0] else "mean" if whole[1] else "sum"
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"torch.nn.functional: expected reduction 'mean', 'sum' or 'none', got {reduction!r}")
    if reduction != "mean":
        return losses if reduction == "none" else xp.sum(losses)
    return xp.mean(losses) if count is None else xp.sum(losses) / count


def _of_differences(name: str, loss: Any) -> None:
    @torch_function(name)
    def function(
        input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
        weight: Any = None, **options: Any,
    ) -> Any:  # fmt: skip
        losses = loss(variable(input) - variable(target), **options)
        return _reduced(losses if weight is None else losses * variable(weight), reduction, size_average, reduce)


def _huber(d: Any, delta: float = 1.0) -> Any:
    if delta <= 0:
        raise ValueError(f"torch.nn.functional: expected a positive delta or beta, got {delta}")
    size = xp.abs(d)
    return xp.where(size < delta, 0.5 * d * d, delta * (size - 0.5 * delta))


def _smooth(d: Any, beta: float = 1.0) -> Any:
    return xp.abs(d) if beta == 0 else _huber(d, beta) / beta


_of_differences("mse_loss", lambda d: d * d)
_of_differences("l1_loss", xp.abs)
_of_differences("huber_loss", _huber)
_of_differences("smooth_l1_loss", _smooth)


@torch_function("binary_cross_entropy")
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """Return the cross entropy of probabilities, whose logarithms are at least -100, as in PyTorch."""
    p, q = variable(input), variable(target)
    expect_same("nn.functional.binary_cross_entropy", "shape", input=p, target=q)
    losses = -(q * clamp(xp.log(p), -100) + (1 - q) * clamp(xp.log1p(-p), -100))
    return _reduced(losses if weight is None else losses * variable(weight), reduction, size_average, reduce)


@torch_function("binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:  # fmt: skip
    """Return the cross entropy of the logistic function of `input`."""
    x, q = variable(input), variable(target)
    expect_same("nn.functional.binary_cross_entropy_with_logits", "shape", input=x, target=q)
    expect_same("nn.functional.binary_cross_entropy_with_logits", "dtype", input=x, target=q)
    gain = 1 if pos_weight is None else 1 + (variable(pos_weight) - 1) * q
    losses = (1 - q) * x + gain * F.softplus(-x)
    return _reduced(losses if weight is None else losses * variable(weight), reduction, size_average, reduce)


@torch_function("nll_loss")
def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return minus the log-probabilities of integer labels along the second axis, weighted."""
    x, labels = variable(input), integers(target, "nn.functional.nll_loss")
    axis = 0 if x.ndim == 1 else 1
    if not x.ndim or labels.shape != x.shape[:axis] + x.shape[axis + 1 :]:
        raise ShapeError(f"torch.nn.functional.nll_loss: expected labels for input {x.shape}, got {labels.shape}")
    kept = labels != ignore_index
    at = xp.where(kept, xp.where(labels < 0, x.shape[axis], labels), 0)  # no label counts from the end
    chosen = xp.take_along_axis(x, xp.expand_dims(at, axis=axis), axis=axis).squeeze(axis)
    share = kept.astype(x.dtype)
    if weight is not None:
        share = variable(weight).take(at) * share
    losses = -xp.where(kept, chosen, 0.0) * share
    return _reduced(losses, reduction, size_average, reduce, xp.sum(share))


@torch_function("cross_entropy")
def cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100,
    reduce: Any = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """Return the cross entropy of the softmax along the second axis, with labels or probabilities."""
    x, q = variable(input), variable(target)
    axis = 0 if x.ndim == 1 else 1
    log = F.log_softmax(x, axis=axis)
    if not q.dtype.is_floating_point:
        if label_smoothing:
            raise NoRule
        return nll_loss(log, q, weight, size_average, ignore_index, reduce, reduction)
    if ignore_index >= 0:
        raise TypeError("torch.nn.functional.cross_entropy: ignore_index= is for labels, got probabilities as target")
    expect_same("nn.functional.cross_entropy", "shape", input=x, target=q)
    count = x.shape[axis]
    q = q * (1 - label_smoothing) + label_smoothing / count if label_smoothing else q
    if weight is not None:
        q = q * variable(weight).reshape((count,) + (1,) * (x.ndim - axis - 1))
    losses = -xp.sum(q * log, axis=axis)
    return _reduced(losses, reduction, size_average, reduce, losses.size or math.nan)


@torch_function("kl_div")
def kl_div(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    log_target: bool = False,
) -> Any:  # fmt: skip
    """Return the divergence of `target` from the distribution whose logarithm is `input`."""
    x, q = variable(input), variable(target)
    losses = xp.exp(q) * (q - x) if log_target else xp.special.xlogy(q, q) - q * x
    if reduction == "batchmean":
        return xp.sum(losses) / x.shape[0]
    return _reduced(losses, reduction, size_average, reduce)


def _pair_loss(name: str, loss: Any) -> None:
    @torch_function(name)
    def function(
        input1: Any, input2: Any, target: Any, margin: float = 0.0, size_average: Any = None, reduce: Any = None,
        reduction: str = "mean",
    ) -> Any:  # fmt: skip
        return _reduced(
            loss(variable(input1), variable(input2), variable(target), margin), reduction, size_average, reduce
        )


_pair_loss("margin_ranking_loss", lambda x, y, q, margin: F.relu(margin - q * (x - y)))


@torch_function("poisson_nll_loss")
def poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: Any = None, eps: float = 1e-8,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Return minus the log-probabilities of Poisson distributions, with Stirling's approximation if `full`."""
    x, q = variable(input), variable(target)
    losses = xp.exp(x) - q * x if log_input else x - q * xp.log(x + eps)
    if full:
        safe = xp.where(q > 1, q, 2)
        losses = losses + xp.where(q > 1, safe * xp.log(safe) - safe + 0.5 * xp.log(2 * math.pi * safe), 0.0)
    return _reduced(losses, reduction, size_average, reduce)


@torch_function("soft_margin_loss")
def soft_margin_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """Return the logistic loss of labels 1 and -1."""
    return _reduced(F.softplus(-variable(target) * variable(input)), reduction, size_average, reduce)
