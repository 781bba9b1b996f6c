"""Normalization: over a batch, a layer or groups of channels, to length 1, and by local responses."""

from collections.abc import Sequence
from typing import Any

from xpgrad.array_api import linalg, reshape, square
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.array_api.shared.axes import reduced_count
from xpgrad.backend.geometry import Geometry
from xpgrad.backend.spec import Spec
from xpgrad.functions.checks import invalid, known_spec, real_floating
from xpgrad.functions.mixed import in_dtype_of, library, unified
from xpgrad.functions.moments import Axes, batch_axes, group_size, moving, per_feature, statistics, unbiased, update
from xpgrad.functions.windows import sum_pool
from xpgrad.graph.primitive import elementwise, primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import WHOLE, AnyArray, Array, Namespace, Shape, integers

__all__ = [
    "batch_normalization", "fixed_batch_normalization", "group_normalization", "layer_normalization",
    "local_response_normalization", "normalize",
]  # fmt: skip


def _inverse_rule(xp: Namespace, gy: Array, x: Array, y: Array, x_spec: Spec, axis: Axes) -> Array:
    centred = x - xp.mean(x, axis=axis, keepdims=True)
    return centred * (gy * (y * y * y) / -reduced_count(x_spec, axis))


@primitive(reduction=True, x=_inverse_rule)
def inverse_std(xp: Namespace, x: AnyArray, known: AnyArray | None, /, axis: Axes, eps: float) -> Array:
    """``1 / sqrt(var(x) + eps)`` over `axis`, which stays with length 1; or `known`, if it is not None."""
    return 1.0 / xp.sqrt(xp.var(x, axis=axis, keepdims=True) + eps) if known is None else known


def _projected_direction(xp: Namespace, gy: Array, g: Array, direction: Array, scale: Array, axis: Axes) -> Array:
    gy = gy * scale
    return -(
        gy * xp.mean(g * direction, axis=axis, keepdims=True) + g * xp.mean(gy * direction, axis=axis, keepdims=True)
    )


@primitive(
    linear=("g", "scale"),
    g=lambda xp, gy, direction, scale, axis: xp.standardize_backward(gy, direction, scale, axis=axis),
    direction=_projected_direction,
    scale=lambda xp, gy, y, scale, axis: xp.sum(gy * y, axis=axis, keepdims=True) / scale,
)
def standardize_backward(xp: Namespace, g: Array, direction: Array, scale: Array, /, axis: Axes) -> Array:
    """`g` without its mean over `axis` and its component along `direction`, times `scale`, which is not 0.

    It is the gradient of `standardize`, whose output is the direction, with mean 0 and mean square 1 except for `eps`.
    """
    along = direction * xp.mean(g * direction, axis=axis, keepdims=True)
    return (g - along - xp.mean(g, axis=axis, keepdims=True)) * scale  # in the order of NumPy's kernel


def _standardized_rule(xp: Namespace, gy: Array, x: Array, y: Array, inverse: Array, axis: Axes, eps: float) -> Array:
    scale = xp.inverse_std(x, inverse, axis=axis, eps=eps)
    return xp.standardize_backward(gy, y, scale, axis=axis)


@primitive(symmetric=("x",), x=_standardized_rule)
def standardize(xp: Namespace, x: AnyArray, mean: AnyArray, inverse: AnyArray, /, axis: Axes, eps: float) -> Array:
    """``(x - mean(x)) / sqrt(var(x) + eps)`` over `axis`, from the mean of `x` and its `inverse_std`.

    `x` gets the whole gradient, `mean` and `inverse` get none.
    """
    return (x - mean) * inverse


@elementwise(x=lambda xp, gy, gamma: gy * gamma, gamma=lambda xp, gy, x: gy * x, beta=lambda xp, gy: gy)
def scale_and_shift(xp: Namespace, x: AnyArray, gamma: AnyArray, beta: AnyArray, /) -> Array:
    """``x * gamma + beta``, elementwise; one new array instead of two."""
    return x * gamma + beta


def _normalized_backward_x_rule(
    xp: Namespace, gy: Array, g: Array, x: Array, gamma: Array, mean: Array, inverse: Array, x_spec: Spec, axis: Axes,
    eps: float,
) -> Array:  # fmt: skip
    g, direction = g * gamma, xp.standardize(x, mean, inverse, axis=axis, eps=eps)
    scale = xp.inverse_std(x, inverse, axis=axis, eps=eps)
    turned = _projected_direction(xp, gy, g, direction, scale, axis)
    along = xp.standardize_backward(g, direction, scale, axis=axis)
    g_scale = xp.sum(gy * along, axis=axis, keepdims=True) / scale
    return xp.standardize_backward(turned, direction, scale, axis=axis) + _inverse_rule(
        xp, g_scale, x, scale, x_spec, axis
    )


