"""Windows on images of any number of axes: the gather and the sum that convolution and pooling are based on.

`windows` and `fold` are each other's gradients, as are `sum_pool` and `unpool`. All take a `Geometry`.
"""

import inspect
import math
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from xpgrad.array_api.shared.precision import narrowed, widened
from xpgrad.backend.geometry import Geometry, length_under, windows_along
from xpgrad.backend.spec import Spec
from xpgrad.errors import ShapeError
from xpgrad.functions.checks import invalid, known_spec
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import WHOLE, AnyArray, Array, Namespace, Shape, Size, integers

__all__ = ["im2col"]

MAX_ELEMENTS = 2**30
"""Elements of a window or of an image, above which a computation would not end."""
P = ParamSpec("P")
R = TypeVar("R")


@primitive(x=lambda xp, gy, geometry: xp.fold(gy, geometry=geometry))
def windows(xp: Namespace, x: Array, /, geometry: Geometry, fill: float = 0.0) -> Array:
    """Elements of the windows on images.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *geometry.size)
    geometry : Geometry
    fill : float
        Value of elements outside of the image.

    Returns
    -------
    Variable, shape (N, C, *geometry.ksize, *geometry.out)
    """
    after, count, device = geometry.behind, geometry.ndim, xp.device_of(x)
    for i in range(count):
        x = _extended(xp, x, 2 + i, geometry.pad[i], after[i], fill)
        inside = xp.arange(geometry.ksize[i], device=device)[:, None] * geometry.dilate[i]
        starts = xp.arange(geometry.out[i], device=device)[None, :] * geometry.stride[i]
        x = xp.take(x, xp.reshape(inside + starts, shape=(geometry.ksize[i] * geometry.out[i],)), axis=2 + i)
    pairs = [n for pair in zip(geometry.ksize, geometry.out, strict=True) for n in pair]
    x = xp.reshape(x, shape=(*x.shape[:2], *pairs))
    return xp.permute_dims(x, axes=(0, 1, *range(2, 2 + 2 * count, 2), *range(3, 3 + 2 * count, 2)))


@primitive(linear=("x",), x=lambda xp, gy, geometry: xp.windows(gy, geometry=geometry, fill=0.0))
def fold(xp: Namespace, x: Array, /, geometry: Geometry) -> Array:
    """Images with the elements of windows added in their places, without those outside.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *geometry.ksize, *geometry.out)
    geometry : Geometry

    Returns
    -------
    Variable, shape (N, C, *geometry.size)
    """
    count, spec = geometry.ndim, xp.spec_of(x)
    x = widened(xp, x, spec)
    x = xp.permute_dims(x, axes=(0, 1, *[a for i in range(count) for a in (2 + i, 2 + count + i)]))
    for i in range(count):  # the axis 2 + i numbers the elements of a window, the next axis the windows
        axis, ksize, stride, dilate = 2 + i, geometry.ksize[i], geometry.stride[i], geometry.dilate[i]
        before = (slice(None),) * axis
        total: Array = None
        for k in range(ksize):
            part = _stretched(xp, x[(*before, k, ...)], axis, stride)
            part = _extended(xp, part, axis, k * dilate, (ksize - 1 - k) * dilate)
            total = part if total is None else total + part
        end = geometry.pad[i] + geometry.size[i]
        x = _extended(xp, total, axis, 0, max(0, end - total.shape[axis]))
        x = x[(*before, slice(geometry.pad[i], end), ...)]
    return narrowed(xp, x, spec)


def _extended(xp: Namespace, x: Array, axis: int, before: int, after: int, fill: float = 0.0) -> Array:
    """Return `x` with `before` and `after` additional elements along `axis`."""
    parts = [x]
    for width, place in (before, 0), (after, 2):
        if width:
            shape = (*x.shape[:axis], width, *x.shape[axis + 1 :])
            parts.insert(place, xp.full(shape, fill, dtype=x.dtype, device=xp.device_of(x)))
    return xp.concat(parts, axis=axis) if len(parts) > 1 else x


