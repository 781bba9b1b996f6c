"""Indexing by compiled functions, because indexing of jax.numpy takes half a millisecond uncompiled.

Blocks and integer arrays go through compiled functions, one for each pattern of an index; where a block begins and
which elements are selected are arguments. For an index out of range, jax takes the nearest element. So integers are
checked here, and numbers in arrays in debug mode only, because reading them waits for the device. Gradients of
such elements are added where the elements were taken. jax's `take` gives NaN.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import Tracer

from xpgrad.plugin import Spec, block, config
from xpgrad.types import Array, Dtype, Index, Kernel, Shape
from xpgrad_jax import namespace
from xpgrad_jax.places import placement

Pattern = tuple[Any, ...]
ARRAY, ALL = "array", "all"


def getitem(x: Array, /, index: Index) -> Array:
    """Elements of `x` at `index`."""
    items = index if type(index) is tuple else (index,)
    _check_integers(items, x)
    if config.debug:
        _check_arrays(items, x)
    if _traced(x, *items):
        return x[index]
    found = block(index, x.shape)
    if found is not None:
        shape, ranges = found
        starts, lengths = _starts(ranges), tuple(stop - start for start, stop in ranges)
        return _block_taken(x, starts, lengths=lengths, shape=shape)
    parts = _pattern(items)
    return x[index] if parts is None else _taken(x, parts[1], pattern=parts[0])


def setitem(x: Array, u: Any, /, index: Index) -> Any:
    """Copy of `x` with `u` at `index`; declines an index with arrays, whose positions may repeat."""
    items = index if type(index) is tuple else (index,)
    _check_integers(items, x)
    if config.debug:
        _check_arrays(items, x)
    found = block(index, x.shape)
    if found is None or _traced(x, u, *items) or len(getattr(u, "shape", ())) > len(found[0]):
        return NotImplemented
    shape, ranges = found
    return _block_written(x, u, _starts(ranges), lengths=tuple(stop - start for start, stop in ranges), shape=shape)


def take(x: Array, indices: Array, /, axis: int | None = None) -> Array:
    """Elements of `x` at positions along one axis."""
    if axis is None and x.ndim != 1:  # JAX flattens it
        raise ValueError(f"axis= is needed for an array of {x.ndim} axes")
    if config.debug:
        _check_range(indices, x.shape[axis or 0])
    return namespace.take(x, indices, axis=axis)


def take_along_axis(x: Array, indices: Array, /, axis: int = -1) -> Array:
    """Elements of `x` at positions along one axis, with separate positions for each line."""
    if config.debug:
        _check_range(indices, x.shape[axis])
    return namespace.take_along_axis(x, indices, axis=axis)


KERNELS: dict[str, Kernel] = {
    "getitem": getitem, "setitem": setitem, "take": take, "take_along_axis": take_along_axis,
}  # fmt: skip


def scatter_add(spec: Spec, parts: list[tuple[Index, Array]], /) -> Array:
    """Zeros of `spec` with every value added at its index; repeated positions accumulate."""
    total = None
    for index, values in parts:
        found = block(index, spec.shape)
        items = index if type(index) is tuple else (index,)
        if config.debug:
            _check_arrays(items, spec)
        if found is not None:
            lengths = tuple(stop - start for start, stop in found[1])
            made = _block_laid(values, _starts(found[1]), lengths=lengths, shape=spec.shape, dtype=spec.dtype)
            total = made if total is None else total + made
            continue
        if total is None:
            total = _zeros(spec)
        pattern = None if _traced(total, values, *items) else _pattern(items)
        if pattern is None:
            total = total.at[index].add(values.astype(spec.dtype), mode="clip")
        else:
            total = _added(total, pattern[1], values, pattern=pattern[0])
    return _zeros(spec) if total is None else total


def _zeros(spec: Spec) -> Array:
    return jnp.zeros(spec.shape, spec.dtype, device=placement(spec.device))


# Compiled, once for each shape


@functools.partial(jax.jit, static_argnames=("lengths", "shape"))
def _block_taken(x: Array, starts: Any, *, lengths: Shape, shape: Shape) -> Array:
    return jnp.reshape(lax.dynamic_slice(x, starts, lengths), shape)


@functools.partial(jax.jit, static_argnames=("lengths", "shape"))
def _block_written(x: Array, u: Any, starts: Any, *, lengths: Shape, shape: Shape) -> Array:
    block = jnp.broadcast_to(jnp.asarray(u, x.dtype), shape)
    return lax.dynamic_update_slice(x, jnp.reshape(block, lengths), starts)


@functools.partial(jax.jit, static_argnames=("lengths", "shape", "dtype"))
def _block_laid(values: Array, starts: Any, *, lengths: Shape, shape: Shape, dtype: Dtype) -> Array:
    block = jnp.reshape(values.astype(dtype), lengths)
    return lax.dynamic_update_slice(jnp.zeros(shape, dtype), block, starts)


@functools.partial(jax.jit, static_argnames=("pattern",))
def _taken(x: Array, given: list[Any], *, pattern: Pattern) -> Array:
    try:
        return x[_index(pattern, given)]
    except TypeError as error:
        if x.size:
            raise
        raise IndexError(f"expected no positions along an axis of length 0, got some into shape {x.shape}") from error


@functools.partial(jax.jit, static_argnames=("pattern",))
def _added(total: Array, given: list[Any], values: Array, *, pattern: Pattern) -> Array:
    return total.at[_index(pattern, given)].add(values.astype(total.dtype), mode="clip")


# Patterns


def _pattern(items: tuple[Any, ...]) -> tuple[Pattern, list[Any]] | None:
    """Return an index as a hashable pattern, with its arrays and integers; None if its shape is unknown."""
    pattern: list[Any] = []
    given = []
    for item in items:
        if isinstance(item, slice):
            pattern.append(("slice", item.start, item.stop, item.step))
        elif item is None or item is Ellipsis:
            pattern.append(item)
        elif isinstance(item, bool) or _is_mask(item):
            return None
        else:
            pattern.append(ARRAY)
            given.append(item)
    return tuple(pattern), given


def _index(pattern: Pattern, given: list[Any]) -> Index:
    rest = iter(given)
    return tuple(
        next(rest) if part == ARRAY else slice(*part[1:]) if isinstance(part, tuple) else part for part in pattern
    )


def _starts(ranges: list[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(start for start, _ in ranges)


def _traced(*values: Any) -> bool:
    return any(isinstance(value, Tracer) for value in values)


def _is_mask(item: Any) -> bool:
    return str(getattr(item, "dtype", "")) == "bool"


# Out of range


def _axes_of(item: Any) -> int:
    """Return the number of axes that an item of an index takes."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.ndim if _is_mask(item) else 1