def _projected(xp: Namespace, g: Array, x: Array, mean: Array, inverse: Array, axis: Axes, eps: float) -> Array:
    direction = xp.standardize(x, mean, inverse, axis=axis, eps=eps)
    return xp.standardize_backward(g, direction, xp.inverse_std(x, inverse, axis=axis, eps=eps), axis=axis)


@primitive(
    linear=("g",),
    g=lambda xp, gy, x, gamma, mean, inverse, axis, eps: gamma * _projected(xp, gy, x, mean, inverse, axis, eps),
    x=_normalized_backward_x_rule,
    gamma=lambda xp, gy, g, x, mean, inverse, gamma_spec, axis, eps: xp.sum_to(
        g * _projected(xp, gy, x, mean, inverse, axis, eps), shape=gamma_spec.shape
    ),
)
def normalized_backward(
    xp: Namespace, g: Array, x: Array, gamma: Array, mean: Array, inverse: Array, /, axis: Axes, eps: float
) -> Array:
    """Gradient of `normalized` for `x`."""
    return _projected(xp, g * gamma, x, mean, inverse, axis, eps)


@primitive(
    linear=("g",),
    g=lambda xp, gy, x, mean, inverse, axis, eps: gy * xp.standardize(x, mean, inverse, axis=axis, eps=eps),
    x=lambda xp, gy, g, x, mean, inverse, axis, eps: _projected(xp, g * gy, x, mean, inverse, axis, eps),
)
def normalized_gamma_backward(
    xp: Namespace, g: Array, x: Array, mean: Array, inverse: Array, /, axis: Axes, eps: float, shape: Shape
) -> Array:
    """Gradient of `normalized` for a `gamma` of the given shape."""
    return xp.sum_to(g * xp.standardize(x, mean, inverse, axis=axis, eps=eps), shape=shape)


def _normalized_rule(
    xp: Namespace, gy: Array, x: Array, gamma: Array, mean: Array, inverse: Array, axis: Axes, eps: float
) -> Array:
    return xp.normalized_backward(gy, x, gamma, mean, inverse, axis=axis, eps=eps)


def _normalized_gamma_rule(
    xp: Namespace, gy: Array, x: Array, gamma_spec: Spec, mean: Array, inverse: Array, axis: Axes, eps: float
) -> Array:
    return xp.normalized_gamma_backward(gy, x, mean, inverse, axis=axis, eps=eps, shape=gamma_spec.shape)


def _normalized_rules(
    xp: Namespace, gy: Array, x: Array, gamma: Array, mean: Array, inverse: Array, gamma_spec: Spec, beta_spec: Spec,
    axis: Axes, eps: float,
) -> tuple[Array, Array, Array]:  # fmt: skip
    return (
        _normalized_rule(xp, gy, x, gamma, mean, inverse, axis, eps),
        _normalized_gamma_rule(xp, gy, x, gamma_spec, mean, inverse, axis, eps),
        xp.sum_to(gy, shape=beta_spec.shape),
    )


@primitive(
    together=_normalized_rules,
    x=_normalized_rule,
    gamma=_normalized_gamma_rule,
    beta=lambda xp, gy, beta_spec: xp.sum_to(gy, shape=beta_spec.shape),
)
def normalized(
    xp: Namespace, x: AnyArray, gamma: AnyArray, beta: AnyArray, mean: AnyArray, inverse: AnyArray, /, axis: Axes,
    eps: float,
) -> Array:  # fmt: skip
    """`standardize` of `x`, times `gamma`, plus `beta`, which broadcast to the shape of `x`.

    The standardized array is computed again for the gradients, so that the graph does not keep it.
    """
    return xp.scale_and_shift(xp.standardize(x, mean, inverse, axis=axis, eps=eps), gamma, beta)


