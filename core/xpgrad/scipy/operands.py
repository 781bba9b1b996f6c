"""Operands of SciPy's functions, and SciPy's own functions for arrays of NumPy."""

import functools
import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad import array_api as xpa
from xpgrad.array_api.linalg.checks import readable
from xpgrad.array_api.shared.axes import checked_axes
from xpgrad.backend.indexing import at_axis
from xpgrad.backend.levels import innermost
from xpgrad.backend.plugins import plugins
from xpgrad.errors import DtypeError
from xpgrad.graph.operands import as_variables, is_operand
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.transforms.vectors import placed
from xpgrad.types import Array


def inexact(x: Any, function: str) -> Variable:
    """Return an operand as a Variable of floating-point numbers; integers are converted to the default dtype."""
    found = as_variable(x)
    spec = found.node.spec
    if spec.differentiable:
        return found
    if not spec.backend.namespace.isdtype(spec.dtype, "integral"):
        raise DtypeError(f"{function}: expected numbers, got {spec!r}")
    return xpa.astype(found, spec.backend.default_dtype("float"))


def beside(x: Variable, value: Any, name: str) -> Variable:
    """Return a number, an array or a nested sequence of them as a Variable in the library and on the device of `x`."""
    if is_operand(value) and not isinstance(value, (int, float)):
        return as_variables(name, x, value)[1]
    if isinstance(value, (list, tuple)) and not _is_numbers(value):
        return xpa.stack([beside(x, each, name) for each in value])
    return from_host(x, value)


def _is_numbers(value: Any) -> bool:
    """Return whether a nested sequence has only Python's numbers."""
    return all(_is_numbers(x) if isinstance(x, (list, tuple)) else isinstance(x, (int, float)) for x in value)


def root(x: Variable) -> Variable:
    """Return square roots, with the derivative 0 at 0."""
    apart = x != 0
    return xpa.where(apart, xpa.sqrt(xpa.where(apart, x, 1.0)), 0.0)


def from_host(x: Variable, values: Any) -> Variable:
    """Return numbers of the host as a constant in the library, on the device and in the dtype of `x`."""
    host = plugins.host
    array = host.asarray(values, host.namespace.float64)
    return constant_variable(placed(array, x.node.spec, x.device, shape=tuple(array.shape)))


def known(x: Variable) -> bool:
    """Return whether the values of `x` can be read now: not under a transformation, nor if they are computed later."""
    return innermost() is None and readable(x._array, x.node.spec)


def real_part_of(x: Variable) -> Variable:
    """Return the real part of a complex `x`, else `x`."""
    return xpa.real(x) if x.node.spec.complex else x


def integers_beside(x: Variable, start: int, stop: int) -> Variable:
    """Return the integers from `start` to `stop`, exclusive, for indices."""
    spec = x.node.spec
    return constant_variable(spec.backend.namespace.arange(start, stop, device=spec.device))


def numbers_beside(x: Variable, start: int, stop: int) -> Variable:
    """Return the integers from `start` to `stop`, exclusive, in the dtype of the real parts of `x`."""
    real = real_part_of(x).node.spec
    return constant_variable(real.backend.namespace.arange(start, stop, dtype=real.dtype, device=real.device))


def zeros_beside(x: Variable, shape: tuple[int, ...]) -> Variable:
    """Return zeros in the dtype of `x`."""
    spec = x.node.spec
    return constant_variable(spec.backend.namespace.zeros(shape, dtype=spec.dtype, device=spec.device))


def eye_beside(x: Variable, rows: int, columns: int | None = None) -> Variable:
    """Return an identity matrix in the library, on the device and in the dtype of `x`."""
    spec = x.node.spec
    return constant_variable(spec.backend.namespace.eye(rows, columns, dtype=spec.dtype, device=spec.device))


def one_axis(axis: int, x: Variable, function: str) -> int:
    """Return an axis of `x` that is not negative."""
    return checked_axes(axis, x.ndim, function)[0]


def padded(x: Variable, axis: int, before: int, after: int) -> Variable:
    """Return `x` with zeros before and after it along an axis."""
    parts = [x]
    for place, count in (0, before), (2, after):
        if count:
            shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
            parts.insert(place, zeros_beside(x, shape))
    return xpa.concat(parts, axis=axis) if len(parts) > 1 else x


def resized(x: Variable, axis: int, count: int) -> Variable:
    """Return `x` with `count` elements along an axis, cut off at the end or followed by zeros."""
    n = x.shape[axis]
    if count <= n:
        return x if count == n else x[at_axis(axis, slice(0, count))]
    return padded(x, axis, 0, count - n)


@functools.cache
def _module(name: str) -> Any:
    """Return a module of SciPy, or None if SciPy is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != "scipy":
            raise
        return None


def reference(module: str, name: str, *xs: Array) -> Callable[..., Any] | None:
    """Return SciPy's function, or None if it is absent, or an array is empty or of a library other than NumPy."""
    host = plugins.host
    if any(0 in x.shape or plugins.backend_of(x) is not host for x in xs):
        return None
    return getattr(_module(module), name, None)


def by_matrix(function: Callable[..., Sequence[Array]], xs: Sequence[Array], ndims: Sequence[int]) -> list[Array]:
    """Return the results of `function` for each member of stacks, stacked; `xs[i]` has members with `ndims[i]` axes."""
    xp: Any = plugins.host.namespace
    leads = [tuple(x.shape[: x.ndim - n]) for x, n in zip(xs, ndims, strict=True)]
    lead = xp.broadcast_shapes(*leads)
    if not lead:
        return list(function(*xs))
    stacks = [
        xp.reshape(xp.broadcast_to(x, lead + tuple(x.shape[x.ndim - n :])), (-1, *x.shape[x.ndim - n :]))
        for x, n in zip(xs, ndims, strict=True)
    ]
    results = [function(*(x[i] for x in stacks)) for i in range(math.prod(lead))]
    return [xp.reshape(xp.stack(ys), lead + tuple(ys[0].shape)) for ys in zip(*results, strict=True)]


def required(module: str, function: str) -> Any:
    """Return a module of SciPy, which `function` needs for constants such as windows."""
    found = _module(module)
    if found is None:
        raise ImportError(f"{function}: needs SciPy, which is not installed; pip install scipy")
    return found
