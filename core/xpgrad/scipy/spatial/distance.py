"""`scipy.spatial.distance` of Variables: the metrics of real vectors that have a derivative.

Distances of equal points have the derivative 0.
"""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad import array_api as xpa
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.linalg.decomposition import Arrays, Decomposition, Targets
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.listing import listed as _listed
from xpgrad.ops.covariance import cov
from xpgrad.scipy.operands import beside, inexact, known, reference, root
from xpgrad.special import rel_entr
from xpgrad.transforms.batch.vmap import vmap
from xpgrad.types import AnyArray, Array, Namespace

__all__ = ["cdist", "pdist", "squareform"]
Metric = Callable[..., Variable]


def _weighted(terms: Variable, w: Any) -> Variable:
    return xpa.sum(terms if w is None else terms * w, axis=-1)


def _sqeuclidean(u: Variable, v: Variable, w: Any = None) -> Variable:
    return _weighted((u - v) * (u - v), w)


def _minkowski(u: Variable, v: Variable, p: Any = 2.0, w: Any = None) -> Variable:
    size = xpa.abs(u - v)
    if isinstance(p, float) and p == float("inf"):
        return METRICS["chebyshev"](u, v, w)
    apart = size != 0
    total = _weighted(xpa.where(apart, xpa.where(apart, size, 1.0) ** p, 0.0), w)
    apart = total != 0
    return xpa.where(apart, xpa.where(apart, total, 1.0) ** (1.0 / p), 0.0)


def _canberra(u: Variable, v: Variable, w: Any = None) -> Variable:
    total = xpa.abs(u) + xpa.abs(v)
    apart = total != 0
    return _weighted(xpa.where(apart, xpa.abs(u - v) / xpa.where(apart, total, 1.0), 0.0), w)


def _braycurtis(u: Variable, v: Variable, w: Any = None) -> Variable:
    return _weighted(xpa.abs(u - v), w) / _weighted(xpa.abs(u + v), w)


def _cosine(u: Variable, v: Variable, w: Any = None) -> Variable:
    return 1.0 - _weighted(u * v, w) / xpa.sqrt(_weighted(u * u, w) * _weighted(v * v, w))


def _correlation(u: Variable, v: Variable, w: Any = None) -> Variable:
    centred = []
    for x in (u, v):
        mean = xpa.mean(x, axis=-1, keepdims=True) if w is None else (xpa.sum(x * w, axis=-1) / xpa.sum(w))[..., None]
        centred.append(x - mean)
    return _cosine(centred[0], centred[1], w)


def _mahalanobis(u: Variable, v: Variable, VI: Variable) -> Variable:
    difference = u - v
    return root(xpa.sum(xpa.matmul(difference, VI) * difference, axis=-1))


def _jensenshannon(u: Variable, v: Variable, base: Any = None) -> Variable:
    p, q = (x / xpa.sum(x, axis=-1, keepdims=True) for x in (u, v))
    mean = 0.5 * (p + q)
    total = 0.5 * xpa.sum(rel_entr(p, mean) + rel_entr(q, mean), axis=-1)
    total = xpa.where(total < 0, 0.0, total)  # by rounding
    return root(total if base is None else total / xpa.log(beside(u, base, "jensenshannon")))


class EuclideanDistances(Decomposition):
    """Euclidean distances of all pairs, a class because their gradients are products of matrices."""

    name = "cdist"
    of_square = False
    keeps_inputs = (0, 1)
    keeps_outputs = (0,)

    def compute(self, xp: Namespace, *xs: Array) -> Sequence[Array]:
        """Return the distances."""
        a, b = xs
        own = reference("scipy.spatial.distance", "cdist", a, b)
        if own is not None and a.ndim == b.ndim == 2:
            return (xp.astype(own(a, b), a.dtype, copy=False),)
        difference = a[..., :, None, :] - b[..., None, :, :]
        return (xp.sqrt(xp.sum(difference * difference, axis=-1)),)

    def rule(self, xp: Namespace, gys: Arrays, xs: Arrays, ys: Arrays, targets: Targets) -> Arrays:
        """Return weighted sums of the differences between points, which are centred first to reduce cancellation."""
        (gy,), (a, b), (y,) = gys, xs, ys
        apart = y != 0
        w = xp.where(apart, gy, 0.0) / xp.where(apart, y, 1.0)
        centre = xp.mean(b, axis=-2, keepdims=True)
        a, b, gxs = a - centre, b - centre, []
        for i in targets:
            weights, own, other = (w, a, b) if i == 0 else (xp.matrix_transpose(w), b, a)
            gxs.append(own * xp.sum(weights, axis=-1, keepdims=True) - xp.matmul(weights, other))
        return gxs