def _axes(items: tuple[Any, ...], x: Array | Spec) -> list[int]:
    """Return the first axis of `x` that each item of an index takes."""
    left, axes, axis = x.ndim - sum(map(_axes_of, items)), [], 0
    for item in items:
        axes.append(axis)
        axis += left if item is Ellipsis else _axes_of(item)
    return axes


def _check_integers(items: tuple[Any, ...], x: Array) -> None:
    """Raise `IndexError` if there are too many indices, or an integer is out of range."""
    if all(type(item) is not int for item in items):
        return
    for item, axis in zip(items, _axes(items, x), strict=True):
        if type(item) is int and axis < x.ndim and not -x.shape[axis] <= item < x.shape[axis]:
            raise IndexError(f"index {item} is out of range for an axis of length {x.shape[axis]}")


def _check_arrays(items: tuple[Any, ...], x: Array | Spec) -> None:
    for item, axis in zip(items, _axes(items, x), strict=True):
        if hasattr(item, "dtype") and not _is_mask(item) and axis < x.ndim:
            _check_range(item, x.shape[axis])


def _check_range(places: Array, length: int) -> None:
    """Raise `IndexError` unless all numbers are from ``-length`` to ``length - 1``; this waits for the device."""
    if not _traced(places) and bool(jnp.any((places >= length) | (places < -length))):
        raise IndexError(f"an index array has numbers that are out of range for an axis of length {length}")
