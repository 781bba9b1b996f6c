"""Evaluation: measures of how good predictions are, without gradients."""

import math
from typing import Any

from xpgrad import array_api
from xpgrad.functions.checks import integral, invalid, real_floating, require_option
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["accuracy", "binary_accuracy", "r2_score"]


@primitive(label="accuracy")
def hit_rate(xp: Namespace, y: AnyArray, t: AnyArray, /, ignore_label: int | None) -> Array:
    """Fraction of the labels `t` that are the argmax of `y` along axis 1; the kernel of `accuracy`."""
    best = xp.reshape(xp.argmax(y, axis=1), t.shape)
    labels = xp.astype(t, best.dtype)
    wide = xp.backend.wide(y.dtype)
    hit = xp.astype(best == labels, wide)
    if ignore_label is None:
        return xp.astype(xp.mean(hit), y.dtype, copy=False)
    counted = xp.astype(labels != ignore_label, wide)
    return xp.astype(xp.sum(hit * counted) / xp.clip(xp.sum(counted), 1), y.dtype, copy=False)


def accuracy(y: AnyArray, t: AnyArray, ignore_label: int | None = None) -> Variable:
    """Return the fraction of the labels `t` that are the argmax of `y`.

    Parameters
    ----------
    y : Variable or array, shape (N, C, *D), real floating-point
        Scores of the classes along axis 1.
    t : Variable or array, integer
        One label for each example: of shape (N, *D), with additional axes of length 1 allowed.
    ignore_label : int, optional
        Labels with this value are not counted. If all have it, the accuracy is 0.

    Returns
    -------
    Variable, shape ()
        From 0 to 1, with the dtype of `y`; it has no gradient.

    Raises
    ------
    InvalidType
        Dtypes or shapes are not as above.
    """
    spec, target = real_floating(y, "accuracy", "y"), integral(t, "accuracy")
    if spec.ndim < 2 or not spec.shape[1]:
        raise invalid("accuracy", "y of shape (N, C, ...) with C > 0", f"y is {spec!r}")
    expected = spec.shape[:1] + spec.shape[2:]
    if [n for n in target.shape if n != 1] != [n for n in expected if n != 1] or target.size != math.prod(expected):
        raise invalid("accuracy", f"t of shape {expected}, one label for each example of y", f"t is {target!r}")
    return hit_rate(y, t, ignore_label=ignore_label)


@primitive(label="binary_accuracy")
def binary_hit_rate(xp: Namespace, y: AnyArray, t: AnyArray, /) -> Array:
    """Fraction of the labels `t`, 0 or 1, that are 1 where `y` is not negative; the kernel of `binary_accuracy`."""
    wide = xp.backend.wide(y.dtype)
    hit = ((y >= 0) & (t == 1)) | (~(y >= 0) & (t == 0))
    count = xp.clip(xp.sum(xp.astype(t != -1, wide)), 1)
    return xp.astype(xp.sum(xp.astype(hit, wide)) / count, y.dtype, copy=False)


def binary_accuracy(y: AnyArray, t: AnyArray) -> Variable:
    """Return the fraction of the labels `t` that are predicted by the sign of `y`.

    Parameters
    ----------
    y : Variable or array, real floating-point
        Scores: 1 is predicted where they are 0 or positive, else 0.
    t : Variable or array, shape of `y`, integer
        0 or 1; elements with -1 are not counted. If all are -1, the accuracy is 0.

    Returns
    -------
    Variable, shape ()
        From 0 to 1, with the dtype of `y`; it has no gradient.

    Raises
    ------
    InvalidType
        Dtypes or shapes are not as above.
    """
    spec, target = real_floating(y, "binary_accuracy", "y"), integral(t, "binary_accuracy")
    if target.shape != spec.shape:
        raise invalid("binary_accuracy", f"t of shape {spec.shape}, as y", f"t is {target!r}")
    return binary_hit_rate(y, t)


@primitive(label="r2_score")
def determination(xp: Namespace, pred: AnyArray, true: AnyArray, weight: AnyArray | None, /) -> Array:
    """Coefficients of determination over axis 0, in the dtype of `pred`; the kernel of `r2_score`."""
    wide = xp.backend.wide(pred.dtype)
    predicted, actual = xp.astype(pred, wide, copy=False), xp.astype(true, wide, copy=False)
    moved = actual - actual[: min(pred.shape[0], 1), ...]  # 0 for constant values, whose mean may be rounded
    if weight is None:
        weights = xp.ones((), dtype=wide, device=xp.device_of(pred))
        mean = xp.mean(moved, axis=0)
    else:
        weights = xp.reshape(xp.astype(weight, wide, copy=False), (-1,) + (1,) * (len(pred.shape) - 1))
        mean = xp.sum(weights * moved, axis=0) / xp.sum(weights)
    error = xp.sum(weights * (predicted - actual) ** 2, axis=0)
    spread = xp.sum(weights * (moved - mean) ** 2, axis=0)
    constant = spread == 0
    scores = xp.where(constant, 0.0, 1.0 - error / xp.where(constant, 1.0, spread))
    return xp.astype(scores, pred.dtype, copy=False)


def r2_score(
    pred: AnyArray, true: AnyArray, sample_weight: AnyArray | None = None, multioutput: str = "uniform_average"
) -> Variable:
    """Return the coefficient of determination: 1 minus the squared errors relative to the spread of the true values.

    Parameters
    ----------
    pred, true : Variable or array, shape (N, *D), real floating-point, of one shape
    sample_weight : Variable or array, shape (N,), real floating-point, optional
        Weights of the examples.
    multioutput : {"uniform_average", "raw_values"}
        The mean of all outputs, or one score for each.

    Returns
    -------
    Variable, shape () or D
        At most 1, with the dtype of `pred`; 0 for outputs with constant true values. It has no gradient.

    Raises
    ------
    InvalidType
        Dtypes or shapes are not as above.
    ValueError
        `multioutput` has another value.
    """
    require_option("r2_score", "multioutput", multioutput, ("uniform_average", "raw_values"))
    spec, actual = real_floating(pred, "r2_score", "pred"), real_floating(true, "r2_score", "true")
    if not spec.ndim or actual.shape != spec.shape:
        raise invalid("r2_score", "pred and true of one shape (N, ...)", f"pred is {spec!r}, true is {actual!r}")
    if sample_weight is not None:
        weights = real_floating(sample_weight, "r2_score", "sample_weight")
        if weights.shape != spec.shape[:1]:
            raise invalid("r2_score", f"sample_weight of shape {spec.shape[:1]}", f"sample_weight is {weights!r}")
    scores: Any = determination(pred, true, sample_weight)
    return scores if multioutput == "raw_values" else array_api.mean(scores)