METRICS: dict[str, Metric] = {
    "braycurtis": _braycurtis,
    "canberra": _canberra,
    "chebyshev": lambda u, v, w=None: xpa.max(xpa.abs(u - v) * (1.0 if w is None else w > 0), axis=-1),
    "cityblock": lambda u, v, w=None: _weighted(xpa.abs(u - v), w),
    "correlation": _correlation,
    "cosine": _cosine,
    "euclidean": lambda u, v, w=None: root(_sqeuclidean(u, v, w)),
    "jensenshannon": _jensenshannon,
    "mahalanobis": _mahalanobis,
    "minkowski": _minkowski,
    "seuclidean": lambda u, v, V: root(xpa.sum((u - v) * (u - v) / V, axis=-1)),
    "sqeuclidean": _sqeuclidean,
}
"""Distances of the vectors along the last axes of two arrays that broadcast."""
ALIASES = {
    "chebychev": "chebyshev", "cheby": "chebyshev", "cheb": "chebyshev", "ch": "chebyshev", "cblock": "cityblock",
    "cb": "cityblock", "c": "cityblock", "co": "correlation", "cos": "cosine", "euclid": "euclidean", "eu": "euclidean",
    "e": "euclidean", "js": "jensenshannon", "mahal": "mahalanobis", "mah": "mahalanobis", "mi": "minkowski",
    "m": "minkowski", "pnorm": "minkowski", "se": "seuclidean", "s": "seuclidean", "sqe": "sqeuclidean",
    "sqeuclid": "sqeuclidean",
}  # fmt: skip
"""SciPy's other names of metrics."""


def _prepared(name: str, metric: Any, points: list[Variable], options: dict[str, Any]) -> tuple[Metric, dict[str, Any]]:
    """Return the function of a metric, and its options with defaults that depend on the points."""
    if any(x.node.spec.complex for x in points):
        raise DtypeError(f"{name}: expected real points, got {', '.join(repr(x.node.spec) for x in points)}")
    if callable(metric):
        given = functools.partial(metric, **options)
        inner = given if name == "pdist" else vmap(given, in_axes=(None, 0))
        return vmap(inner, in_axes=(0, 0 if name == "pdist" else None)), {}
    metric = ALIASES.get(metric, metric)
    if metric not in METRICS:
        raise ValueError(
            f"{name}: expected one of the metrics that have a derivative, {', '.join(METRICS)}, or a function, got "
            f"{metric!r}"
        )
    found = {key: value if key in ("p", "base") else beside(points[0], value, name) for key, value in options.items()}
    w = found.get("w")
    if w is not None and known(w) and xpa.any(w < 0):
        raise ValueError(f"{name}: expected weights that are not negative, got {w}")
    together = xpa.concat(points, axis=0)
    if metric == "seuclidean" and "V" not in found:
        found["V"] = xpa.var(together, axis=0, correction=1)
    if metric == "mahalanobis" and "VI" not in found:
        found["VI"] = xpa.matrix_transpose(xpa.linalg.inv(cov(xpa.matrix_transpose(together))))
    return METRICS[metric], found


