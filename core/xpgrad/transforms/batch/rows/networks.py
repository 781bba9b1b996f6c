"""Kernels of neural networks: softmax, losses, normalization, attention."""

from collections.abc import Callable
from typing import Any

from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.table import row


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
