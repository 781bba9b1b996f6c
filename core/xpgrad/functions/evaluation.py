"""Evaluation: measures of how good predictions are, without gradients."""

import math

from xpgrad.functions.checks import integral, invalid, real_floating
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["accuracy"]


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
        One label for each example: of shape (N, *D), where further axes of length 1 do not matter.
    ignore_label : int, optional
        Labels with this value are not counted. If all have it, the accuracy is 0.

    Returns
    -------
    Variable, shape ()
        From 0 to 1, of the dtype of `y`; it has no gradient.

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
