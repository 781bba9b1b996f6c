"""Kernels of neural networks: fewer passes and temporary arrays than the default bodies, and bit-identical results."""

from typing import Any

import numpy as np

from xpgrad.plugin import Spec
from xpgrad.types import Array, Kernel
from xpgrad_numpy.blocks import FROM, blocks, in_order
from xpgrad_numpy.buffers import on_rows
from xpgrad_numpy.kernels.elementwise import IN_PLACE_FROM
from xpgrad_numpy.kernels.linear import matmul
from xpgrad_numpy.kernels.precision import SINGLE, divided, is_half, wide
from xpgrad_numpy.kernels.rows import FEW_CLASSES, compiled, reshaped, run
from xpgrad_numpy.kernels.statistical import sum

NEARLY_ONE = 0.995  # from this value on, 1 - y loses digits in the gradient of `expit`

DOMINANT = 0.9  # above this probability the gradient of softmax is computed from differences from its cotangent

# NumPy processes a 0-d array in two thirds of the time of a Python number.
ZEROS = {dtype: np.zeros((), dtype) for dtype in map(np.dtype, ("float16", "float32", "float64"))}
ONES = {dtype: np.ones((), dtype) for dtype in ZEROS}


@compiled
def relu(x: Array, /) -> Array:
    """Return ``max(x, 0)``."""
    return np.maximum(x, ZEROS.get(x.dtype, 0))


@compiled
def gate(x1: Array, x2: Array, /) -> Array:
    """Return ``x1 * (x2 > 0)``; for large arrays in the memory of the factors 0 and 1."""
    positive = x2 > ZEROS.get(x2.dtype, 0)
    if x1.size < IN_PLACE_FROM or x1.shape != x2.shape:
        return np.multiply(x1, positive)  # the loop casts while it computes
    y = positive.astype(x1.dtype)
    y *= x1
    return y


@compiled
def expit(x: Array, /) -> Array:
    """Return ``1 / (1 + exp(-x))`` in one new array."""
    if is_half(x.dtype):
        return expit(x.astype(SINGLE)).astype(x.dtype)
    y = np.negative(x) if x.ndim else np.negative(x, out=np.empty_like(x))
    with np.errstate(over="ignore"):  # exp overflows to infinity, whose reciprocal is the right 0
        np.exp(y, out=y)
    one = ONES.get(x.dtype, 1)
    y += one
    return np.divide(one, y, out=y)  # the same as the reciprocal, in vectors


def expit_x(gy: Array, x: Array, y: Array, out: Array | None = None, memory: Array | None = None, /) -> Array:
    """Return ``gy * y * (1 - y)``, in `out` or one new array; 1 - y is ``expit(-x)`` where it would lose digits.

    `out` and `memory` are as in `elementwise.tanh_x`.
    """
    if is_half(y.dtype):
        return expit_x(gy.astype(SINGLE), x.astype(SINGLE), y.astype(SINGLE)).astype(y.dtype)
    slope = np.subtract(ONES.get(y.dtype, 1), y, out=memory)
    if y.size and not y.item(y.argmax()) <= NEARLY_ONE:  # also if it is NaN
        if y.ndim:
            places = np.flatnonzero(y > NEARLY_ONE)
            slope.put(places, expit(np.negative(x.take(places))))
        else:
            slope = expit(np.negative(x))
    slope *= y
    return np.multiply(slope, gy, out=slope if out is None and slope.ndim else out)


def array_for(x: Array, out: Array | None) -> Array | None:
    """Return `out`, or a new array for a 0-d result, because NumPy returns a scalar without `out`."""
    return out if out is not None or x.ndim else np.empty_like(x)


def in_parts(write: Kernel, axis: Any, *arrays: Array) -> Array:
    """Return ``write(*arrays, axis)``, computed by blocks of large arrays, and in float32 of half-precision arrays."""
    x = arrays[-1]
    if is_half(x.dtype):
        return in_parts(write, axis, *(each.astype(SINGLE) for each in arrays)).astype(x.dtype)
    with on_rows(x, axis):
        parts = blocks(x, axis)
        if len(parts) == 1 or not in_order(*arrays):
            return write(*arrays, axis)
        y = np.empty(x.shape, np.result_type(*arrays))
        for part in parts:
            write(*[each[part] for each in arrays], axis, y[part])
        return y