def _stretched(xp: Namespace, x: Array, axis: int, stride: int) -> Array:
    """Return `x` with ``stride - 1`` zeros after each element along `axis`."""
    if stride == 1:
        return x
    shape = x.shape
    apart = _extended(xp, xp.reshape(x, shape=(*shape[: axis + 1], 1, *shape[axis + 1 :])), axis + 1, 0, stride - 1)
    return xp.reshape(apart, shape=(*shape[:axis], shape[axis] * stride, *shape[axis + 1 :]))


@primitive(linear=("x",), x=lambda xp, gy, geometry: xp.unpool(gy, geometry=geometry))
def sum_pool(xp: Namespace, x: Array, /, geometry: Geometry) -> Array:
    """Sums of the windows on images; from shape (N, C, *geometry.size) to (N, C, *geometry.out)."""
    return xp.sum(xp.windows(x, geometry=geometry, fill=0.0), axis=geometry.within)


@primitive(linear=("x",), x=lambda xp, gy, geometry: xp.sum_pool(gy, geometry=geometry))
def unpool(xp: Namespace, x: Array, /, geometry: Geometry) -> Array:
    """Images with each element of `x` added to all elements of its window; the gradient of `sum_pool`."""
    lead, ones = x.shape[:2], (1,) * geometry.ndim
    x = xp.reshape(x, shape=(*lead, *ones, *geometry.out))
    return xp.fold(xp.broadcast_to(x, shape=(*lead, *geometry.ksize, *geometry.out)), geometry=geometry)


def per_axis(value: Any, ndim: int, name: str, function: str, least: int = 1) -> Shape:
    """Return an option that is an int for all axes, or one for each, as a tuple."""
    values = integers(value, function) * (ndim if isinstance(value, WHOLE) else 1)
    if len(values) != ndim or any(v < least for v in values):
        raise ValueError(
            f"{function}: expected {name} to be an int or {ndim} ints, each at least {least}, got {value!r}"
        )
    if math.prod(values) > MAX_ELEMENTS or max(values, default=0) > MAX_ELEMENTS:
        raise ValueError(f"{function}: expected {name} of at most {MAX_ELEMENTS} elements, got {value!r}")
    return values


def geometry_on(
    function: str, spec: Spec, ksize: Shape, stride: Size, pad: Size, dilate: Size = 1, cover_all: bool = False
) -> Geometry:
    """Return the geometry of windows on images of `spec`, or raise `InvalidType` if none fits."""
    size, n = spec.shape[2:], len(ksize)
    stride, dilate = per_axis(stride, n, "stride", function), per_axis(dilate, n, "dilate", function)
    pad = per_axis(pad, n, "pad", function, 0)
    axes = zip(size, ksize, stride, pad, dilate, strict=True)
    out = tuple(windows_along(n, k, s, p, cover_all, d) for n, k, s, p, d in axes)
    if min(out, default=1) < 1:
        expect = f"x on which windows of {ksize} fit, with pad {pad} and dilate {dilate}"
        raise invalid(function, expect, f"x is {spec!r}, which gives an output of {out}")
    return Geometry(size, ksize, stride, pad, dilate, out)


