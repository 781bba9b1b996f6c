"""Losses with a margin, also of clustering, which are 0 for predictions that are right by more than that."""

import itertools
from typing import Any

from xpgrad import array_api
from xpgrad.array_api import expand_dims, matmul, matrix_transpose, reshape, square, where
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.statistical import sum_by_count
from xpgrad.backend.checks import require_together
from xpgrad.backend.spec import Spec
from xpgrad.functions.activation import relu
from xpgrad.functions.checks import integral, invalid, real_floating, require_option
from xpgrad.functions.loss import labels_one_hot
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray

__all__ = ["contrastive", "discriminative_margin_based_clustering_loss", "hinge", "triplet"]


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
    lacking = array_api.square(relu(margin - _root(squares)))
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


def discriminative_margin_based_clustering_loss(
    embeddings: AnyArray, labels: AnyArray, delta_v: float, delta_d: float, max_embedding_dim: int, norm: int = 1,
    alpha: float = 1.0, beta: float = 1.0, gamma: float = 0.001,
) -> tuple[Variable, Variable, Variable]:  # fmt: skip
    """Return the terms of a loss for embeddings of pixels: variance, distance and regularization.

    Parameters
    ----------
    embeddings : Variable or array, shape (N, K, H, W), real floating-point
    labels : Variable or array, shape (N, H, W), integer
        Instances from 1 to K; pixels with other labels are not counted.
    delta_v : float
        Distance from the mean of its instance up to which a pixel adds no loss.
    delta_d : float
        Half the distance between means of instances above which they add no loss.
    max_embedding_dim : int
        The K of `embeddings`, which is also the number of distinguished instances.
    norm : {1, 2}
        Sum of absolute values, or square root of the sum of squares, whose gradient at 0 is 0.
    alpha, beta, gamma : float
        Factors of the three terms.

    Returns
    -------
    tuple of Variable, shapes ()
        Mean over the pixels of an instance of ``max(0, distance - delta_v) ** 2``, averaged over instances; mean over
        images and pairs of instances of ``max(0, 2 * delta_d - distance) ** 2``; and the norm of each instance's
        means, divided by N, averaged over instances. The mean of an instance that is not there is 0.

    References
    ----------
    De Brabandere, Neven, Van Gool: Semantic instance segmentation with a discriminative loss function, 2017.
    """
    name = "discriminative_margin_based_clustering_loss"
    require_option(name, "norm", norm, (1, 2))
    if max_embedding_dim <= 0:
        raise ValueError(f"{name}: max_embedding_dim must be positive, got {max_embedding_dim}")
    spec, target = real_floating(embeddings, name, "embeddings"), integral(labels, name, "labels")
    if spec.ndim != 4 or spec.shape[1] != max_embedding_dim or target.shape != (spec.shape[0], *spec.shape[2:]):
        expect = f"embeddings of shape (N, {max_embedding_dim}, H, W) and labels of shape (N, H, W)"
        raise invalid(name, expect, f"embeddings is {spec!r}, labels is {target!r}")
    require_together(name, embeddings, labels)
    n, k, pixels = spec.shape[0], max_embedding_dim, spec.shape[2] * spec.shape[3]
    points = array_api.astype(reshape(embeddings, shape=(n, k, pixels)), spec.wide, copy=False)
    numbers = spec.backend.namespace.arange(1, k + 1, device=spec.device)
    instances = reshape(array_api.astype(numbers, target.dtype), shape=(1, k, 1))
    members = array_api.astype(array_api.equal(reshape(labels, shape=(n, 1, pixels)), instances), spec.wide)
    sizes = array_api.sum(members, axis=2)
    means = matmul(members, matrix_transpose(points)) / expand_dims(array_api.maximum(sizes, 1.0), axis=2)

    regularization = array_api.sum(_norm(means, (0, 2), norm)) / ((n or 1) * k)
    apart = matmul(matrix_transpose(means), members) - points
    share = array_api.sum(
        members / reshape(array_api.maximum(array_api.sum(sizes, axis=0), 1.0), shape=(1, k, 1)), axis=1
    )
    variance = array_api.sum(share * square(relu(_norm(apart, 1, norm) - delta_v))) / k
    first, second = ([pair[i] for pair in itertools.combinations(range(k), 2)] for i in range(2))
    between = means[:, first] - means[:, second]
    distance = array_api.sum(square(relu(2 * delta_d - _norm(between, 2, norm)))) / ((n * len(first)) or 1)
    return (
        array_api.astype(alpha * variance, spec.dtype, copy=False),
        array_api.astype(beta * distance, spec.dtype, copy=False),
        array_api.astype(gamma * regularization, spec.dtype, copy=False),
    )


def _norm(x: Variable, axis: Any, norm: int) -> Variable:
    if norm == 1:
        return array_api.sum(array_api.abs(x), axis=axis)
    return _root(array_api.sum(square(x), axis=axis))


def _root(squares: Variable) -> Variable:
    """Return square roots, with the derivative 0 at 0."""
    positive = squares > 0
    return where(positive, array_api.sqrt(where(positive, squares, 1.0)), 0.0)
