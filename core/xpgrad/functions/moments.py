"""Mean and variance of batches and layers, and their moving averages."""

import operator
from collections.abc import Sequence
from typing import Any

from xpgrad.array_api.shared.axes import kept_shape
from xpgrad.backend.kernels import kernel
from xpgrad.backend.levels import entered, innermost_backend
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.config import config
from xpgrad.errors import ShapeError
from xpgrad.functions.checks import invalid, known_spec, real_number, require_real_floating
from xpgrad.graph.assignments import journal
from xpgrad.graph.variable import Variable, as_array, inside
from xpgrad.types import WHOLE, Array, Namespace, Shape, integers

Axes = tuple[int, ...]


@kernel(arrays=1, parameters=("axis",))
def moments(xp: Namespace, x: Array, /, axis: Axes) -> tuple[Array, Array]:
    """Return mean and variance over `axis`, which stays with length 1."""
    return xp.mean(x, axis=axis, keepdims=True), xp.var(x, axis=axis, keepdims=True)


def statistics(x: Any, function: str, axis: Axes, eps: float) -> tuple[Array, Array, Array]:
    """Return mean, variance and ``1 / sqrt(var + eps)`` of `x` over `axis`, which stays with length 1.

    Mean and variance of empty arrays are 0, so that the gradients of factors and shifts are 0.
    """
    if isinstance(eps, Variable):
        raise TypeError("normalization: eps must be a number, not a Variable: it has no gradient")
    real_number(eps, function, "eps")
    spec = known_spec(x, function)
    xp = spec.backend.xp
    if spec.size:
        mean, var = xp.moments(as_array(x), axis=axis)
    else:
        mean = var = xp.sum(as_array(x), axis=axis, keepdims=True)
    return mean, var, xp.reciprocal(xp.sqrt(xp.add(var, eps)))


def batch_axes(function: str, spec: Spec, gamma: Spec, axis: int | Sequence[int] | None) -> Axes:
    """Return the axes over which statistics are taken, sorted."""
    if axis is None:
        return (0, *range(gamma.ndim + 1, spec.ndim))
    wanted = integers(axis)
    found = tuple(sorted(a % spec.ndim for a in wanted if -spec.ndim <= a < spec.ndim))
    if len(set(found)) < len(wanted):
        raise ValueError(f"{function}: expected different axes of an array with {spec.ndim} axes, got {axis}")
    return found


def group_size(function: str, spec: Spec, groups: int) -> int:
    """Return the number of channels of one of `groups` equal groups."""
    if spec.ndim < 2:
        raise invalid(function, "x of shape (N, C, ...)", f"x is {spec!r}")
    if not isinstance(groups, WHOLE):
        raise TypeError(f"{function}: expected groups to be an int, got {type(groups).__name__}")
    if groups < 1 or spec.shape[1] % groups:
        raise ShapeError(f"{function}: {spec.shape[1]} channels cannot be split into {groups} equal groups")
    return spec.shape[1] // groups


def per_feature(function: str, spec: Spec, axes: Axes, **features: Any) -> Shape:
    """Return the shape in which arrays with one element for each feature broadcast with `x`, after a check."""
    shape = tuple(n for i, n in enumerate(spec.shape) if i not in axes)
    for name, x in features.items():
        found = require_real_floating(known_spec(x, function), function, name)
        if found.shape != shape or not spec.ndim:
            raise invalid(function, f"{name} of shape {shape}, as x is {spec!r}", f"{name} is {found!r}")
    return kept_shape(spec, axes)


def moving(function: str, spec: Spec, averages: Any, name: str, shape: Shape, *, updated: bool = True) -> Any:
    """Return moving averages, checked, as an array or a Variable of the innermost active transformation, or None."""
    if averages is None:
        return None
    averages = inside(averages) if isinstance(averages, Variable) else entered(averages)
    found = require_real_floating(known_spec(averages, function), function, name)
    if found.shape != shape or found.backend is not innermost_backend(spec.backend) or found.device != spec.device:
        expect = f"{name} of shape {shape} where x is, on {spec.backend.device_for(spec.device)}"
        actual = f"{name} is {found!r} on {found.backend.device_for(found.device)}"
        raise invalid(function, expect, actual)
    if updated and found.backend.immutable and not isinstance(averages, Variable):
        raise TypeError(
            f"{function}: {name} is an array of {found.backend.name}, which cannot be written to; give a Variable, "
            "which gets a new array"
        )
    return averages


def update(decay: float, count: float, *latest: tuple[Any, Array, float]) -> None:
    """Update moving averages, which may be None, with arrays times factors, if `config.train` is True.

    `count` is the number of elements in the statistics; if it is 0, there is no update.
    """
    if not config.train or config.in_recomputing or not count:
        return
    for averages, array, factor in latest:
        if averages is not None:
            _update(averages, array, factor, decay)


def unbiased(count: float) -> float:
    """Return the factor from the variance of `count` elements to an unbiased estimate, with at least 1 as divisor."""
    return count / max(count - 1.0, 1.0)


def _update(averages: Any, latest: Array, factor: float, decay: float) -> None:
    array = as_array(averages)
    backend = plugins.backend_of(array)
    moved = backend.restore(backend.follow(_moved)(backend.xp, array, latest, factor, decay))
    if isinstance(averages, Variable):
        averages.array = moved
    else:
        if (noted := journal.get()) is not None:
            noted.keep(array)
        backend.follow(operator.setitem)(array, ..., moved)


def _moved(xp: Namespace, array: Array, latest: Array, factor: float, decay: float) -> Array:
    moved = array * decay + xp.reshape(latest, shape=array.shape) * (factor * (1.0 - decay))
    return xp.astype(moved, array.dtype)