def geometry_under(
    function: str, spec: Spec, ksize: Shape, stride: Size, pad: Size, outsize: Size | None, dilate: Size = 1,
    cover_all: bool = False,
) -> Geometry:  # fmt: skip
    """Return the geometry with a window for each element of images of `spec`; `outsize` is the size they lie on."""
    out, n = spec.shape[2:], len(ksize)
    stride, dilate = per_axis(stride, n, "stride", function), per_axis(dilate, n, "dilate", function)
    pad = per_axis(pad, n, "pad", function, 0)
    axes = list(zip(out, ksize, stride, pad, dilate, strict=True))
    if outsize is None:
        size = tuple(length_under(o, k, s, p, cover_all, d) for o, k, s, p, d in axes)
        if min(size, default=1) < 1:
            expect = f"x that gives an output with elements, with windows of {ksize} and pad {pad}"
            raise invalid(function, expect, f"x is {spec!r}, which gives an output of {size}")
        return Geometry(size, ksize, stride, pad, dilate, out)
    size = per_axis(outsize, n, "outsize", function)
    fits = tuple(windows_along(m, k, s, p, cover_all, d) for m, (_, k, s, p, d) in zip(size, axes, strict=True))
    if fits != out:
        raise invalid(function, f"x with {fits} windows in the output of size {size}", f"x is {spec!r}")
    return Geometry(size, ksize, stride, pad, dilate, out)


def images(x: AnyArray, function: str, ndim: int | None, name: str = "x") -> Spec:
    """Return the spec of `x`, or raise `InvalidType` if it is not floating-point of shape (N, C, *D), `ndim` axes D."""
    spec = known_spec(x, function)
    if not spec.differentiable:
        raise invalid(function, f"{name} of a floating-point dtype", f"{name} is {spec!r}")
    if spec.ndim < 3 if ndim is None else spec.ndim != ndim + 2:
        error = invalid(function, f"{name} of shape (N, C, *D) with {_axes(ndim)} D", f"{name} is {spec!r}")
        raise ShapeError(str(error))
    return spec


def in_dimensions(
    name: str, body: Callable[Concatenate[str, int | None, P], R]
) -> tuple[Callable[P, R], Callable[P, R], Callable[P, R], Callable[P, R]]:
    """Return a function of images for any number of axes D, and the functions for one, two and three axes.

    Their names are `name` and "nd", "1d", ... Each calls `body` with its name, and the number of axes or None.
    """
    summary = (body.__doc__ or "").partition("\n")[0].rstrip(".")
    signature = inspect.signature(body)
    public = signature.replace(parameters=list(signature.parameters.values())[2:])

    def define(ndim: int | None) -> Callable[P, R]:
        full_name = f"{name}_{ndim or 'n'}d"

        def function(*args: P.args, **kwargs: P.kwargs) -> R:
            return body(full_name, ndim, *args, **kwargs)

        function.__module__, function.__name__, function.__qualname__ = body.__module__, full_name, full_name
        function.__doc__ = body.__doc__ if ndim is None else f"{summary}; it is `{name}_nd` for {_axes(ndim)}."
        vars(function)["__signature__"] = public
        function.__code__ = function.__code__.replace(co_name=full_name)  # which errors read on the stack
        return function

    return define(None), define(1), define(2), define(3)


def _axes(ndim: int | None) -> str:
    return "one or more axes" if ndim is None else "one axis" if ndim == 1 else f"{ndim} axes"


def im2col(
    x: AnyArray, ksize: Size, stride: Size = 1, pad: Size = 0, cover_all: bool = False, dilate: Size = 1
) -> Variable:
    """Return the windows on images as channels.

    Parameters
    ----------
    x : Variable or array, shape (N, C, H, W), floating-point
    ksize, stride, pad, dilate : int or pair of int
        Height and width of the windows, their distances, zeros around the image, and the distances of the elements of
        one window.
    cover_all : bool
        Let windows exceed the end, so that the windows cover every element.

    Returns
    -------
    Variable, shape (N, C * kh * kw, oh, ow)

    Raises
    ------
    InvalidType
        The shape or dtype of `x` is another, or no window fits.
    """
    spec = images(x, "im2col", 2)
    geometry = geometry_on("im2col", spec, per_axis(ksize, 2, "ksize", "im2col"), stride, pad, dilate, cover_all)
    y = windows(as_variable(x), geometry=geometry)
    n, c, kh, kw, *out = y.shape
    return y.reshape((n, c * kh * kw, *out))
