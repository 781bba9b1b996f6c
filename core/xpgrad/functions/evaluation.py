"""Measures of how good predictions are, without gradients: accuracy, precision, recall and F-score."""

import math
from typing import Any

from xpgrad import array_api
from xpgrad.config import WATCHED, config, switches
from xpgrad.functions.checks import integral, invalid, real_floating, require_option
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["accuracy", "binary_accuracy", "classification_summary", "f1_score", "precision", "r2_score", "recall"]


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


Scores = tuple[Variable, Variable]


@primitive(label="classification_summary")
def class_counts(xp: Namespace, y: AnyArray, t: AnyArray, /, label_num: int, ignore_label: int) -> Array:
    """Numbers of hits, of predictions and of labels for each class, shape (3, label_num)."""
    best = xp.reshape(xp.argmax(y, axis=1), (-1, 1))
    labels = xp.astype(xp.reshape(t, (-1, 1)), best.dtype)
    classes = xp.astype(xp.arange(label_num, device=xp.device_of(y)), best.dtype)
    counted = labels != ignore_label
    predicted, actual = counted & (best == classes), counted & (labels == classes)
    return xp.stack([xp.sum(xp.astype(each, best.dtype), axis=0) for each in (predicted & actual, predicted, actual)])


def classification_summary(
    y: AnyArray, t: AnyArray, label_num: int | None = None, beta: float = 1.0, ignore_label: int = -1
) -> tuple[Variable, Variable, Variable, Variable]:
    """Return precision, recall, F-score and number of examples of each class.

    Parameters
    ----------
    y : Variable or array, shape (N, C, *D), real floating-point
        Scores; the class with the highest one along axis 1 is predicted.
    t : Variable or array, shape (N, *D), integer
        Labels; further axes of `y` may have length 1.
    label_num : int, optional
        Number of classes. By default one more than the highest label, which has to be read from the array: where that
        is not possible, as under `compile`, give it.
    beta : float
        Weight of the recall relative to the precision in the F-score.
    ignore_label : int
        Examples with this label are not counted.

    Returns
    -------
    precision, recall, fbeta : Variable, shape (label_num,)
        Of the dtype of `y`, without a gradient. NaN for a class that was never predicted (precision), that no example
        has (recall), or where the F-score divides 0 by 0.
    support : Variable, shape (label_num,), integer
        Number of examples of each class.

    Raises
    ------
    ValueError
        `label_num` cannot be derived without labels; or, in debug mode, a label is not below it.
    """
    spec = real_floating(y, "classification_summary", "y")
    label_num = _checked(y, t, label_num, ignore_label)
    counts = class_counts(y, t, label_num=label_num, ignore_label=ignore_label)
    hit, predicted, actual = array_api.unstack(array_api.astype(counts, spec.wide))
    found, retrieved = _ratio(hit, predicted), _ratio(hit, actual)
    square = beta * beta
    score = _ratio((1 + square) * found * retrieved, square * found + retrieved)
    found, retrieved, score = (array_api.astype(each, spec.dtype, copy=False) for each in (found, retrieved, score))
    return found, retrieved, score, counts[2]


def precision(y: AnyArray, t: AnyArray, label_num: int | None = None, ignore_label: int = -1) -> Scores:
    """Return the precision of each class, the fraction of its predictions that are right, and its number of examples.

    Arguments are the same as in `classification_summary`.
    """
    found, _, _, support = classification_summary(y, t, label_num, 1.0, ignore_label)
    return found, support


def recall(y: AnyArray, t: AnyArray, label_num: int | None = None, ignore_label: int = -1) -> Scores:
    """Return the recall of each class, the fraction of its examples that are predicted, and its number of examples.

    Arguments are the same as in `classification_summary`.
    """
    _, retrieved, _, support = classification_summary(y, t, label_num, 1.0, ignore_label)
    return retrieved, support


def f1_score(y: AnyArray, t: AnyArray, label_num: int | None = None, ignore_label: int = -1) -> Scores:
    """Return the harmonic mean of precision and recall of each class, and its number of examples.

    Arguments are the same as in `classification_summary`.
    """
    _, _, score, support = classification_summary(y, t, label_num, 1.0, ignore_label)
    return score, support


def _ratio(part: Variable, whole: Variable) -> Variable:
    """Return the quotient, NaN without a warning where `whole` is 0."""
    none = whole == 0
    return array_api.where(none, math.nan, part / array_api.where(none, 1.0, whole))


def _checked(y: AnyArray, t: AnyArray, label_num: int | None, ignore_label: int) -> int:
    """Return the number of classes, if the inputs fit."""
    name = "classification_summary"
    spec, target = real_floating(y, name, "y"), integral(t, name)
    expected = spec.shape[:1] + spec.shape[2 : target.ndim + 1]
    fits = spec.ndim > 1 and target.shape == expected and all(n == 1 for n in spec.shape[target.ndim + 1 :])
    if not fits or not spec.shape[1]:
        raise invalid(
            name, "y of shape (N, C, ...) with C > 0 and t of shape (N, ...)", f"y is {spec!r}, t is {target!r}"
        )
    if label_num is None:
        if not target.size:
            raise ValueError(f"{name}: label_num cannot be found from t without elements; give it")
        return max(0, int(array_api.max(t)) + 1)
    if switches().mode & WATCHED and config.debug:
        t = as_variable(t)
        if bool(array_api.any((t >= label_num) & (t != ignore_label))):
            raise ValueError(f"{name}: a label is not below label_num {label_num}")
    return label_num
