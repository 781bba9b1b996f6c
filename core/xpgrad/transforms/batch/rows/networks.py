"""Kernels of neural networks: softmax, losses, normalization, attention, and their gradients."""

from collections.abc import Callable
from typing import Any

from xpgrad.backend.spec import Spec
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.table import gradient_row, row
from xpgrad.types import Array


@row("softmax", "log_softmax", "logsumexp")
def softmax(b: Batching, function: Callable[..., Any], x: Any, /, axis: Any = None, **options: Any) -> Any:
    """Return a function over axes of batch elements, by default over all."""
    along: Any = b.axes(axis, x.ndim)
    return b.made(b.base.restore(function(x.values, axis=along[0] if len(along) == 1 else along, **options)))


@row("softmax_backward", "log_softmax_backward")
def softmax_backward(b: Batching, function: Callable[..., Any], g: Any, y: Any, /, axis: Any) -> Any:
    """Return the gradient of a function over axes of batch elements."""
    along: Any = b.axes(axis, y.ndim)
    return b.restored(function(b.front(g), b.front(y), axis=along[0] if len(along) == 1 else along))


@row("inverse_std", "standardize", "standardize_backward", "normalized", "moments")
def normalization(b: Batching, function: Callable[..., Any], x: Any, /, *others: Any, axis: Any, **options: Any) -> Any:
    """Return a function of `x`, or of its cotangent, and of arrays that broadcast to its shape, over axes of `x`."""
    ndim = x.ndim
    if b.base.carries_tangents:  # with gradients of all batch elements together
        others = tuple(None if other is None else b.made(b.front(other)) for other in others)
    rest = [b.aligned(other, ndim) for other in others]
    return b.restored(function(b.front(x), *rest, axis=b.axes(axis, ndim), **options))


@row("attention")
def attention(b: Batching, function: Callable[..., Any], q: Any, k: Any, v: Any, mask: Any, /, **options: Any) -> Any:
    """Return attention, with the batch as one more axis before the axes of queries and keys.

    If some arrays are shared by all batch elements, the default body is used: its gradients have the same products as
    the recorded sweep, which multiplies by a shared array as by one matrix.
    """
    if not (q.batched and k.batched and v.batched):
        return b.backend.xp.body("attention")(q, k, v, mask, **options)
    allowed = None if mask is None else b.aligned(mask, q.ndim)
    y, weights = function(b.front(q), b.front(k), b.front(v), allowed, **options)
    return b.made(y), None if weights is None else b.made(weights)


@row("attention_backward")
def attention_backward(
    b: Batching, function: Callable[..., Any], /, *arrays: Any, mask: Any, weights: Any, **options: Any
) -> Any:
    """Return the gradients of attention, by the default body if some arrays are shared by all batch elements."""
    if not all(x.batched for x in arrays):
        return b.backend.xp.body("attention_backward")(*arrays, mask=mask, weights=weights, **options)
    allowed = None if mask is None else b.aligned(mask, arrays[1].ndim)
    given = None if weights is None else b.front(weights)
    made = function(*map(b.front, arrays), mask=allowed, weights=given, **options)
    return [None if gx is None else b.made(gx) for gx in made]


@gradient_row("special.expit.x", "tanh.x")
def of_one_shape(b: Batching, function: Callable[..., Any], /, *arrays: Any) -> Any:
    """Return the gradient of an elementwise function, from arrays of one shape; kernels do not broadcast them.

    A slope that is the same for all members is computed once, by the formula.
    """
    gy, *others = arrays
    if gy.batched and not any(x.batched for x in others):
        return NotImplemented
    gx = function(*map(b.front, arrays))
    return gx if gx is NotImplemented else b.made(b.base.restore(gx))


def _examples(b: Batching, x: Any) -> Array | None:
    """Return an array for the examples of all batch elements: from shape (B, N, ...) to (B * N, ...)."""
    if x is None:
        return None
    values = b.front(x)
    return b.shaped(values, (values.shape[0] * values.shape[1], *values.shape[2:]))


def _counts(b: Batching, t: Any, wide: Any, normalize: bool, ignore_label: int) -> Any:
    """Return the number of examples by which losses are divided, one for all elements or one per element."""
    if not normalize:
        return t.shape[0] or 1
    xp = b.xp
    counted = xp.astype(xp.not_equal(t.values, ignore_label), wide)
    count = xp.sum(counted, axis=tuple(range(1 if t.batched else 0, len(t.values.shape))))
    return xp.maximum(b.base.restore(count), 1)


@row("cross_entropy")
def cross_entropy(
    b: Batching, function: Callable[..., Any], x: Any, t: Any, score: Any, weight: Any, /, normalize: bool,
    ignore_label: int, reduce: str,
) -> Any:  # fmt: skip
    """Return the losses of all examples, or their means in each batch element."""
    losses: Any = NotImplemented
    if weight is None or not weight.batched:
        given = None if weight is None else weight.values
        options = {"normalize": normalize, "ignore_label": ignore_label, "reduce": "no"}
        losses = function(_examples(b, x), _examples(b, t), _examples(b, score), given, **options)
    if losses is NotImplemented:
        body: Any = b.backend.xp.body("cross_entropy")
        return body(x, t, None, weight, normalize=normalize, ignore_label=ignore_label, reduce=reduce)
    losses = b.shaped(losses, (b.size, *t.shape))
    if reduce == "no":
        return b.made(losses)
    xp, wide = b.xp, b.base.wide(x.dtype)
    total = xp.sum(losses, axis=tuple(range(1, len(losses.shape))), dtype=wide)
    y = xp.divide(b.base.restore(total), _counts(b, t, wide, normalize, ignore_label))
    return b.made(xp.astype(y, x.dtype, copy=False))


@gradient_row("cross_entropy.x")
def cross_entropy_x(
    b: Batching, function: Callable[..., Any], gy: Any, x: Any, t: Any, score: Any, weight: Any, x_spec: Spec,
    normalize: bool, ignore_label: int, reduce: str, /,
) -> Any:  # fmt: skip
    """Return the gradients of logits."""
    if weight is not None and weight.batched:
        return NotImplemented
    share, xp = gy.values, b.xp
    if reduce == "mean":
        wide = b.base.wide(x.dtype)
        count = _counts(b, t, wide, normalize, ignore_label)
        share = xp.astype(xp.divide(xp.astype(share, wide, copy=False), count), x.dtype, copy=False)
        if len(share.shape):  # one number for each batch element
            share = b.shaped(b.base.restore(share), (b.size, *(1,) * t.ndim))
    share = b.base.restore(xp.broadcast_to(share, shape=(b.size, *t.shape)))
    n = b.size * t.shape[0]
    spec = b.base.spec_for((n, *x.shape[1:]), x.dtype, b.base.handle_of(share))
    given = None if weight is None else weight.values
    share, examples = b.shaped(share, (n, *t.shape[1:])), [_examples(b, each) for each in (x, t, score)]
    gx = function(share, *examples, given, spec, normalize, ignore_label, "no")
    return gx if gx is NotImplemented else b.made(b.shaped(gx, (b.size, *x.shape)))