@compiled
def softmax(x: Array, /, axis: Any) -> Array:
    """Return exponentials normalised along `axis`, in one new array."""
    return in_parts(softmax_into, axis, x) if x.size else np.zeros_like(x)


def softmax_into(x: Array, axis: Any, out: Array | None = None) -> Array:
    """Return `softmax`, in a new array or in `out`, which may be `x` itself."""
    if out is not None and (found := run("softmax", (x,), axis, out)) is not NotImplemented:
        return found
    y = np.subtract(x, np.maximum.reduce(x, axis, keepdims=True), out=array_for(x, out))
    np.exp(y, out=y)
    y /= np.add.reduce(y, axis, keepdims=True)
    return y


@compiled
def softmax_backward(g: Array, p: Array, /, axis: Any) -> Array:
    """Return ``p * (g - sum(g * p))`` in one new array."""
    return in_parts(softmax_backward_into, axis, g, p)


def softmax_backward_into(g: Array, p: Array, axis: Any, out: Array | None = None) -> Array:
    """Return `softmax_backward`, in a new array or in `out`."""
    # The index of a maximum takes a tenth of the time of the maximum; the first NaN counts as maximum.
    if p.size and not p.item(p.argmax()) <= DOMINANT:
        g = g - np.add.reduce(np.where(p > DOMINANT, g, ZEROS.get(g.dtype, 0)), axis, keepdims=True)
    gx = np.multiply(g, p, out=array_for(p, out))
    np.subtract(g, np.add.reduce(gx, axis, keepdims=True), out=gx)
    gx *= p
    return gx


def softmax_from_log(x: Array, score: Array | None, /) -> Array:
    """Return the exponentials of the result of `log_softmax`, which is computed if it is not given."""
    return np.exp(log_softmax(x, 1) if score is None else score)


def softmax_from_log_x(gy: Array, y: Array, /) -> Array:
    """Return the gradient of a softmax along axis 1."""
    return softmax_backward(gy, y, 1)


@compiled
def log_softmax(x: Array, /, axis: Any) -> Array:
    """Return the logarithm of `softmax`; a transposed view if there are few classes."""
    if not x.size:
        np.add.reduce(x, axis)  # raises for a wrong axis
        return np.zeros_like(x)
    if x.ndim == 2 and x.shape[1] <= FEW_CLASSES and axis in (1, -1):
        y = np.array(x.T, order="C", copy=True)
        y -= np.maximum.reduce(y, 0)
        y -= np.log(np.add.reduce(np.exp(y), 0))
        return y.T
    return in_parts(_log_softmax, axis, x)


def _log_softmax(x: Array, axis: Any, out: Array | None = None) -> Array:
    y = np.subtract(x, np.maximum.reduce(x, axis, keepdims=True), out=array_for(x, out))
    y -= np.log(np.add.reduce(np.exp(y), axis, keepdims=True))
    return y


@compiled
def log_softmax_backward(g: Array, score: Array, /, axis: Any) -> Array:
    """Return ``g - exp(score) * sum(g)`` in one new array."""
    return in_parts(_log_softmax_backward, axis, g, score)


def _log_softmax_backward(g: Array, score: Array, axis: Any, out: Array | None = None) -> Array:
    p = np.exp(score, out=array_for(score, out))
    dominant, special, zero = None, None, ZEROS.get(score.dtype, 0)
    if p.size and not p.item(p.argmax()) <= DOMINANT:
        dominant = p > DOMINANT
        rest, others = (np.add.reduce(np.where(dominant, zero, each), axis, keepdims=True) for each in (p, g))
        special = g * rest - p * others
    p *= np.add.reduce(g, axis, keepdims=True)
    gx = np.subtract(g, p, out=p)
    if dominant is not None and special is not None:
        np.copyto(gx, special, where=dominant)
    return gx


