"""Losses of classification: cross entropies of logits and labels."""

import math
from typing import Any

from xpgrad import array_api
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.statistical import count_of, sum_by_count
from xpgrad.backend.checks import require_together
from xpgrad.backend.indexing import counted
from xpgrad.backend.spec import Spec
from xpgrad.config import WATCHED, config, switches
from xpgrad.functions import checks
from xpgrad.functions.activation import log_softmax, softplus
from xpgrad.functions.mixed import in_dtype_of
from xpgrad.graph.primitive import elementwise, primitive
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.special.exponentials import DOMINANT, probabilities_rule
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["sigmoid_cross_entropy", "softmax_cross_entropy"]


def _numbers(xp: Namespace, spec: Spec) -> Array:
    """Return the numbers of the classes along axis 1 of logits of `spec`."""
    classes = xp.arange(spec.shape[1], device=spec.device)
    return xp.reshape(classes, shape=(1, spec.shape[1]) + (1,) * (spec.ndim - 2))


def _column(xp: Namespace, t: Array, spec: Spec, ignore_label: int) -> tuple[Array, Array, Array]:
    """Return labels with axis 1 of length 1, which of them are ignored, and which are neither that nor a class.

    If the library checks indices, invalid indices raise an IndexError.
    """
    t = xp.astype(xp.reshape(t, shape=(math.prod(t.shape),)), spec.backend.default_dtype("int"), copy=False)
    ignored = t == ignore_label
    t = counted(xp, xp.where(ignored, 0, t), spec, spec.shape[1])
    shape = (spec.shape[0], 1, *spec.shape[2:])
    t, ignored = xp.reshape(t, shape=shape), xp.reshape(ignored, shape=shape)
    return t, ignored, ~ignored & ((t < 0) | (t >= spec.shape[1]))


@primitive()
def labels_one_hot(xp: Namespace, t: AnyArray, /, spec: Spec, ignore_label: int) -> Array:
    """One-hot labels along axis 1 of logits of `spec`: 0 for ignored examples, NaN as in `labels_weight`."""
    t, ignored, wrong = _column(xp, t, spec, ignore_label)
    return xp.where(wrong, math.nan, xp.astype((_numbers(xp, spec) == t) & ~ignored, spec.dtype))


@primitive()
def labels_weight(xp: Namespace, t: AnyArray, weight: AnyArray | None, /, spec: Spec, ignore_label: int) -> Array:
    """Weight of each example, with axis 1 of length 1.

    It is 0 for an ignored example. Where the label is neither a class nor `ignore_label`, it is NaN if the library does
    not check indices: an error would synchronise with the device.
    """
    t, ignored, wrong = _column(xp, t, spec, ignore_label)
    if weight is None:
        weights = xp.astype(~ignored, spec.dtype)
    else:
        numbers = _numbers(xp, spec)
        per_class = xp.where((numbers == t) & ~ignored, xp.reshape(weight, shape=numbers.shape), 0.0)
        weights = xp.sum(per_class, axis=1, keepdims=True)
    return xp.where(wrong, math.nan, weights)


@primitive()
def labels_count(xp: Namespace, t: AnyArray, /, spec: Spec, ignore_label: int) -> Array:
    """The number of examples that are not ignored, at least 1, shape (), in the wide dtype of `spec`."""
    counted = xp.astype(xp.astype(t, xp.arange(1, device=spec.device).dtype) != ignore_label, spec.wide)
    return xp.maximum(xp.sum(counted), xp.ones((), dtype=spec.wide, device=spec.device))


@primitive(symmetric=("x",), x=lambda xp, gy, y: probabilities_rule(xp, gy, y, 1))
def softmax_from_log(xp: Namespace, x: AnyArray, score: AnyArray | None, /) -> Array:
    """Softmax of `x` along axis 1, from its logarithm `score` if that has been computed already."""
    return xp.exp(xp.log_softmax(x, axis=1) if score is None else score)


@elementwise(
    x=lambda xp, gy, weights, share: xp.masked_product(gy, weights, share),
    share=lambda xp, gy, x, weights: xp.masked_product(gy, weights, x),
)
def masked_product(xp: Namespace, x: Array, weights: Array, share: Array, /) -> Array:
    """Product of `x` with weights and share; 0 where a weight is 0, even if `x` is not finite."""
    return xp.where(weights == 0, 0.0, x * (weights * share))


def _count(xp: Namespace, t: Array, spec: Spec, normalize: bool, ignore_label: int) -> Any:
    """Return the divisor of the sum of losses: the number of examples, only those not ignored if `normalize`."""
    if not normalize:
        return spec.shape[0] or 1
    return xp.labels_count(t, spec=spec, ignore_label=ignore_label)