def batch_normalization(
    x: AnyArray, gamma: AnyArray, beta: AnyArray, eps: float = 2e-5, running_mean: Any = None, running_var: Any = None,
    decay: float = 0.9, axis: int | Sequence[int] | None = None,
) -> Variable:  # fmt: skip
    """Return `x` with mean 0 and variance 1 over the batch, times `gamma`, plus `beta`.

    Parameters
    ----------
    x : Variable or array, real floating-point
    gamma, beta : Variable or array, of the shape that `x` has without `axis`, real floating-point
    eps : float
        Added to the variance.
    running_mean, running_var : array or Variable, shape of `gamma`, optional
        Moving averages of mean and unbiased variance, which this call updates while `config.train` is True, except in
        the recomputation of a checkpoint, and for an `x` without elements. An array is written to; a Variable gets a
        new array, which also works for libraries with read-only arrays.
    decay : float
        Weight of the previous moving averages.
    axis : int or sequence of int, optional
        The axes over which mean and variance are taken. By default axis 0 and those after the axes of `gamma`, which
        are axis 1 and the following ones of `x`.

    Returns
    -------
    Variable, shape of `x`
        In the dtype of `x`. If the other arrays have another dtype, the computation uses their common dtype, float32 or
        higher.

    Raises
    ------
    ValueError
        An axis is given twice or is out of range.
    TypeError
        A moving average is an array that cannot be written to.

    References
    ----------
    Ioffe, Szegedy: Batch normalization, 2015.
    """
    name = "batch_normalization"
    spec = real_floating(x, name)
    features = known_spec(gamma, name)
    axes = batch_axes(name, spec, features, axis)
    shape = per_feature(name, spec, axes, gamma=gamma, beta=beta)
    running_mean = moving(name, spec, running_mean, "running_mean", features.shape)
    running_var = moving(name, spec, running_var, "running_var", features.shape)
    beside = tuple(v for v in (running_mean, running_var) if v is not None)
    x, gamma, beta = unified(name, x, gamma, beta, beside=beside, single=True)
    mean, var, inverse = statistics(x, name, axes, eps)
    gamma, beta = reshape(gamma, shape=shape), reshape(beta, shape=shape)
    count = reduced_count(spec, axes)
    y = normalized(x, gamma, beta, mean, inverse, axis=axes, eps=eps) if count else scale_and_shift(x, gamma, beta)
    if beside:
        update(decay, count, (running_mean, mean, 1.0), (running_var, var, unbiased(count)))
    return in_dtype_of(spec, y)


def fixed_batch_normalization(
    x: AnyArray,
    gamma: AnyArray,
    beta: AnyArray,
    mean: AnyArray,
    var: AnyArray,
    eps: float = 2e-5,
    axis: int | Sequence[int] | None = None,
) -> Variable:
    """Return ``gamma * (x - mean) / sqrt(var + eps) + beta``: batch normalization with fixed statistics.

    Parameters
    ----------
    x : Variable or array, real floating-point
    gamma, beta, mean, var : Variable or array, of the shape that `x` has without `axis`, real floating-point
        All of them have gradients.
    eps : float
    axis : int or sequence of int, optional
        As for `batch_normalization`.

    Returns
    -------
    Variable, shape of `x`
        In the dtype of `x`. If the other arrays have another dtype, the computation uses their common dtype, float32 or
        higher.

    Raises
    ------
    ValueError
        An axis is given twice or is out of range.
    """
    name = "fixed_batch_normalization"
    spec = real_floating(x, name)
    axes = batch_axes(name, spec, known_spec(gamma, name), axis)
    shape = per_feature(name, spec, axes, gamma=gamma, beta=beta, mean=mean, var=var)
    x, *features = unified(name, x, gamma, beta, mean, var, single=True)
    gamma, beta, mean, var = (reshape(v, shape=shape) for v in features)
    return in_dtype_of(spec, (as_variable(x) - mean) * (gamma / (var + eps) ** 0.5) + beta)


def layer_normalization(x: AnyArray, gamma: AnyArray, beta: AnyArray, eps: float = 1e-5) -> Variable:
    """Return `x` with mean 0 and variance 1 in each row, times `gamma`, plus `beta`.

    Parameters
    ----------
    x : Variable or array, shape (N, D), real floating-point
    gamma, beta : Variable or array, shape (D,), real floating-point
    eps : float
        Added to the variance.

    Returns
    -------
    Variable, shape (N, D)
        In the dtype of `x`, as from `batch_normalization`.

    References
    ----------
    Ba, Kiros, Hinton: Layer normalization, 2016.
    """
    name = "layer_normalization"
    spec = real_floating(x, name)
    if spec.ndim != 2:
        raise invalid(name, "x of shape (N, D)", f"x is {spec!r}")
    per_feature(name, spec, (0,), gamma=gamma, beta=beta)
    x, gamma, beta = unified(name, x, gamma, beta, single=True)
    mean, _, inverse = statistics(x, name, (1,), eps)
    return in_dtype_of(spec, normalized(x, gamma, beta, mean, inverse, axis=(1,), eps=eps))