def logsumexp(x: Array, /, axis: Any, keepdims: Any) -> Array:
    """Return the logarithm of the sum of exponentials, with one new array of the size of `x`."""
    if is_half(x.dtype):
        return logsumexp(x.astype(SINGLE), axis, keepdims).astype(x.dtype)
    if not x.size:
        return np.add.reduce(x, axis, keepdims=keepdims) - np.inf
    found = run("logsumexp", (x,), axis)
    if found is not NotImplemented:
        return found if keepdims else reshaped(found, x.shape[: x.ndim - np.size(axis)])
    top = np.maximum.reduce(x, axis, keepdims=True)
    if not np.isfinite(top).all():
        top = np.where(np.isfinite(top), top, ZEROS.get(x.dtype, 0))
    e = np.subtract(x, top, out=np.empty_like(x))
    y = np.log(np.add.reduce(np.exp(e, out=e), axis, keepdims=keepdims))
    return y + np.reshape(top, y.shape)


def logsumexp_x(gy: Array, x: Array, y: Array, x_spec: Spec, axis: Any, keepdims: bool, /) -> Array:
    """Return ``gy * softmax(x)`` in one new array; 0 where all elements are -inf."""
    if is_half(y.dtype):
        gy, x, wide = gy.astype(SINGLE), x.astype(SINGLE), y.astype(SINGLE)
        return logsumexp_x(gy, x, wide, x_spec, axis, keepdims).astype(y.dtype)
    if not keepdims and axis is not None and x.ndim:
        axes = axis if isinstance(axis, int) else tuple(axis)
        gy, y = np.expand_dims(gy, axes), np.expand_dims(y, axes)
    empty = y == -np.inf
    if empty.any():
        zero = ZEROS.get(y.dtype, 0)
        gy, x = np.where(empty, zero, gy), np.where(empty, zero, x)
    gx = softmax(x, axis)
    gx *= gy
    return gx


def affine(x: Array, W: Array, b: Array | None, /) -> Array:
    """Return ``x @ W.T + b``, `b` added in place."""
    if b is not None and x.itemsize < 4 and is_half(x.dtype):
        return affine(x.astype(SINGLE), W.astype(SINGLE), b.astype(SINGLE)).astype(x.dtype)
    y = matmul(x, W.T)
    if b is not None:
        y += b
    return y


def affine_x(gy: Array, W: Array, /) -> Array:
    """Return ``gy @ W``."""
    return matmul(gy, W)


def affine_b(gy: Array, /) -> Array:
    """Return the sum over the examples."""
    return sum(gy, 0)


def _labels(t: Array, classes: int, ignore_label: int) -> tuple[Array, Array | None]:
    """Return the labels and, if some are ignored, a mask of all other labels; raise an error for invalid labels."""
    if ignore_label < 0 and not (t.size and t.item(t.argmin()) < 0):
        return t, None  # labels that are too large raise an error when they are used
    counted = t != ignore_label
    wrong = counted & ((t < 0) | (t >= classes))
    if wrong.any():
        label = t[wrong].flat[0]
        raise IndexError(f"label {label} is neither a class, 0 to {classes - 1}, nor ignore_label {ignore_label}")
    return np.where(counted, t, 0), counted


def _places(score: Array, t: Array) -> tuple[Array, ...]:
    """Return the index of each example's class in an array of the shape of `score`."""
    if score.ndim == 2:
        return np.arange(score.shape[0]), t
    first, *rest = np.ogrid[tuple(map(slice, t.shape))]
    return first, t, *rest


def cross_entropy(
    x: Array, t: Array, score: Array, weight: Array | None, /, normalize: bool, ignore_label: int, reduce: str
) -> Array:
    """Return the cross entropy: the scores of the labels are gathered, without temporary arrays of the size of `x`."""
    score = log_softmax(x, 1) if score is None else score
    t, counted = _labels(t, score.shape[1], ignore_label)
    losses = score[_places(score, t)]
    if weight is not None:
        losses *= weight[t]
    if counted is not None:
        losses[~counted] = 0
    if reduce == "no":
        return np.negative(losses, out=losses)
    total = -np.add.reduce(losses, axis=None, dtype=wide(losses.dtype)) / _count(score, t, counted, normalize)
    return np.asarray(total, losses.dtype)