@in_single_precision
def cdist(XA: AnyArray, XB: AnyArray, metric: Any = "euclidean", **kwargs: Any) -> Variable:
    """Return the distances of each point of one set from each of another.

    Parameters
    ----------
    XA : Variable or array, shape (M, K), real
    XB : Variable or array, shape (N, K)
    metric : str or callable
        A key of `METRICS`, another of SciPy's names of it, or a function of two vectors, which `vmap` maps.
    **kwargs
        SciPy's options of the metric, such as `p`, `w`, `V` and `VI`; Variables have gradients.

    Returns
    -------
    Variable, shape (M, N)
    """
    a, b = as_variables("cdist", inexact(XA, "cdist"), inexact(XB, "cdist"))
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise ShapeError(f"cdist: expected points of shapes (M, K) and (N, K), got {a.shape} and {b.shape}")
    if metric == "euclidean" and not kwargs and a.shape[0] and b.shape[0] and a.dtype == b.dtype:
        y: Variable = EuclideanDistances().apply((a, b))[0]
        return y
    function, options = _prepared("cdist", metric, [a, b], kwargs)
    if callable(metric):
        return function(a, b)
    return function(a[:, None, :], b[None, :, :], **options)


@in_single_precision
def pdist(X: AnyArray, metric: Any = "euclidean", **kwargs: Any) -> Variable:
    """Return the distances between all pairs of points: first the pairs that contain the first point.

    Parameters
    ----------
    X : Variable or array, shape (M, K), real
    metric, **kwargs
        As for `cdist`.

    Returns
    -------
    Variable, shape (M * (M - 1) / 2,)
        `squareform` converts the vector to a matrix.
    """
    x = inexact(X, "pdist")
    if x.ndim != 2:
        raise ShapeError(f"pdist: expected points of shape (M, K), got {x.shape}")
    function, options = _prepared("pdist", metric, [x], kwargs)
    first, second = _pairs(x, x.shape[0])
    return function(xpa.take(x, first, axis=0), xpa.take(x, second, axis=0), **options)


def _pairs(x: Variable, count: int) -> list[Variable]:
    """Return the rows and columns above the diagonal of a matrix."""
    xp, device = x.node.spec.backend.xp, x.node.spec.device
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    backend, dtype = x.node.spec.backend, xp.arange(0, device=device).dtype
    return [constant_variable(backend.asarray([p[k] for p in pairs], dtype=dtype, device=device)) for k in (0, 1)]


def squareform(X: AnyArray, *, checks: bool = True) -> Variable:
    """Return the symmetric matrix with given distances, or the distances above the diagonal of such a matrix.

    Parameters
    ----------
    X : Variable or array, shape (M * (M - 1) / 2,) or (M, M)
    checks : bool
        Raise ValueError for a matrix that is not symmetric, or has numbers on its diagonal, if they can be read.

    Returns
    -------
    Variable, shape (M, M) or (M * (M - 1) / 2,)
    """
    x = as_variable(X)
    if x.ndim == 2 and x.shape[0] == x.shape[1]:
        if checks and known(x) and not (xpa.all(x == x.T) and xpa.all(xpa.linalg.diagonal(x) == 0)):
            raise ValueError("squareform: expected a symmetric matrix with the diagonal 0, got another one")
        first, second = _pairs(x, x.shape[0])
        return xpa.take(xpa.reshape(x, (-1,)), first * x.shape[0] + second)
    m = round((1 + (1 + 8 * x.shape[0]) ** 0.5) / 2) if x.ndim == 1 else 0
    if not m or m * (m - 1) // 2 != x.shape[0]:
        raise ShapeError(f"squareform: expected distances of all pairs or a square matrix, got shape {x.shape}")
    numbers = x.node.spec.backend.xp.arange(m, device=x.node.spec.device)
    i, j = (as_variable(each) for each in (numbers[:, None], numbers[None, :]))
    low, high = xpa.minimum(i, j), xpa.maximum(i, j)
    place = low * (2 * m - low - 1) // 2 + high - low - 1
    inside = xpa.broadcast_to(low != high, (m, m))
    flat = xpa.reshape(xpa.where(inside, place, 0), (-1,))
    if not x.shape[0]:
        return xpa.zeros_like(xpa.broadcast_to(xpa.astype(i, x.dtype), (m, m)))
    return xpa.where(inside, xpa.reshape(xpa.take(x, flat), (m, m)), 0.0)


if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
