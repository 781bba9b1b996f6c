"""Losses with a margin, which are 0 for predictions that are right by more than the margin."""

from typing import Any

from xpgrad import array_api
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.statistical import sum_by_count
from xpgrad.backend.spec import Spec
from xpgrad.functions.activation import relu
from xpgrad.functions.checks import integral, invalid, real_floating, require_option
from xpgrad.functions.loss import labels_one_hot
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray

__all__ = ["contrastive", "hinge", "triplet"]


@in_single_precision
def hinge(x: AnyArray, t: AnyArray, norm: str = "L1", reduce: str = "mean") -> Variable:
    """Return the hinge loss ``max(0, 1 - s * x)``: s is 1 for the class, else -1. The derivative at the kink is 0.

    Parameters
    ----------
    x : Variable or array, shape (N, C), real floating-point
        Scores, which should be at least 1 for the class of an example and at most -1 for other classes.
    t : Variable or array, shape (N,), integer
        Classes.
    norm : {"L1", "L2"}
        "L2" squares it.
    reduce : {"mean", "no"}
        "mean" sums over the classes and divides by N.

    Returns
    -------
    Variable, shape () or (N, C)

    Raises
    ------
    InvalidType
        Dtypes or shapes are not as above.
    ValueError
        An option has another value.
    IndexError
        A label is not a class; where the library checks indices (on the host, except JAX). Else the loss is NaN.
    """
    spec, labels = real_floating(x, "hinge"), integral(t, "hinge")
    require_option("hinge", "norm", norm, ("L1", "L2"))
    require_option("hinge", "reduce", reduce, ("mean", "no"))
    if spec.ndim != 2 or labels.shape != spec.shape[:1]:
        raise invalid("hinge", "x of shape (N, C) and t of shape (N,)", f"x is {spec!r}, t is {labels!r}")
    sides = 2 * labels_one_hot(t, spec=spec, ignore_label=-1) - 1
    losses = relu(1 - as_variable(x) * sides)
    if norm == "L2":
        losses = array_api.square(losses)
    return losses if reduce == "no" else sum_by_count(losses, spec.shape[0] or 1)


@in_single_precision
def contrastive(x0: AnyArray, x1: AnyArray, y: AnyArray, margin: float = 1, reduce: str = "mean") -> Variable:
    """Return the contrastive loss, which attracts pairs of one class and repels other pairs, up to a margin.

    Parameters
    ----------
    x0, x1 : Variable or array, shape (N, K), real floating-point
        The points of each pair.
    y : Variable or array, shape (N,), integer
        1 for pairs of one class, 0 for other pairs.
    margin : float
        Positive.
    reduce : {"mean", "no"}

    Returns
    -------
    Variable, shape () or (N,)
        Half the squared distance, or half of ``max(0, margin - distance) ** 2``. Where the points of a pair
        of two classes coincide, the gradient is 0.

    References
    ----------
    Hadsell, Chopra, LeCun: Dimensionality reduction by learning an invariant mapping, 2006.
    """
    spec = _points("contrastive", margin, reduce, x0=x0, x1=x1)
    pairs = integral(y, "contrastive", "y")
    if pairs.shape != spec.shape[:1]:
        raise invalid("contrastive", f"y of shape {spec.shape[:1]}, one for each pair", f"y is {pairs!r}")
    squares = _squared_distance(x0, x1)
    apart = squares > 0
    distance = array_api.where(apart, array_api.sqrt(array_api.where(apart, squares, 1.0)), 0.0)
    lacking = array_api.square(relu(margin - distance))
    return _mean(0.5 * array_api.where(array_api.equal(y, 1), squares, lacking), reduce)


@in_single_precision
def triplet(
    anchor: AnyArray, positive: AnyArray, negative: AnyArray, margin: float = 0.2, reduce: str = "mean"
) -> Variable:
    """Return the triplet loss: the positive should be closer to the anchor than the negative, by a margin.

    Parameters
    ----------
    anchor, positive, negative : Variable or array, shape (N, K), real floating-point
    margin : float
        Positive margin of squared distances.
    reduce : {"mean", "no"}

    Returns
    -------
    Variable, shape () or (N,)

    References
    ----------
    Schroff, Kalenichenko, Philbin: FaceNet, 2015.
    """
    _points("triplet", margin, reduce, anchor=anchor, positive=positive, negative=negative)
    nearer = _squared_distance(anchor, positive) - _squared_distance(anchor, negative)
    return _mean(relu(nearer + margin), reduce)


def _points(function: str, margin: float, reduce: str, **inputs: Any) -> Spec:
    """Return the spec that the inputs share, if they are rows of points and the options have their values."""
    require_option(function, "reduce", reduce, ("mean", "no"))
    if not margin > 0:
        raise ValueError(f"{function}: margin must be positive, got {margin}")
    specs = [real_floating(x, function, name) for name, x in inputs.items()]
    if any(spec.ndim != 2 or spec.shape != specs[0].shape or spec.dtype != specs[0].dtype for spec in specs):
        actual = ", ".join(f"{name} is {spec!r}" for name, spec in zip(inputs, specs, strict=True))
        raise invalid(function, f"{', '.join(inputs)} of one shape (N, K) and dtype", actual)
    return specs[0]


def _squared_distance(x0: Any, x1: Any) -> Variable:
    return array_api.sum(array_api.square(array_api.subtract(x0, x1)), axis=1)


def _mean(losses: Variable, reduce: str) -> Variable:
    return losses if reduce == "no" else sum_by_count(losses, losses.shape[0] or 1)
