"""Manipulation functions: reshape, reorder, join and split arrays."""

import functools
import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from xpgrad.array_api.shared.axes import Axes, checked_axes, reusable
from xpgrad.backend.checks import beside
from xpgrad.backend.indexing import at_axis
from xpgrad.backend.spec import Spec
from xpgrad.errors import ShapeError
from xpgrad.graph.operands import as_variables
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import WHOLE, AnyArray, Array, Namespace, Shape, integers


@primitive(linear=("x",), x=lambda xp, gy, x_spec: xp.reshape(gy, shape=x_spec.shape))
def reshape(xp: Namespace, x: AnyArray, /, shape: Shape, *, copy: bool | None = None) -> Array:
    """The same elements in another shape.

    Parameters
    ----------
    x : Variable or array
    shape : tuple of int
        One length may be -1, which is computed from the other lengths.
    copy : bool or None
        True always copies, False raises where a copy would be necessary.
    """
    return xp.reshape(x, shape) if copy is None else xp.reshape(x, shape, copy=copy)


@primitive(linear=("x",), x=lambda xp, gy, x_spec: xp.reshape(gy, shape=x_spec.shape))
def expand_dims(xp: Namespace, x: AnyArray, /, axis: Axes = 0) -> Array:
    """The array with a new axis of length 1 at each position `axis` of the result."""
    if isinstance(axis, WHOLE):
        return xp.expand_dims(x, axis=axis)
    for position in sorted(checked_axes(axis, x.ndim + len(axis), "expand_dims")):  # before 2025.12 it takes one only
        x = xp.expand_dims(x, axis=position)
    return x


@primitive(linear=("x",), x=lambda xp, gy, x_spec: xp.reshape(gy, shape=x_spec.shape))
def squeeze(xp: Namespace, x: AnyArray, /, axis: Axes) -> Array:
    """The array without the axes `axis`, which have length 1."""
    return xp.squeeze(x, axis=axis)


@functools.lru_cache(1024)
def _inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    forward = [a % len(axes) for a in axes]
    return tuple(sorted(range(len(forward)), key=forward.__getitem__))


@primitive(linear=("x",), x=lambda xp, gy, axes: xp.permute_dims(gy, axes=_inverse(tuple(map(int, axes)))))
def permute_dims(xp: Namespace, x: AnyArray, /, axes: Sequence[int]) -> Array:
    """The array with its axes in another order: axis i of the result is axis ``axes[i]`` of `x`."""
    return xp.permute_dims(x, tuple(axes))


def moveaxis(x: AnyArray, source: Axes, destination: Axes, /) -> Variable:
    """Return `x` with its axes `source` moved to the positions `destination`; the other axes keep their order."""
    ndim = len(x.shape)
    sources, destinations = checked_axes(source, ndim, "moveaxis"), checked_axes(destination, ndim, "moveaxis")
    if len(sources) != len(destinations):
        raise ShapeError(f"moveaxis: expected as many destinations as sources, got {source} and {destination}")
    order = [i for i in range(ndim) if i not in sources]
    for target, axis in sorted(zip(destinations, sources, strict=True)):
        order.insert(target, axis)
    return permute_dims(x, axes=tuple(order))


@primitive(linear=("x",), x=lambda xp, gy, axis: xp.flip(gy, axis=axis))
def flip(xp: Namespace, x: AnyArray, /, *, axis: Axes | None = None) -> Array:
    """The elements in reverse order along `axis`, by default along all axes."""
    return xp.flip(x, axis=reusable(axis))


def _roll_rule(xp: Namespace, gy: Array, shift: Axes, axis: Axes | None) -> Array:
    return xp.roll(gy, shift=-shift if isinstance(shift, WHOLE) else tuple(-s for s in shift), axis=axis)


def _shifts(shift: Axes, axis: Axes | None) -> Axes:
    """Return `shift` with a number for each of several axes; not every library applies one number to all of them."""
    numbers = integers(shift, "roll")
    if not isinstance(shift, WHOLE):
        return numbers
    return numbers[0] if axis is None or isinstance(axis, WHOLE) else numbers * len(axis)


@primitive(linear=("x",), x=_roll_rule)
def roll(xp: Namespace, x: AnyArray, /, shift: Axes, *, axis: Axes | None = None) -> Array:
    """The elements rolled along `axis`; those beyond the last position are put at the first.

    Parameters
    ----------
    x : Variable or array
    shift : int or tuple of int
        Number of places, for each axis of `axis`; one number counts for all axes.
    axis : int, tuple of int or None
        None rolls the flattened array, and restores the shape.
    """
    return xp.roll(x, _shifts(shift, axis := reusable(axis)), axis=axis)


def _concat_rule(xp: Namespace, gy: Array, specs: tuple[Spec, ...], axis: int | None) -> list[Array]:
    if axis is None:
        ends = list(accumulate(spec.size for spec in specs))
        return [xp.reshape(gy[end - s.size : end], shape=s.shape) for s, end in zip(specs, ends, strict=True)]
    axis = axis % specs[0].ndim
    ends = list(accumulate(spec.shape[axis] for spec in specs))
    return [gy[at_axis(axis, slice(end - s.shape[axis], end))] for s, end in zip(specs, ends, strict=True)]