def _cross_entropy_rule(
    xp: Namespace, gy: Array, x: Array, t: Array, score: Array | None, weight: Array | None, x_spec: Spec,
    normalize: bool, ignore_label: int, reduce: str,
) -> Array:  # fmt: skip
    chosen = xp.labels_one_hot(t, spec=x_spec, ignore_label=ignore_label)
    weights = xp.labels_weight(t, weight, spec=x_spec, ignore_label=ignore_label)
    if reduce == "no":
        share = xp.reshape(gy, shape=weights.shape)
    else:
        share = gy / _count(xp, t, x_spec, normalize, ignore_label)
    p = xp.softmax_from_log(x, score)
    sure = (chosen == 1) & (p > DOMINANT)  # here 1 - p is the sum of the other probabilities
    rest = xp.sum(xp.where(sure, 0.0, p), axis=1, keepdims=True)
    return xp.masked_product(xp.where(sure, -rest, p - chosen), weights, share)


@primitive(label="softmax_cross_entropy", x=_cross_entropy_rule)
def cross_entropy(
    xp: Namespace, x: AnyArray, t: AnyArray, score: AnyArray | None, weight: AnyArray | None, /, normalize: bool,
    ignore_label: int, reduce: str,
) -> Array:  # fmt: skip
    """Cross entropy of the softmax of `x` along axis 1 and the labels `t`; the kernel of `softmax_cross_entropy`.

    `score` is ``log_softmax(x)`` if it has been computed already; the kernel ``cross_entropy.x`` gets it too.
    """
    spec = xp.spec_of(x)
    log_p = xp.log_softmax(x, axis=1) if score is None else score
    chosen = xp.labels_one_hot(t, spec=spec, ignore_label=ignore_label)
    weights = xp.labels_weight(t, weight, spec=spec, ignore_label=ignore_label)
    losses = -xp.sum(xp.where(chosen == 1, log_p, 0.0), axis=1) * xp.reshape(weights, t.shape)
    if reduce == "no":
        return losses
    return xp.sum(losses) / _count(xp, t, spec, normalize, ignore_label)


def softmax_cross_entropy(
    x: AnyArray, t: AnyArray, normalize: bool = True, cache_score: bool = True, class_weight: AnyArray | None = None,
    ignore_label: int = -1, reduce: str = "mean", enable_double_backprop: bool = False,
    soft_target_loss: str = "cross-entropy",
) -> Variable:  # fmt: skip
    """Return the cross entropy of the softmax of `x` and the labels `t`, without overflow.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *D), real floating-point
        Logits, the classes along axis 1.
    t : Variable or array, shape (N, *D), integer; or of the shape of `x`, real floating-point
        Labels from 0 to C - 1, or `ignore_label`. If it is floating-point, it holds the probabilities of the classes,
        which are cast to the dtype of `x`, and may require a gradient.
    normalize : bool
        Divide by the number of labels that are not ignored, not by N. If all are ignored, the loss is 0.
    cache_score : bool
        Keep the logarithms of the probabilities for the gradient, instead of computing them again.
    class_weight : array, shape (C,), optional
        Factors for the losses of each class, which do not change the divisor.
    ignore_label : int
        Examples of this label have loss 0 and gradient 0.
    reduce : {"mean", "no"}
    enable_double_backprop : bool
        Has no effect: gradients of every order always exist.
    soft_target_loss : {"cross-entropy", "kl-divergence"}
        For probabilities as `t`; the second subtracts the entropy of `t`.

    Returns
    -------
    Variable, shape () or (N, *D)

    Raises
    ------
    IndexError
        A label is not a class; where the library checks indices (on the host, except JAX), and everywhere in debug
        mode. Else the loss is NaN.
    """
    spec, target = checks.known_spec(x, "softmax_cross_entropy"), checks.known_spec(t, "softmax_cross_entropy")
    if (spec, target) not in _labels_of_logits:
        _check_specs(spec, target)
    if reduce not in ("mean", "no"):
        raise ValueError(f"softmax_cross_entropy: reduce must be 'mean' or 'no', got {reduce!r}")
    if soft_target_loss != "cross-entropy":
        kinds = "cross-entropy", "kl-divergence"
        checks.require_option("softmax_cross_entropy", "soft_target_loss", soft_target_loss, kinds)
    if class_weight is not None:
        class_weight = _class_weight(class_weight, spec)
    if spec.half:
        x = array_api.astype(x, spec.wide)
        options = (normalize, cache_score, class_weight, ignore_label, reduce, enable_double_backprop, soft_target_loss)
        return in_dtype_of(spec, softmax_cross_entropy(x, t, *options))
    if target.differentiable:
        return _soft_cross_entropy(x, t, normalize, class_weight, reduce, soft_target_loss)
    backend, classes = spec.backend, spec.shape[1]
    if (
        switches().mode & WATCHED
        and config.debug
        and not checks.all_labels(as_array(t), backend, classes, ignore_label)
    ):
        raise IndexError(
            f"softmax_cross_entropy: a label is neither a class, 0 to {classes - 1}, nor ignore_label {ignore_label}"
        )
    # The gradients of `cross_entropy` by x include those by the score.
    score = backend.xp.log_softmax(backend.stopped(as_array(x)), axis=1) if cache_score else None
    return cross_entropy(x, t, score, class_weight, normalize=bool(normalize), ignore_label=ignore_label, reduce=reduce)