def group_normalization(x: AnyArray, groups: int, gamma: AnyArray, beta: AnyArray, eps: float = 1e-5) -> Variable:
    """Return `x` with mean 0 and variance 1 in each group of channels of each image, times `gamma`, plus `beta`.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *D), real floating-point
    groups : int
        Number of equal parts into which the channels are cut.
    gamma, beta : Variable or array, shape (C,), real floating-point
    eps : float
        Added to the variance.

    Returns
    -------
    Variable, shape of `x`
        In the dtype of `x`, as from `batch_normalization`.

    Raises
    ------
    ValueError
        The channels cannot be cut into `groups` equal parts.

    References
    ----------
    Wu, He: Group normalization, 2018.
    """
    name = "group_normalization"
    spec = real_floating(x, name)
    size = group_size(name, spec, groups)
    shape = per_feature(name, spec, (0, *range(2, spec.ndim)), gamma=gamma, beta=beta)
    count = spec.size // (spec.shape[0] * groups or 1)
    x, gamma, beta = unified(name, x, gamma, beta, single=True)
    if count > size and library(spec).xp.find("normalized_backward") is not None:
        factors = (1, groups, size, 1)
        x = reshape(x, shape=(spec.shape[0], groups, size, count // size))
        mean, _, inverse = statistics(x, name, (2, 3), eps)
        gamma, beta = reshape(gamma, shape=factors), reshape(beta, shape=factors)
        y = normalized(x, gamma, beta, mean, inverse, axis=(2, 3), eps=eps)
        return in_dtype_of(spec, reshape(y, shape=spec.shape))
    flat = reshape(x, shape=(spec.shape[0] * groups, count))
    mean, _, inverse = statistics(flat, name, (1,), eps)
    y = reshape(standardize(flat, mean, inverse, axis=(1,), eps=eps), shape=spec.shape)
    return in_dtype_of(spec, scale_and_shift(y, reshape(gamma, shape=shape), reshape(beta, shape=shape)))


@in_single_precision
def normalize(x: AnyArray, eps: float = 1e-5, axis: int | Sequence[int] = 1) -> Variable:
    """Return `x` divided by ``norm(x) + eps``, its Euclidean norm over `axis`.

    Parameters
    ----------
    x : Variable or array, real floating-point
    eps : float
    axis : int or sequence of int

    Returns
    -------
    Variable, shape of `x`
        Where the norm is 0, its derivative is taken to be 0.
    """
    real_floating(x, "normalize")
    x, along = as_variable(x), axis if isinstance(axis, WHOLE) else integers(axis)
    return x / (linalg.vector_norm(x, axis=along, keepdims=True) + eps)


@in_single_precision
def local_response_normalization(
    x: AnyArray, n: int = 5, k: float = 2, alpha: float = 1e-4, beta: float = 0.75
) -> Variable:
    """Return `x` divided by ``(k + alpha * s) ** beta``, where s is the sum of squares of `n` neighbouring channels.

    Parameters
    ----------
    x : Variable or array, shape (N, C, ...), real floating-point
    n : int
        Width of the window of channels: ``n // 2`` on each side, fewer at the first and last channels.
    k, alpha, beta : float

    Returns
    -------
    Variable, shape of `x`

    References
    ----------
    Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks, 2012, section 3.3.
    """
    name = "local_response_normalization"
    spec = real_floating(x, name)
    if spec.ndim < 2:
        raise invalid(name, "x of shape (N, C, ...)", f"x is {spec!r}")
    if n < 1:
        raise ValueError(f"{name}: n must be at least 1, got {n}")
    x, half, channels = as_variable(x), min(n // 2, spec.shape[1]), spec.shape[1]
    rest = spec.size // (spec.shape[0] * channels or 1)
    size, ones = (channels, rest), (1, 1)
    geometry = Geometry(size, (2 * half + 1, 1), ones, (half, 0), ones, size)
    squares = reshape(square(x), shape=(spec.shape[0], 1, *size))
    total = reshape(sum_pool(squares, geometry=geometry), shape=spec.shape)
    return x * (k + alpha * total) ** -beta
