"""Precision, recall and F-score of each class, without gradients."""

import math

from xpgrad import array_api
from xpgrad.config import WATCHED, config, switches
from xpgrad.functions.checks import integral, invalid, real_floating
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["classification_summary", "f1_score", "precision", "recall"]

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
    InvalidType
        Dtypes or shapes are not as above.
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