def labels_one_hot(t: Array, /, spec: Spec, ignore_label: int) -> Array:
    """Return 1 at each example's class, written into zeros."""
    t, counted = _labels(t, spec.shape[1], ignore_label)
    chosen = np.zeros(spec.shape, spec.dtype)
    chosen[_places(chosen, t)] = 1 if counted is None else counted
    return chosen


def labels_weight(t: Array, weight: Array | None, /, spec: Spec, ignore_label: int) -> Array:
    """Return the weight of each example, with axis 1 of length 1."""
    t, counted = _labels(t, spec.shape[1], ignore_label)
    weights = np.ones(t.shape, spec.dtype) if weight is None else weight[t]
    if counted is not None:
        weights[~counted] = 0
    return np.expand_dims(weights, 1)


def labels_count(t: Array, /, spec: Spec, ignore_label: int) -> Array:
    """Return the number of examples that are not ignored, at least 1, shape ()."""
    return np.asarray(np.count_nonzero(t != ignore_label) or 1, wide(spec.dtype))


def masked_product(x: Array, weights: Array, share: Array, /) -> Array:
    """Return ``x * (weights * share)``, and 0 where a weight is 0."""
    y = x * (weights * share)
    zero = weights == 0
    return np.where(zero, y.dtype.type(0), y) if zero.any() else y


def _count(score: Array, t: Array, counted: Array | None, normalize: bool) -> int:
    if not normalize:
        return score.shape[0] or 1
    return (t.size if counted is None else int(np.count_nonzero(counted))) or 1


def cross_entropy_x(
    gy: Array, x: Array, t: Array, score: Array, weight: Array | None, x_spec: Any, normalize: bool,
    ignore_label: int, reduce: str, /,
) -> Array:  # fmt: skip
    """Return the gradient of the cross entropy: the exponentials of the kept scores, modified in place."""
    score = log_softmax(x, 1) if score is None else score
    t, counted = _labels(t, score.shape[1], ignore_label)
    share = np.expand_dims(gy, 1) if reduce == "no" else divided(gy, _count(score, t, counted, normalize))
    if weight is not None:
        share = np.expand_dims(weight[t], 1) * share
    if score.nbytes < FROM or score.ndim != 2:
        gx = _less_one(score, t, share)
    else:
        gx = np.empty_like(score, subok=False)
        for part in blocks(score, 1):
            _less_one(score[part], t[part], share[part] if share.ndim else share, gx[part])
    if counted is not None:
        np.moveaxis(gx, 1, -1)[~counted] = 0
    return gx


def _less_one(score: Array, t: Array, share: Array, out: Array | None = None) -> Array:
    """Return the probabilities times `share`, after subtracting 1 from the probability of each label."""
    gx = np.exp(score, out=out)
    places = _places(score, t)
    chosen = gx[places]
    slopes = np.subtract(chosen, ONES.get(gx.dtype, 1))
    if chosen.size and not chosen.item(chosen.argmax()) <= DOMINANT:
        gx[places] = ZEROS.get(gx.dtype, 0)
        rest = np.add.reduce(np.ascontiguousarray(gx), 1)  # in the formula's order
        np.negative(rest, slopes, where=chosen > DOMINANT)  # where 1 - p is the sum of the other probabilities
    gx[places] = slopes
    gx *= share
    return gx


NEURAL: dict[str, Kernel] = {
    "relu": relu,
    "gate": gate,
    "special.expit": expit,
    "special.expit.x": expit_x,
    "softmax": softmax,
    "softmax_backward": softmax_backward,
    "log_softmax": log_softmax,
    "log_softmax_backward": log_softmax_backward,
    "logsumexp": logsumexp,
    "logsumexp.x": logsumexp_x,
    "affine": affine,
    "affine.x": affine_x,
    "affine.b": affine_b,
    "softmax_from_log": softmax_from_log,
    "softmax_from_log.x": softmax_from_log_x,
    "labels_one_hot": labels_one_hot,
    "labels_weight": labels_weight,
    "labels_count": labels_count,
    "masked_product": masked_product,
    "cross_entropy": cross_entropy,
    "cross_entropy.x": cross_entropy_x,
}