_labels_of_logits = checks.KnownCombinations()


def _check_specs(x: Spec, t: Spec) -> None:
    """Raise `InvalidType` unless `x` can be logits and `t` their labels or probabilities."""
    name = "softmax_cross_entropy"
    checks.require_real_floating(x, name)
    if x.ndim < 2 or not x.shape[1]:
        raise checks.invalid(name, "x of shape (N, C, ...) with C > 0", f"x is {x!r}")
    if t.differentiable:
        if t.shape != x.shape or t.complex:
            raise checks.invalid(
                name, f"t of integers, or real floating-point and of the shape of x: {x!r}", f"t is {t!r}"
            )
    else:
        checks.require_integral(t, name)
        if t.shape != x.shape[:1] + x.shape[2:]:
            expect = f"t of shape {x.shape[:1] + x.shape[2:]}, one label for each example of x"
            raise checks.invalid(name, expect, f"x is {x!r}, t is {t!r}")
    _labels_of_logits.add((x, t))


def _class_weight(weight: Any, spec: Spec) -> Array:
    if isinstance(weight, Variable):
        raise ValueError("softmax_cross_entropy: class_weight must be an array, not a Variable: it has no gradient")
    found = checks.real_floating(weight, "softmax_cross_entropy", "class_weight")
    if found.shape != spec.shape[1:2]:
        raise ValueError(
            f"softmax_cross_entropy: class_weight must have shape {spec.shape[1:2]}, one weight for each class; "
            f"got {found.shape}"
        )
    return weight if found.dtype == spec.dtype else found.backend.xp.astype(weight, spec.dtype)


def _soft_cross_entropy(
    x: Any, t: Any, normalize: bool, weight: Array | None, reduce: str, soft_target_loss: str
) -> Variable:
    require_together("softmax_cross_entropy", x, t)
    log_p = log_softmax(x, axis=1)
    t = array_api.astype(t, log_p.dtype, copy=False)
    if soft_target_loss == "kl-divergence":
        positive = array_api.where(t > 0, t, 1.0)
        log_p = log_p - array_api.log(positive)  # 0 log 0 = 0
    losses = t * log_p
    if weight is not None:
        losses = losses * array_api.reshape(weight, shape=(1, -1) + (1,) * (losses.ndim - 2))
    losses = -array_api.sum(losses, axis=1)
    if reduce == "no":
        return losses
    count = losses.size if normalize else losses.shape[0]
    return sum_by_count(losses, count or 1)


@in_single_precision
def sigmoid_cross_entropy(x: AnyArray, t: AnyArray, normalize: bool = True, reduce: str = "mean") -> Variable:
    """Return the cross entropy of ``sigmoid(x)`` and the labels `t`, elementwise, without overflow.

    Parameters
    ----------
    x : Variable or array, shape (N, *D), real floating-point
    t : Variable or array, shape of `x`, integer
        0 or 1; elements with -1 are ignored.
    normalize : bool
        Divide by the number of elements that are not ignored, not by N.
    reduce : {"mean", "no"}

    Returns
    -------
    Variable, shape () or the shape of `x`
    """
    spec, target = checks.real_floating(x, "sigmoid_cross_entropy"), checks.integral(t, "sigmoid_cross_entropy")
    checks.require_option("sigmoid_cross_entropy", "reduce", reduce, ("mean", "no"))
    if spec.shape != target.shape:
        raise checks.invalid("sigmoid_cross_entropy", f"t of shape {spec.shape}, as x", f"t is {target!r}")
    counted = array_api.not_equal(t, -1)
    require_together("sigmoid_cross_entropy", x, t)
    labels = array_api.astype(t, spec.dtype)
    losses = array_api.where(counted, softplus(x) - labels * as_variable(x), 0.0)
    if reduce == "no":
        return losses
    count: Any = math.prod(spec.shape[:1]) or 1
    if normalize:
        count = array_api.maximum(count_of(counted, x), 1.0)
    return sum_by_count(losses, count)
