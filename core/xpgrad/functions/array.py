"""Changing shape, order, dtype and device of arrays, under Chainer's names and with its defaults."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, overload

from xpgrad import array_api
from xpgrad.array_api import unstack
from xpgrad.array_api.shared import copying
from xpgrad.errors import ShapeError
from xpgrad.functions.arguments import named
from xpgrad.functions.checks import integral, invalid, known_spec, require_axis
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.types import WHOLE, AnyArray, Dtype, Index, Shape, integers

__all__ = [
    "as_strided", "broadcast", "broadcast_to", "cast", "concat", "copy", "dstack", "expand_dims", "flatten", "flip",
    "fliplr", "flipud", "get_item", "hstack", "moveaxis", "repeat", "reshape", "rollaxis", "select_item", "separate",
    "split_axis", "squeeze", "stack", "swapaxes", "tile", "transpose", "vstack", "where",
]  # fmt: skip

moveaxis = named(array_api.moveaxis, "moveaxis", "x", "source", "destination")
reshape = named(array_api.reshape, "reshape", "x", "shape")
where = named(array_api.where, "where", "condition", "x", "y")


def as_strided(x: AnyArray, shape: Shape, strides: Sequence[int], storage_offset: int | None = None) -> Variable:
    """Return the elements of `x` at regular distances, numbered in row-major order.

    Parameters
    ----------
    x : Variable or array
    shape : tuple of int
        Shape of the result.
    strides : tuple of int
        Distances of neighbours along each axis of the result, in elements; they may be 0 or negative.
    storage_offset : int, optional
        Number of the first element of the result, by default 0: how an array lies in memory does not matter.

    Returns
    -------
    Variable
        A copy. Elements that occur more than once get the sum of the gradients.

    Raises
    ------
    ValueError
        `shape` and `strides` have different lengths, or an element at one of these positions does not exist.
    """
    x, start = as_variable(x), storage_offset or 0
    lengths, steps = integers(shape), integers(strides)
    if len(lengths) != len(steps) or min(lengths, default=0) < 0:
        raise ValueError(f"as_strided: expected a shape and as many strides, got {shape!r} and {strides!r}")
    spec = x.node.spec
    ends = [(n - 1) * step for n, step in zip(lengths, steps, strict=True)]
    least, most = (start + sum(choose(0, end) for end in ends) for choose in (min, max))
    if 0 not in lengths and (least < 0 or most >= spec.size):
        raise ValueError(f"as_strided: expected elements 0 to {spec.size - 1} of x, got {least} to {most}")
    xp = spec.backend.namespace
    places = constant_variable(xp.full((1,) * len(lengths), start, dtype=spec.backend.default_dtype("int"),
                                       device=spec.device))  # fmt: skip
    for axis, (n, step) in enumerate(zip(lengths, steps, strict=True)):
        along = constant_variable(xp.arange(n, dtype=places.dtype, device=spec.device))
        places = places + step * array_api.reshape(along, shape=(-1, *(1,) * (len(lengths) - 1 - axis)))
    return array_api.reshape(array_api.take(flatten(x), flatten(places), axis=0), shape=lengths)


@overload
def broadcast(x: AnyArray, /) -> Variable: ...


@overload
def broadcast(x1: AnyArray, x2: AnyArray, /, *args: AnyArray) -> tuple[Variable, ...]: ...


def broadcast(*args: AnyArray) -> Any:
    """Broadcast the arrays against each other: a tuple of Variables, or one array as a Variable."""
    return as_variable(args[0]) if len(args) == 1 else array_api.broadcast_arrays(*args)


def broadcast_to(x: AnyArray, shape: Shape) -> Variable:
    """Broadcast `x` to `shape`."""
    return array_api.broadcast_to(x, shape=integers(shape))


def cast(x: AnyArray, typ: Dtype) -> Variable:
    """Return `x` in the dtype `typ`, of any library or by name ("float32" or "f"); `x` unchanged if it has `typ`."""
    return array_api.astype(x, typ, copy=False)


def concat(xs: Sequence[AnyArray], axis: int = 1) -> Variable:
    """Concatenate the arrays `xs` along `axis`."""
    return array_api.concat(xs, axis=axis)


def copy(x: AnyArray, dst: Any = None) -> Variable:
    """Return a copy of `x` on the device `dst` (by default its own), through which gradients pass.

    Parameters
    ----------
    x : Variable or array
    dst : as `xpgrad.get_device` takes it
        -1 is the host.
    """
    return copying.copy(x, dst)


def expand_dims(x: AnyArray, axis: int) -> Variable:
    """Return `x` with an additional axis of length 1 at the position `axis`."""
    return array_api.expand_dims(x, axis=axis)


def flatten(x: AnyArray) -> Variable:
    """Return `x` reshaped to one axis."""
    return array_api.reshape(x, shape=(-1,))


def flip(x: AnyArray, axis: int) -> Variable:
    """Return `x` in reverse order along `axis`."""
    return array_api.flip(x, axis=axis)


def fliplr(a: AnyArray) -> Variable:
    """Return `a` in reverse order along axis 1."""
    return flip(a, 1)


def flipud(a: AnyArray) -> Variable:
    """Return `a` in reverse order along axis 0."""
    return flip(a, 0)


def get_item(x: AnyArray, slices: Index) -> Variable:
    """Return ``x[slices]``; gradients of repeated positions are added up."""
    return as_variable(x)[slices]


def hstack(xs: Sequence[AnyArray]) -> Variable:
    """Concatenate the arrays `xs` along axis 1, vectors along axis 0."""
    xs = [_at_least(x, 1) for x in xs]
    return concat(xs, 0 if not xs or xs[0].ndim == 1 else 1)


def vstack(xs: Sequence[AnyArray]) -> Variable:
    """Concatenate the arrays `xs` along axis 0; vectors become rows first."""
    return concat([_at_least(x, 2) for x in xs], 0)


def dstack(xs: Sequence[AnyArray]) -> Variable:
    """Concatenate the arrays `xs` along axis 2, after vectors became rows and matrices got that axis."""
    rows = [_at_least(x, 2) for x in xs]
    return concat([expand_dims(x, 2) if x.ndim == 2 else x for x in rows], 2)


def _at_least(x: Any, ndim: int) -> Variable:
    """Return `x` with leading axes of length 1, so that it has at least `ndim` axes."""
    v = as_variable(x)
    if v.ndim >= ndim:
        return v
    return array_api.reshape(v, shape=(1,) * (ndim - v.ndim) + v.shape)


def repeat(x: AnyArray, repeats: int | Sequence[int], axis: int | None = None) -> Variable:
    """Return `x` with its elements repeated.

    Parameters
    ----------
    x : Variable or array
    repeats : int, or tuple of int
        Number of repetitions, for all elements or for each position along `axis`.
    axis : int or None
        None repeats the elements of the flattened array.

    Raises
    ------
    ValueError
        `repeats` is negative, or is neither one number nor one for each position.
    """
    counts = integers(repeats)
    x = array_api.reshape(x, shape=(-1,)) if axis is None else as_variable(x)
    axis = require_axis(x.node.spec, 0 if axis is None else axis, "repeat")
    length = x.shape[axis]
    if min(counts, default=0) < 0 or len(counts) not in (1, length):
        raise ValueError(f"repeat: expected repeats to be an int or {length} ints, each at least 0, got {repeats!r}")
    if len(counts) == 1:
        return array_api.repeat(x, counts[0], axis=axis)
    spec = x.node.spec
    places = [place for place, count in enumerate(counts) for _ in range(count)]  # known even if values are traced
    indices = spec.backend.asarray(places, dtype=spec.backend.default_dtype("int"), device=spec.device)
    return array_api.take(x, indices, axis=axis)


def rollaxis(x: AnyArray, axis: int, start: int = 0) -> Variable:
    """Return `x` with `axis` moved to the position before the axis `start`."""
    axis = require_axis(known_spec(x, "rollaxis"), axis, "rollaxis")
    start = start if start == len(x.shape) else require_axis(known_spec(x, "rollaxis"), start, "rollaxis")
    return moveaxis(x, axis, start - 1 if axis < start else start)


def select_item(x: AnyArray, t: AnyArray) -> Variable:
    """Return from each row of `x` the element with the index in `t`.

    Parameters
    ----------
    x : Variable or array, shape (N, C)
    t : Variable or array, shape (N,), integer

    Returns
    -------
    Variable, shape (N,)
    """
    spec, labels = known_spec(x, "select_item"), integral(t, "select_item")
    if spec.ndim != 2 or labels.shape != spec.shape[:1]:
        raise invalid("select_item", "x of shape (N, C) and t of shape (N,)", f"x is {spec!r}, t is {labels!r}")
    y = array_api.take_along_axis(x, array_api.reshape(t, shape=(-1, 1)).array, axis=1)
    return array_api.reshape(y, shape=(-1,))


def separate(x: AnyArray, axis: int = 0) -> tuple[Variable, ...]:
    """Return the subarrays of `x` along `axis`, without that axis."""
    return unstack(x, axis=axis)


def split_axis(
    x: AnyArray, indices_or_sections: int | Sequence[int], axis: int, force_tuple: bool = True
) -> tuple[Variable, ...] | Variable:
    """Split `x` along `axis`.

    Parameters
    ----------
    x : Variable or array
    indices_or_sections : int or sequence of int
        Number of equal parts, or the indices at which to cut; negative ones count from the end.
    axis : int
    force_tuple : bool
        False returns a single part without a tuple.

    Raises
    ------
    ShapeError
        The axis cannot be cut into that number of equal parts.
    """
    x = as_variable(x)
    axis = require_axis(x.node.spec, axis, "split_axis")
    length = x.shape[axis]
    if isinstance(indices_or_sections, WHOLE):
        if indices_or_sections < 1 or length % indices_or_sections:
            raise ShapeError(f"split_axis: {length} elements cannot be split into {indices_or_sections} equal parts")
        step = length // indices_or_sections
        cuts = [step * i for i in range(1, indices_or_sections)]
    else:
        cuts = [sorted((0, i + length * (i < 0), length))[1] for i in integers(indices_or_sections)]
    before = (slice(None),) * axis
    parts = tuple(x[(*before, slice(start, max(start, end)))] for start, end in pairwise([0, *cuts, length]))
    return parts if force_tuple or len(parts) > 1 else next(iter(parts))


def squeeze(x: AnyArray, axis: int | tuple[int, ...] | None = None) -> Variable:
    """Return `x` without the axes `axis`, by default without all axes of length 1."""
    return as_variable(x).squeeze(axis)


def stack(xs: Sequence[AnyArray], axis: int = 0) -> Variable:
    """Join the arrays `xs`, all of one shape, along a new axis."""
    return array_api.stack(xs, axis=axis)


def swapaxes(x: AnyArray, axis1: int, axis2: int) -> Variable:
    """Return `x` with the axes `axis1` and `axis2` swapped."""
    spec = known_spec(x, "swapaxes")
    order = list(range(spec.ndim))
    axis1, axis2 = (require_axis(spec, axis, "swapaxes") for axis in (axis1, axis2))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return array_api.permute_dims(x, axes=tuple(order))


def tile(x: AnyArray, reps: int | Sequence[int]) -> Variable:
    """Return `x` repeated as a whole `reps` times along each axis, the last entry for the last axis."""
    return array_api.tile(x, integers(reps))


def transpose(x: AnyArray, axes: Sequence[int] | None = None) -> Variable:
    """Return `x` with its axes in the order `axes`, by default reversed."""
    return as_variable(x).transpose(axes)
