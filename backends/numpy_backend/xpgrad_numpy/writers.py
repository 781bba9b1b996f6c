"""Kernels that write their result into given memory, with the bits that they return."""

from typing import Any

import numpy as np

from xpgrad.types import Array, Dtype, Kernel
from xpgrad_numpy.aligned import aligned
from xpgrad_numpy.kernels import elementwise, neural, normalization
from xpgrad_numpy.kernels.neural import ONES, ZEROS
from xpgrad_numpy.kernels.precision import is_half
from xpgrad_numpy.namespace import NAMESPACE

# Elementwise functions: the memory may belong to an argument.


def _apart(out: Array, *others: Array) -> Array:
    """Return `out`, or new memory if it is shared with other arrays."""
    return aligned(out.shape, out.dtype) if any(np.may_share_memory(out, other) for other in others) else out


def _stored(result: Array, out: Array) -> Array:
    np.copyto(out, result)
    return out


def relu(x: Array, /, *, out: Array) -> Array:
    """Write ``max(x, 0)``."""
    return np.maximum(x, ZEROS.get(x.dtype, 0), out=out)


def gate(x1: Array, x2: Array, /, *, out: Array) -> Array:
    """Write ``x1 * (x2 > 0)``."""
    if x1.dtype != out.dtype:
        return _stored(neural.gate(x1, x2), out)
    to = _apart(out, x1)
    np.copyto(to, np.greater(x2, ZEROS.get(x2.dtype, 0)))
    return np.multiply(to, x1, out=out)


def expit(x: Array, /, *, out: Array) -> Array:
    """Write ``1 / (1 + exp(-x))``."""
    if is_half(x.dtype):
        return _stored(neural.expit(x), out)
    np.negative(x, out=out)
    with np.errstate(over="ignore"):
        np.exp(out, out=out)
    one = ONES.get(x.dtype, 1)
    np.add(out, one, out=out)
    return np.divide(one, out, out=out)


def expit_x(gy: Array, x: Array, y: Array, /, *, out: Array) -> Array:
    """Write ``gy * y * (1 - y)``."""
    if is_half(y.dtype) or not normalization.alike(out, gy, x, y):
        return _stored(neural.expit_x(gy, x, y), out)
    return neural.expit_x(gy, x, y, out, _apart(out, gy, x, y))


def tanh_x(gy: Array, x: Array, t: Array, /, *, out: Array) -> Array:
    """Write ``gy * tanh_slope(x, t)``."""
    if not normalization.alike(out, gy, x, t):
        return _stored(elementwise.tanh_x(gy, x, t), out)
    return elementwise.tanh_x(gy, x, t, out, _apart(out, gy, x, t))


WRITERS: dict[Kernel, Kernel] = {
    neural.relu: relu,
    neural.gate: gate,
    neural.expit: expit,
    neural.expit_x: expit_x,
    elementwise.tanh_x: tanh_x,
}

# Other functions: the memory belongs to no argument.


def where(condition: Array, x1: Any, x2: Any, /, *, out: Array) -> Array:
    """Write `x1` where `condition` is true, else `x2`."""
    if elementwise.where_by_bits(condition, x1, x2, out) is None:
        np.copyto(out, x2)
        np.copyto(out, x1, where=condition)
    return out


def astype(x: Array, dtype: Dtype, /, *, out: Array, copy: bool = True, device: Any = None) -> Array:
    """Write `x` in another dtype."""
    np.copyto(out, x, casting="unsafe")
    return out


def softmax(x: Array, /, axis: Any, *, out: Array) -> Array:
    """Write exponentials normalised along `axis`."""
    if is_half(x.dtype):
        return _stored(neural.softmax(x, axis), out)
    return neural.softmax_into(x, axis, out)


def softmax_backward(g: Array, p: Array, /, axis: Any, *, out: Array) -> Array:
    """Write ``p * (g - sum(g * p))``."""
    if is_half(p.dtype) or not normalization.alike(out, g, p):
        return _stored(neural.softmax_backward(g, p, axis), out)
    return neural.softmax_backward_into(g, p, axis, out)


def normalized(
    x: Array, gamma: Array, beta: Array, mean: Array, inverse: Array, /, axis: Any, eps: float, *, out: Array
) -> Array:
    """Write ``(x - mean) * inverse * gamma + beta``."""
    if not normalization.alike(x, gamma, beta, mean, inverse):
        return _stored(normalization.normalized(x, gamma, beta, mean, inverse, axis, eps), out)
    np.subtract(x, mean, out=out)
    np.multiply(out, inverse, out=out)
    np.multiply(out, gamma, out=out)
    return np.add(out, beta, out=out)


def normalized_x(
    gy: Array, x: Array, gamma: Array, mean: Array, inverse: Array, axis: Any, eps: float, /, *, out: Array
) -> Array:
    """Write the gradient of `normalized` for `x`."""
    direction = np.subtract(x, mean, out=aligned(out.shape, out.dtype))
    np.multiply(direction, inverse, out=direction)
    g = np.multiply(gy, gamma, out=aligned(out.shape, out.dtype))
    normalization.project(g, direction, inverse, axis, out)
    return out


INTO: dict[Kernel, Kernel] = {
    **WRITERS,
    NAMESPACE.where: where,
    elementwise.where: where,
    NAMESPACE.astype: astype,
    neural.softmax: softmax,
    neural.softmax_backward: softmax_backward,
    normalization.normalized: normalized,
    normalization.normalized_x: normalized_x,
}
