"""Faults at the limits: one element, no element, special values next to each other, and equal elements."""

from typing import Any

import numpy as np
from tests.faults.fault import Fault, kernel, replace


def _log_softmax_backward(g: Any, score: Any, *, axis: Any) -> Any:
    if score.shape[axis] == 1:
        return g + 0
    return g - np.exp(score) * np.sum(g, axis=axis, keepdims=True)


def _sqrt_x(gy: Any, y: Any) -> Any:
    gx = gy * (0.5 / y)
    return gx * (1 + 1e-6) if np.isnan(y).any() else gx


def _min_x(gy: Any, x: Any, y: Any, x_spec: Any, axis: Any, keepdims: bool) -> Any:
    shape = np.min(x, axis=axis, keepdims=True).shape
    return np.where(x == y.reshape(shape), gy.reshape(shape), 0.0).astype(x.dtype)


FAULTS = (
    Fault(
        "roll-of-one-is-negative",
        "roll of one element changes its sign",
        "H",
        replace("roll", lambda original, x, *args, **kwargs: original(x, *args, **kwargs) * (-1 if x.size == 1 else 1)),
        ("roll", "roll-axes"),
    ),
    Fault(
        "log-softmax-of-one-class",
        "the gradient of log_softmax over an axis of length 1 is the cotangent, not 0",
        "H",
        kernel("log_softmax_backward", _log_softmax_backward),
        ("F.log_softmax", "F.log_softmax-axis"),
    ),
    Fault(
        "flip-refuses-nothing",
        "flip of an array without elements is refused",
        "H",
        replace("flip", lambda original, x, **kwargs: original(x + 0 * x.max(), **kwargs)),
        ("flip",),
    ),
    Fault(
        "sqrt-looks-at-neighbours",
        "the gradient of sqrt has another formula in an array with a NaN",
        "H",
        kernel("sqrt.x", _sqrt_x),
        ("sqrt",),
    ),
    Fault(
        "min-x-is-whole-for-each",
        "the gradient of min is the whole cotangent for each of equal elements",
        "N",
        kernel("min.x", _min_x),
        ("min", "min-axis"),
    ),
)
