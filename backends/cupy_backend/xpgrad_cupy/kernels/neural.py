"""Kernels of neural networks: one launch instead of three to six."""

import math
from typing import Any

import cupy

from xpgrad.plugin import Spec
from xpgrad.types import Array
from xpgrad_cupy.kernels.loops import loop, total

_sigmoid = loop("sigmoid", "T x", "T y", "T e = exp(x < T(0) ? x : T(-x)); y = (x < T(0) ? e : T(1)) / (T(1) + e)")
_sigmoid_x = loop(
    "sigmoid_x",
    "T gy, T x, T y",
    "T gx",
    "T e = exp(T(-abs(x))); gx = gy * T(y * (y > T(0.995) ? T(e / (T(1) + e)) : T(T(1) - y)))",
)
DOMINANT = 0.9
"""Above this probability the gradient of softmax is computed from differences from its cotangent."""
_sum_of_exp = total("sum_of_exp", "T x, T top", "T s", "exp(x - top)")
_softmax = loop("softmax", "T x, T top, T s", "T y", "y = exp(x - top) / s")
_softmax_backward = loop("softmax_backward", "T gy, T y, T s", "T gx", "gx = y * T(gy - s)")
_log_softmax = loop("log_softmax", "T x, T top, T s", "T y", "y = (x - top) - log(s)")
_log_softmax_backward = loop(
    "log_softmax_backward",
    "T gy, T y, T s, T rest, T others",
    "T gx",
    "T p = exp(y); gx = p > T(0.9) ? T(T(gy * rest) - T(p * others)) : T(gy - T(p * s))",
)

# Labels of any integer dtype. A label that is neither a class nor `ignored` gives NaN.
_one_hot = loop(
    "one_hot",
    "L t, int64 number, int64 ignored",
    "T y",
    "long long k = t; y = T(k == number && k != ignored ? 1 : 0)",
)
_same_weight = loop(
    "same_weight",
    "L t, int64 classes, int64 ignored, T missing",
    "T y",
    "long long k = t; y = k == ignored ? T(0) : k >= 0 && k < classes ? T(1) : missing",
)
_class_weight = loop(
    "class_weight",
    "L t, raw T weight, int64 classes, int64 ignored, T missing",
    "T y",
    "long long k = t; y = k == ignored ? T(0) : k >= 0 && k < classes ? weight[k] : missing",
)
_losses = loop(
    "losses",
    "raw T score, L t, T weight, int64 classes, int64 inner, int64 ignored",
    "T y",
    """
    long long k = t;
    bool known = k >= 0 && k < classes && k != ignored;
    T picked = known ? score[(i / inner * classes + k) * inner + i % inner] : T(0);
    y = -picked * weight;
    """,
)
_cross_entropy_x = loop(
    "cross_entropy_x",
    "T score, L t, int64 number, T weight, T share, T rest, int64 ignored",
    "T gx",
    """
    long long k = t;
    bool chosen = k == number && k != ignored;
    T p = exp(score);
    T slope = chosen && p > T(0.9) ? T(-rest) : T(p - T(chosen ? 1 : 0));
    gx = weight == T(0) ? T(0) : T(slope * T(weight * share));
    """,
)
_counted = total("counted", "L t, int64 ignored", "int64 n", "(long long)t != ignored ? 1 : 0")
_at_least_one = loop("at_least_one", "int64 n", "T y", "y = T(n > 1 ? n : 1)")


def _is_half(x: Array) -> bool:
    return bool(x.dtype.char == "e")


def relu(x: Array, /) -> Array:
    """Return ``max(x, 0)``."""
    return cupy.maximum(x, 0)


def expit(x: Array, /) -> Array:
    """Return ``1 / (1 + exp(-x))`` without overflow."""
    if _is_half(x):
        return expit(x.astype(cupy.float32)).astype(x.dtype)
    return _sigmoid(x)


def expit_x(gy: Array, x: Array, y: Array, /) -> Array:
    """Return ``gy * (y * (1 - y))``; 1 - y is computed as ``expit(-x)`` where it would lose digits."""
    if _is_half(y):
        return expit_x(*(each.astype(cupy.float32) for each in (gy, x, y))).astype(y.dtype)
    return _sigmoid_x(gy, x, y)


def softmax(x: Array, /, axis: Any) -> Array:
    """Return exponentials normalised along `axis`: their maximum, their sum and they themselves, in three launches."""
    if not x.size:
        return x - x.sum(axis=axis, keepdims=True)
    if _is_half(x):
        return softmax(x.astype(cupy.float32), axis).astype(x.dtype)
    top = x.max(axis=axis, keepdims=True)
    return _softmax(x, top, _sum_of_exp(x, top, axis=axis, keepdims=True))


def softmax_backward(g: Array, p: Array, /, axis: Any) -> Array:
    """Return ``p * (g - sum(g * p))``; CuPy computes the sum, as in the formula."""
    if _is_half(p):
        return softmax_backward(g.astype(cupy.float32), p.astype(cupy.float32), axis).astype(p.dtype)
    g = g - _sum_where(p > DOMINANT, g, axis)
    return _softmax_backward(g, p, cupy.sum(g * p, axis=axis, keepdims=True))


