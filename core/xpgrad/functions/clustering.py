"""Losses of clustering: embeddings attract each other within one instance and repel each other between instances."""

import itertools
from typing import Any

from xpgrad import array_api
from xpgrad.array_api import expand_dims, matmul, matrix_transpose, reshape, square, where
from xpgrad.backend.checks import require_together
from xpgrad.functions.activation import relu
from xpgrad.functions.checks import integral, invalid, real_floating, require_option
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray

__all__ = ["discriminative_margin_based_clustering_loss"]


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

    Raises
    ------
    InvalidType
        Dtypes or shapes are not as above.
    ValueError
        `norm` or `max_embedding_dim` has another value.

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
    xp = spec.backend.namespace
    instances = xp.reshape(xp.astype(xp.arange(1, k + 1, device=spec.device), target.dtype), (1, k, 1))
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
    squares = array_api.sum(square(x), axis=axis)
    positive = squares > 0
    return where(positive, array_api.sqrt(where(positive, squares, 1.0)), 0.0)
