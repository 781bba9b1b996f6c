"""Normalization: over a batch, a layer or groups of channels, to length 1, and by local responses."""

import operator
from collections.abc import Sequence
from typing import Any

from xpgrad.array_api import linalg, reshape, square
from xpgrad.array_api.shared.axes import kept_shape, reduced_count
from xpgrad.array_api.shared.precision import narrowed, widened
from xpgrad.backend.geometry import Geometry
from xpgrad.backend.kernels import kernel
from xpgrad.backend.levels import entered
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.config import config
from xpgrad.functions.checks import invalid, known_spec, real_floating, require_real_floating
from xpgrad.functions.windows import sum_pool
from xpgrad.graph.primitive import elementwise, primitive
from xpgrad.graph.variable import Variable, as_array, as_variable, inside
from xpgrad.types import WHOLE, AnyArray, Array, Namespace, Shape

__all__ = [
    "batch_normalization", "fixed_batch_normalization", "group_normalization", "layer_normalization",
    "local_response_normalization", "normalize",
]  # fmt: skip

Axes = tuple[int, ...]


def _inverse_rule(xp: Namespace, gy: Array, x: Array, y: Array, x_spec: Spec, axis: Axes) -> Array:
    x, y, gy = (widened(xp, v, x_spec) for v in (x, y, gy))
    centred = x - xp.mean(x, axis=axis, keepdims=True)
    return narrowed(xp, centred * (gy * (y * y * y) / -reduced_count(x_spec, axis)), x_spec)


@primitive(x=_inverse_rule)
def inverse_std(xp: Namespace, x: AnyArray, known: AnyArray | None, /, axis: Axes, eps: float) -> Array:
    """``1 / sqrt(var(x) + eps)`` over `axis`, which stays with length 1; or `known`, if it is not None."""
    return 1.0 / xp.sqrt(xp.var(x, axis=axis, keepdims=True) + eps) if known is None else known


def _projected_direction(xp: Namespace, gy: Array, g: Array, direction: Array, scale: Array, axis: Axes) -> Array:
    gy = gy * scale
    return -(
        gy * xp.mean(g * direction, axis=axis, keepdims=True) + g * xp.mean(gy * direction, axis=axis, keepdims=True)
    )


@primitive(
    g=lambda xp, gy, direction, scale, axis: xp.standardize_backward(gy, direction, scale, axis=axis),
    direction=_projected_direction,
    scale=lambda xp, gy, y, scale, axis: xp.sum(gy * y, axis=axis, keepdims=True) / scale,
)
def standardize_backward(xp: Namespace, g: Array, direction: Array, scale: Array, /, axis: Axes) -> Array:
    """`g` without its mean over `axis` and its component along `direction`, times `scale`, which is not 0.

    It is the gradient of `standardize`, whose output is the direction, with mean 0 and mean square 1 except for `eps`.
    """
    along = direction * xp.mean(g * direction, axis=axis, keepdims=True)
    return (g - xp.mean(g, axis=axis, keepdims=True) - along) * scale


def _standardized_rule(xp: Namespace, gy: Array, x: Array, y: Array, inverse: Array, axis: Axes, eps: float) -> Array:
    scale = xp.inverse_std(x, inverse, axis=axis, eps=eps)
    return xp.standardize_backward(gy, y, scale, axis=axis)


@primitive(x=_standardized_rule)
def standardize(xp: Namespace, x: AnyArray, mean: AnyArray, inverse: AnyArray, /, axis: Axes, eps: float) -> Array:
    """``(x - mean(x)) / sqrt(var(x) + eps)`` over `axis`, from the mean of `x` and its `inverse_std`.

    `x` gets the whole gradient, `mean` and `inverse` get none.
    """
    return (x - mean) * inverse


@kernel(arrays=1, parameters=("axis",))
def moments(xp: Namespace, x: Array, /, axis: Axes) -> tuple[Array, Array]:
    """Return mean and variance over `axis`, which stays with length 1."""
    return xp.mean(x, axis=axis, keepdims=True), xp.var(x, axis=axis, keepdims=True)


def _statistics(x: Any, spec: Spec, axis: Axes, eps: float) -> tuple[Array, Array, Array]:
    """Return mean, variance and ``1 / sqrt(var + eps)`` of `x` over `axis`, which stays with length 1."""
    if isinstance(eps, Variable):
        raise TypeError("normalization: eps must be a number, not a Variable: it has no gradient")
    xp = spec.backend.xp
    mean, var = xp.moments(as_array(x), axis=axis)
    return mean, var, narrowed(xp, xp.reciprocal(xp.sqrt(xp.add(widened(xp, var, spec), eps))), spec)