def log_softmax(x: Array, /, axis: Any) -> Array:
    """Return the logarithm of `softmax` in three launches."""
    if not x.size:
        return x - x.sum(axis=axis, keepdims=True)
    if _is_half(x):
        return log_softmax(x.astype(cupy.float32), axis).astype(x.dtype)
    top = x.max(axis=axis, keepdims=True)
    return _log_softmax(x, top, _sum_of_exp(x, top, axis=axis, keepdims=True))


def log_softmax_backward(g: Array, score: Array, /, axis: Any) -> Array:
    """Return ``g - exp(score) * sum(g)``; CuPy computes the sum, as in the formula."""
    if _is_half(score):
        return log_softmax_backward(g.astype(cupy.float32), score.astype(cupy.float32), axis).astype(score.dtype)
    p = cupy.exp(score)
    rest, others = (_sum_where(p <= DOMINANT, each, axis) for each in (p, g))
    return _log_softmax_backward(g, score, cupy.sum(g, axis=axis, keepdims=True), rest, others)


def _sum_where(condition: Array, x: Array, axis: Any) -> Array:
    return cupy.sum(cupy.where(condition, x, x.dtype.type(0)), axis=axis, keepdims=True)


def _column(t: Array) -> Array:
    """Return labels as a column that broadcasts with the logits, whose axis 1 has the classes."""
    return t.reshape((t.shape[0], 1, *t.shape[1:]))


def _numbers(spec: Spec) -> Array:
    return cupy.arange(spec.shape[1], dtype=cupy.int64).reshape((1, spec.shape[1]) + (1,) * (spec.ndim - 2))


def labels_one_hot(t: Array, /, spec: Spec, ignore_label: int) -> Array:
    """Return 1 at each example's class along axis 1."""
    y = cupy.empty(spec.shape, spec.dtype)
    return _one_hot(_column(t), _numbers(spec), ignore_label, y)


def labels_weight(t: Array, weight: Array | None, /, spec: Spec, ignore_label: int) -> Array:
    """Return the weight of each example, NaN for invalid labels."""
    t = _column(t)
    y = cupy.empty(t.shape, spec.dtype)
    if weight is None:
        return _same_weight(t, spec.shape[1], ignore_label, math.nan, y)
    return _class_weight(t, weight, spec.shape[1], ignore_label, math.nan, y)


def labels_count(t: Array, /, spec: Spec, ignore_label: int) -> Array:
    """Return the number of examples that are not ignored, at least 1."""
    return _at_least_one(_counted(t, ignore_label), cupy.empty((), spec.wide))


def cross_entropy(
    x: Array, t: Array, score: Any, weight: Array | None, /, normalize: bool, ignore_label: int, reduce: str
) -> Array:
    """Return the cross entropy: the scores of the labels are gathered, without temporary arrays of the size of `x`."""
    score = log_softmax(x, 1) if score is None else score  # `score` serves as a spec: only shape and dtype are read
    weights = labels_weight(t, weight, spec=score, ignore_label=ignore_label).reshape(t.shape)
    losses = _losses(score, t, weights, score.shape[1], math.prod(score.shape[2:]), ignore_label)
    if reduce == "no":
        return losses
    total = losses.sum(dtype=cupy.float32 if _is_half(losses) else None)
    return (total / _count(t, x, normalize, ignore_label)).astype(x.dtype, copy=False)


def _count(t: Array, x: Array, normalize: bool, ignore_label: int) -> Any:
    """Return the divisor of the sum of the losses of logits `x`; for half precision in single precision."""
    if not normalize:
        return x.shape[0] or 1
    return _at_least_one(_counted(t, ignore_label), cupy.empty((), cupy.float32 if _is_half(x) else x.dtype))


def cross_entropy_x(
    gy: Array, x: Array, t: Array, score: Array | None, weight: Array | None, x_spec: Spec, normalize: bool,
    ignore_label: int, reduce: str, /,
) -> Array:  # fmt: skip
    """Return the gradient of the cross entropy in a few launches."""
    score = log_softmax(x, 1) if score is None else score
    weights = labels_weight(t, weight, spec=x_spec, ignore_label=ignore_label)
    if reduce == "no":
        share = gy.reshape(weights.shape)
    else:
        wide = gy.astype(cupy.float32) if _is_half(gy) else gy
        share = (wide / _count(t, score, normalize, ignore_label)).astype(gy.dtype, copy=False)
    column, numbers, p = _column(t), _numbers(x_spec), cupy.exp(score)
    rest = _sum_where((column != numbers) | (column == ignore_label) | (p <= DOMINANT), p, 1)
    return _cross_entropy_x(score, column, numbers, weights, share, rest, ignore_label)


NEURAL = {
    "relu": relu,
    "special.expit": expit,
    "special.expit.x": expit_x,
    "softmax": softmax,
    "softmax_backward": softmax_backward,
    "log_softmax": log_softmax,
    "log_softmax_backward": log_softmax_backward,
    "labels_count": labels_count,
    "labels_one_hot": labels_one_hot,
    "labels_weight": labels_weight,
    "cross_entropy": cross_entropy,
    "cross_entropy.x": cross_entropy_x,
}
