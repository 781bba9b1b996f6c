"""Attention for a few heads at a time, whose weights stay in the cache, in memory that the next heads use again."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from xpgrad.types import Array, Kernel
from xpgrad_numpy.kernels.neural import softmax_into

CACHED = 2**19  # bytes of the weights of a few heads

Part = Any
_add: Kernel = np.add.reduce


class Weights:
    """The weights of a few heads at a time.

    Arrays that are not in C order are computed as a whole, because `matmul` of NumPy 2.0 rounds their products
    differently from products of copies.
    """

    def __init__(self, q: Array, k: Array, mask: Array | None, scale: float, *others: Array) -> None:
        self.whole = q.ndim < 3 or not all(x.flags.c_contiguous for x in (q, k, *others))
        self.product: Any = np.dot if q.ndim == 2 else np.matmul  # as `matmul` does, whose results may differ in a bit
        self.shape = (q.shape[-2], k.shape[-2])
        self.q, self.k, self.scale = self.heads(q), self.heads(k), scale
        self.forbidden = None
        if mask is not None:
            self.forbidden = (
                self.heads(np.broadcast_to(~mask, (*q.shape[:-2], *mask.shape[-2:]))) if mask.ndim > 2 else ~mask
            )
        self.lowest = float(np.finfo(q.dtype).min) / 2

    def heads(self, x: Array) -> Array:
        """Return an array with one axis of heads before the last two, where heads are taken in parts."""
        return x if self.whole else x.reshape((math.prod(x.shape[:-2]), *x.shape[-2:]))

    def parts(self) -> Iterator[Part]:
        """Yield indexes of heads."""
        if self.whole:
            yield ...
            return
        heads, each = len(self.q), math.prod(self.shape) * self.q.itemsize
        step = max(1, CACHED // max(each, 1))
        for start in range(0, heads, step):
            yield slice(start, start + step)

    def memory(self) -> Array:
        """Return memory for the weights of one part."""
        first = next(self.parts(), slice(0))
        return np.empty((*self.q[first].shape[:-2], *self.shape), self.q.dtype)

    def computed(self, part: Part, p: Array) -> Array:
        """Return the weights of a part, which are written to `p`."""
        self.product(self.q[part] * self.scale, self.k[part].mT, out=p)
        if self.forbidden is None:
            return softmax_into(p, -1, p)
        forbidden = self.forbidden if self.forbidden.ndim == 2 else self.forbidden[part]
        np.copyto(p, self.lowest, where=forbidden)
        softmax_into(p, -1, p)
        np.copyto(p, 0, where=forbidden)
        return p

    def fitted(self, memory: Array, part: Part) -> Array:
        """Return as much of the memory as a part needs."""
        return memory if self.whole else memory[: len(self.q[part])]


def attention(
    q: Array, k: Array, v: Array, mask: Array | None, /, scale: float, keep: bool
) -> tuple[Array, Array | None]:
    """Return weighted values, without an array of all weights unless they are to be kept."""
    weights = Weights(q, k, mask, scale, v)
    y, values = np.empty((*q.shape[:-1], v.shape[-1]), q.dtype), weights.heads(v)
    kept = np.empty((*q.shape[:-1], k.shape[-2]), q.dtype) if keep else None
    every = None if kept is None else weights.heads(kept)
    memory: Array = weights.memory() if kept is None else None
    outputs = weights.heads(y)
    for part in weights.parts():
        p = weights.computed(part, every[part] if every is not None else weights.fitted(memory, part))
        weights.product(p, values[part], out=outputs[part])
    return y, kept


def attention_backward(
    gy: Array, q: Array, k: Array, v: Array, y: Array, /, mask: Array | None, weights: Array | None, scale: float,
    needed: tuple[bool, bool, bool],
) -> list[Array | None]:  # fmt: skip
    """Return the gradients for queries, keys and values, without an array of all weights or of their gradients."""
    own = Weights(q, k, mask, scale, v, gy, y)
    gxs = [np.empty(x.shape, x.dtype) if need else None for x, need in zip((q, k, v), needed, strict=True)]
    gq, gk, gv = [None if gx is None else own.heads(gx) for gx in gxs]
    g, values, outputs, product = own.heads(gy), own.heads(v), own.heads(y), own.product
    every = None if weights is None else own.heads(weights)
    other = own.memory()
    memory = np.empty_like(other) if every is None else other
    for part in own.parts():
        given = g[part]
        p = own.computed(part, own.fitted(memory, part)) if every is None else every[part]
        if gv is not None:
            product(p.mT, given, out=gv[part])
        if gq is None and gk is None:
            continue
        gz = product(given, values[part].mT, out=own.fitted(other, part))
        gz -= _add(given * outputs[part], -1, None, None, True)
        gz *= p
        if gq is not None:
            product(gz, own.k[part], out=gq[part])
            gq[part] *= scale
        if gk is not None:
            product(gz.mT, own.q[part] * scale, out=gk[part])
    return gxs


ATTENTION: dict[str, Kernel] = {"attention": attention, "attention_backward": attention_backward}
