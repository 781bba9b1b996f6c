"""Functions of exponentials that MLX computes in one pass, in float32; in float64 it loses half the digits."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

from xpgrad.types import Kernel
from xpgrad_mlx.memory import Array


def logsumexp(x: Array, *, axis: Any, keepdims: bool) -> Any:
    """Return the logarithm of the sum of exponentials, or decline."""
    return mx.logsumexp(x, axis, keepdims) if x.dtype == mx.float32 and x.size else NotImplemented


def softmax(x: Array, *, axis: Any) -> Any:
    """Return exponentials divided by their sum, or decline."""
    return mx.softmax(x, axis, precise=True) if x.dtype == mx.float32 and x.size else NotImplemented


def log_softmax(x: Array, *, axis: Any) -> Any:
    """Return the logarithm of `softmax`, or decline."""
    if x.dtype != mx.float32 or not x.size:
        return NotImplemented
    total = mx.logsumexp(x, axis, True)
    return x - mx.where(total == mx.inf, mx.nan, total)  # rows with an infinity become NaN, as in other libraries


def expit(x: Array) -> Any:
    """Return the logistic function, or decline."""
    return mx.sigmoid(x) if x.dtype == mx.float32 else NotImplemented


KERNELS: dict[str, Kernel] = {
    "logsumexp": logsumexp,
    "softmax": softmax,
    "log_softmax": log_softmax,
    "special.expit": expit,
}
