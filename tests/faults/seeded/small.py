"""Faults at the limits: one element, no element, special values next to each other, and equal elements."""

from typing import Any

import numpy as np
from tests.faults.fault import giving_kernel, replacing


@giving_kernel("sqrt.x", "the gradient of sqrt has another formula in an array with a NaN", "H", ("sqrt",))
def sqrt_looks_at_neighbours(gy: Any, y: Any) -> Any:
    gx = gy * (0.5 / y)
    return gx * (1 + 1e-6) if np.isnan(y).any() else gx


@giving_kernel("min.x", families="N", cases=("min", "min-axis"))
def min_x_is_whole_for_each(gy: Any, x: Any, y: Any, x_spec: Any, axis: Any, keepdims: bool) -> Any:
    """the gradient of min is the whole cotangent for each of equal elements"""
    shape = np.min(x, axis=axis, keepdims=True).shape
    return np.where(x == y.reshape(shape), gy.reshape(shape), 0.0).astype(x.dtype)


flip_refuses_nothing = replacing("flip", "flip of an array without elements is refused", "H", ("flip",))(
    lambda right, x, **kwargs: right(x + 0 * x.max(), **kwargs)
)
log_softmax_of_one_class = giving_kernel(
    "log_softmax_backward",
    "the gradient of log_softmax over an axis of length 1 is the cotangent, not 0",
    "H",
    cases=("F.log_softmax", "F.log_softmax-axis"),
)(lambda g, score, axis: g + 0 if score.shape[axis] == 1 else g - np.exp(score) * np.sum(g, axis=axis, keepdims=True))
roll_of_one_is_negative = replacing("roll", "roll of one element changes its sign", "H", ("roll", "roll-axes"))(
    lambda right, x, *args, **kwargs: right(x, *args, **kwargs) * (-1 if x.size == 1 else 1)
)