@primitive(linear=("arrays",), variadic=True, arrays=_concat_rule)
def concat(xp: Namespace, arrays: Sequence[AnyArray], /, *, axis: int | None = 0) -> Array:
    """Concatenate arrays along an existing axis.

    Parameters
    ----------
    arrays : sequence of Variables or arrays
        Of the same shape except along `axis`.
    axis : int or None
        None flattens them first.
    """
    return xp.concat(arrays, axis=axis)


def _stack_rule(xp: Namespace, gy: Array, specs: tuple[Spec, ...], axis: int) -> list[Array]:
    along = axis % (specs[0].ndim + 1)
    return [gy[at_axis(along, i)] for i in range(len(specs))]


@primitive(linear=("arrays",), variadic=True, arrays=_stack_rule)
def stack(xp: Namespace, arrays: Sequence[AnyArray], /, *, axis: int = 0) -> Array:
    """Stack arrays of one shape along a new axis."""
    return xp.stack(arrays, axis=axis)


def unstack(x: AnyArray, /, *, axis: int = 0) -> tuple[Variable, ...]:
    """Return the slices of `x` along `axis`, without that axis."""
    x = as_variable(x)
    (along,) = checked_axes(axis, x.ndim, "unstack")
    return tuple(x[at_axis(along, i)] for i in range(x.shape[along]))


@primitive(linear=("x",), x=lambda xp, gy, x_spec: xp.sum_to(gy, shape=x_spec.shape))
def broadcast_to(xp: Namespace, x: AnyArray, /, shape: Shape) -> Array:
    """The array broadcast to `shape`."""
    return xp.broadcast_to(x, shape)


def broadcast_shapes(*shapes: Shape) -> Shape:
    """Return the shape to which arrays of these shapes broadcast."""
    ndim = max(map(len, shapes), default=0)
    result = [1] * ndim
    for shape in shapes:
        for place, length in enumerate(shape, ndim - len(shape)):
            if result[place] == 1:
                result[place] = length
            elif length not in (1, result[place]):
                raise ShapeError(f"broadcast_shapes: shapes do not broadcast; got {', '.join(map(str, shapes))}")
    return tuple(result)


def broadcast_arrays(*arrays: AnyArray) -> tuple[Variable, ...]:
    """Return the arrays, broadcast against each other."""
    xs = as_variables("broadcast_arrays", *arrays)
    shape = broadcast_shapes(*(x.shape for x in xs))
    return tuple(broadcast_to(x, shape=shape) for x in xs)


def _repeat_rule(xp: Namespace, gy: Array, x_spec: Spec, repeats: int, axis: int | None) -> Array:
    shape, along = (x_spec.shape, axis % x_spec.ndim) if axis is not None else ((x_spec.size,), 0)
    split = (*shape[: along + 1], repeats, *shape[along + 1 :])
    return xp.reshape(xp.sum(xp.reshape(gy, shape=split), axis=along + 1), shape=x_spec.shape)


@primitive(linear=("x",), label="repeat", x=_repeat_rule)
def _repeat(xp: Namespace, x: AnyArray, /, repeats: int, *, axis: int | None = None) -> Array:
    """Each element `repeats` times along `axis`."""
    return xp.repeat(x, repeats, axis=axis)


def repeat(x: AnyArray, repeats: Any, /, *, axis: int | None = None) -> Variable:
    """Return `x` with each of its elements repeated.

    Parameters
    ----------
    x : Variable or array
    repeats : int, or Variable or array of int
        Number of repetitions, for all elements or for each position along `axis`.
    axis : int or None
        None repeats the elements of the flattened array.
    """
    if isinstance(repeats, WHOLE):
        return _repeat(x, repeats=int(repeats), axis=None if axis in (0, -1) and not getattr(x, "ndim", 0) else axis)
    x = as_variable(x)
    if axis is None:
        x, axis = reshape(x, shape=(-1,)), 0
    (axis,) = checked_axes(axis, x.ndim, "repeat")
    backend = x.node.spec.backend
    places = backend.namespace.arange(x.shape[axis], device=backend.handle_of(x.array))
    counts = beside(x.node.spec, repeats, "repeat")
    if backend.is_kind(counts.dtype, "unsigned integer"):  # some libraries reject 64-bit counts
        counts = backend.xp.astype(counts, places.dtype)
    chosen = backend.xp.repeat(places, counts)
    return x[at_axis(axis, chosen)]


def tile(x: AnyArray, repetitions: Sequence[int], /) -> Variable:
    """Return `x` repeated along each axis as a whole.

    Parameters
    ----------
    x : Variable or array
    repetitions : tuple of int
        Number of copies along each axis, counted from the last axis.
    """
    x = as_variable(x)
    counts = (1,) * (x.ndim - len(repetitions)) + tuple(map(int, repetitions))
    shape = (1,) * (len(counts) - x.ndim) + x.shape
    split = reshape(x, shape=tuple(n for length in shape for n in (1, length)))
    wide = broadcast_to(split, shape=tuple(n for pair in zip(counts, shape, strict=True) for n in pair))
    return reshape(wide, shape=tuple(map(math.prod, zip(counts, shape, strict=True))))