@elementwise(x=lambda xp, gy, gamma: gy * gamma, gamma=lambda xp, gy, x: gy * x, beta=lambda xp, gy: gy)
def scale_and_shift(xp: Namespace, x: AnyArray, gamma: AnyArray, beta: AnyArray, /) -> Array:
    """``x * gamma + beta``, elementwise; one new array instead of two."""
    return x * gamma + beta


def _normalized_rule(
    xp: Namespace, gy: Array, x: Array, gamma: Array, mean: Array, inverse: Array, axis: Axes, eps: float
) -> Array:
    direction = xp.standardize(x, mean, inverse, axis=axis, eps=eps)
    return xp.standardize_backward(gy * gamma, direction, xp.inverse_std(x, inverse, axis=axis, eps=eps), axis=axis)


def _normalized_gamma_rule(
    xp: Namespace, gy: Array, x: Array, gamma_spec: Spec, mean: Array, inverse: Array, axis: Axes, eps: float
) -> Array:
    return xp.sum_to(gy * xp.standardize(x, mean, inverse, axis=axis, eps=eps), shape=gamma_spec.shape)


@primitive(
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
        the recomputation of a checkpoint. An array is written to; a Variable gets a new array, which also works for
        libraries with read-only arrays.
    decay : float
        Weight of the previous moving averages.
    axis : int or sequence of int, optional
        The axes over which mean and variance are taken. By default axis 0 and those after the axes of `gamma`, which
        are axis 1 and the following ones of `x`.

    Returns
    -------
    Variable, shape of `x`

    Raises
    ------
    InvalidType
        Shapes do not fit, or a dtype is not real floating-point.
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
    axes = _axes(name, spec, known_spec(gamma, name), axis)
    shape = _per_feature(name, spec, axes, gamma=gamma, beta=beta)
    running_mean, running_var = _within(running_mean), _within(running_var)
    for averages, which in (running_mean, "running_mean"), (running_var, "running_var"):
        if averages is not None:
            _check_averages(name, spec, averages, which, gamma)
    mean, var, inverse = _statistics(x, spec, axes, eps)
    gamma, beta = reshape(gamma, shape=shape), reshape(beta, shape=shape)
    y = normalized(x, gamma, beta, mean, inverse, axis=axes, eps=eps)
    if config.train and not config.in_recomputing:
        count = reduced_count(spec, axes)
        for averages, latest, factor in (running_mean, mean, 1.0), (running_var, var, count / max(count - 1.0, 1.0)):
            if averages is not None:
                _update(averages, latest, factor, decay)
    return y


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

    Raises
    ------
    InvalidType
        Shapes do not fit, or a dtype is not real floating-point.
    ValueError
        An axis is given twice or is out of range.
    """
    name = "fixed_batch_normalization"
    spec = real_floating(x, name)
    axes = _axes(name, spec, known_spec(gamma, name), axis)
    shape = _per_feature(name, spec, axes, gamma=gamma, beta=beta, mean=mean, var=var)
    gamma, beta, mean, var = (reshape(v, shape=shape) for v in (gamma, beta, mean, var))
    return (as_variable(x) - mean) * (gamma / (var + eps) ** 0.5) + beta


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

    References
    ----------
    Ba, Kiros, Hinton: Layer normalization, 2016.
    """
    name = "layer_normalization"
    spec = real_floating(x, name)
    if spec.ndim != 2:
        raise invalid(name, "x of shape (N, D)", f"x is {spec!r}")
    _per_feature(name, spec, (0,), gamma=gamma, beta=beta)
    mean, _, inverse = _statistics(x, spec, (1,), eps)
    return normalized(x, gamma, beta, mean, inverse, axis=(1,), eps=eps)


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

    Raises
    ------
    InvalidType
        Shapes do not fit, or a dtype is not real floating-point.
    ValueError
        The channels cannot be cut into `groups` equal parts.

    References
    ----------
    Wu, He: Group normalization, 2018.
    """
    name = "group_normalization"
    spec = real_floating(x, name)
    if spec.ndim < 2:
        raise invalid(name, "x of shape (N, C, ...)", f"x is {spec!r}")
    shape = _per_feature(name, spec, (0, *range(2, spec.ndim)), gamma=gamma, beta=beta)
    if not isinstance(groups, WHOLE):
        raise TypeError(f"{name}: expected groups to be an int, got {type(groups).__name__}")
    if groups < 1 or spec.shape[1] % groups:
        raise ValueError(f"{name}: {spec.shape[1]} channels cannot be split into {groups} equal groups")
    rows = (spec.shape[0] * groups, spec.size // (spec.shape[0] * groups or 1))
    flat = reshape(x, shape=rows)
    mean, _, inverse = _statistics(flat, flat.node.spec, (1,), eps)
    y = reshape(standardize(flat, mean, inverse, axis=(1,), eps=eps), shape=spec.shape)
    return scale_and_shift(y, reshape(gamma, shape=shape), reshape(beta, shape=shape))


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
    x, along = as_variable(x), axis if isinstance(axis, WHOLE) else tuple(axis)
    return x / (linalg.vector_norm(x, axis=along, keepdims=True) + eps)


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
    x, half, channels = as_variable(x), n // 2, spec.shape[1]
    rest = spec.size // (spec.shape[0] * channels or 1)
    size, ones = (channels, rest), (1, 1)
    geometry = Geometry(size, (2 * half + 1, 1), ones, (half, 0), ones, size)
    squares = reshape(square(x), shape=(spec.shape[0], 1, *size))
    total = reshape(sum_pool(squares, geometry=geometry), shape=spec.shape)
    return x * (k + alpha * total) ** -beta


def _axes(function: str, spec: Spec, gamma: Spec, axis: int | Sequence[int] | None) -> Axes:
    """Return the axes over which statistics are taken, sorted."""
    if axis is None:
        return (0, *range(gamma.ndim + 1, spec.ndim))
    wanted = (axis,) if isinstance(axis, WHOLE) else tuple(axis)
    found = tuple(sorted(a % spec.ndim for a in wanted if -spec.ndim <= a < spec.ndim))
    if len(set(found)) < len(wanted):
        raise ValueError(f"{function}: expected different axes of an array with {spec.ndim} of them, got {axis}")
    return found


def _per_feature(function: str, spec: Spec, axes: Axes, **features: Any) -> Shape:
    """Return the shape in which arrays with one element for each feature broadcast with `x`, after a check."""
    shape = tuple(n for i, n in enumerate(spec.shape) if i not in axes)
    for name, x in features.items():
        found = require_real_floating(known_spec(x, function), function, name)
        if found.shape != shape or not spec.ndim:
            raise invalid(function, f"{name} of shape {shape}, as x is {spec!r}", f"{name} is {found!r}")
    return kept_shape(spec, axes)


def _check_averages(function: str, spec: Spec, averages: Any, name: str, gamma: Any) -> None:
    found = require_real_floating(known_spec(averages, function), function, name)
    expected = known_spec(gamma, function).shape
    if found.shape != expected or found.backend is not spec.backend or found.device != spec.device:
        expect = f"{name} of shape {expected} where x is, on {spec.backend.device_for(spec.device)}"
        actual = f"{name} is {found!r} on {found.backend.device_for(found.device)}"
        raise invalid(function, expect, actual)
    if found.backend.immutable and not isinstance(averages, Variable):
        raise TypeError(
            f"{function}: {name} is an array of {found.backend.name}, which cannot be written to; give a Variable, "
            "which gets a new array"
        )


def _within(averages: Any) -> Any:
    """Return an array or a Variable as one of the innermost active transformation, or None."""
    return averages if averages is None else inside(averages) if isinstance(averages, Variable) else entered(averages)


def _update(averages: Any, latest: Array, factor: float, decay: float) -> None:
    """Update moving averages with ``latest * factor``."""
    array = as_array(averages)
    backend = plugins.backend_of(array)
    moved = backend.restore(backend.follow(_moved)(backend.xp, array, latest, factor, decay))
    if isinstance(averages, Variable):
        averages.array = moved
    else:
        backend.follow(operator.setitem)(array, ..., moved)


def _moved(xp: Namespace, array: Array, latest: Array, factor: float, decay: float) -> Array:
    moved = array * decay + xp.reshape(latest, shape=array.shape) * (factor * (1.0 - decay))
    return xp.astype(moved, array.dtype)
