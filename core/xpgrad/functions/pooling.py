"""Pooling, which reduces each window of an image to one element, and unpooling, which fills windows."""

import math
from typing import Any, Literal, Protocol, cast, overload

from xpgrad.array_api.data_types import astype
from xpgrad.array_api.manipulation import concat, reshape
from xpgrad.array_api.shared.precision import narrowed, widened
from xpgrad.backend.geometry import Geometry
from xpgrad.backend.spec import Spec
from xpgrad.functions.checks import invalid, require_integral, require_option, require_real_floating
from xpgrad.functions.checks import known_spec as _known_spec
from xpgrad.functions.windows import geometry_on, geometry_under, images, in_dimensions, per_axis, sum_pool, unpool
from xpgrad.graph.primitive import primitive
from xpgrad.graph.variable import Variable, as_array, as_variable
from xpgrad.types import AnyArray, Array, Namespace, Shape, Size

__all__ = [
    "average_pooling_1d", "average_pooling_2d", "average_pooling_3d", "average_pooling_nd", "max_pooling_1d",
    "max_pooling_2d", "max_pooling_3d", "max_pooling_nd", "spatial_pyramid_pooling_2d", "unpooling_1d",
    "unpooling_2d", "unpooling_3d", "unpooling_nd", "upsampling_2d",
]  # fmt: skip


def _over_windows(xp: Namespace, x: Array, geometry: Geometry) -> Array:
    """Return an array with one element for each window in a shape that broadcasts over the elements of windows."""
    return xp.reshape(x, shape=(*x.shape[:2], *(1,) * geometry.ndim, *geometry.out))


def _ties(xp: Namespace, x: Array, top: Array, geometry: Geometry) -> tuple[Array, Array]:
    """Return a mask of the largest elements of windows, and their number, at least 1 (all may be NaN)."""
    largest = xp.windows(x, geometry=geometry, fill=math.nan) == _over_windows(xp, top, geometry)
    count = xp.sum(xp.astype(largest, xp.backend.wide(x.dtype)), axis=geometry.within)
    return largest, xp.where(count == 0, 1.0, count)


@primitive(label="max_pooling", x=lambda xp, gy, x, y, geometry: xp.max_pool_backward(gy, x, y, geometry=geometry))
def max_pool(xp: Namespace, x: Array, /, geometry: Geometry) -> Array:
    """Largest elements of windows; from shape (N, C, *geometry.size) to (N, C, *geometry.out)."""
    return xp.max(xp.windows(x, geometry=geometry, fill=-math.inf), axis=geometry.within)


@primitive(linear=("g",), g=lambda xp, gy, x, top, geometry: xp.max_pool_gather(gy, x, top, geometry=geometry))
def max_pool_backward(xp: Namespace, g: Array, x: Array, top: Array, /, geometry: Geometry) -> Array:
    """Gradient of `max_pool`: each element of `g` is shared by the largest elements of its window on `x`.

    `top` is ``max_pool(x)``. The result is linear in `g` and locally constant in `x`.
    """
    largest, count = _ties(xp, x, top, geometry)
    spec = xp.spec_of(g)
    share = _over_windows(xp, widened(xp, g, spec) / count, geometry)
    return narrowed(xp, xp.fold(xp.where(largest, share, 0.0), geometry=geometry), spec)


@primitive(linear=("g",), g=lambda xp, gy, x, top, geometry: xp.max_pool_backward(gy, x, top, geometry=geometry))
def max_pool_gather(xp: Namespace, g: Array, x: Array, top: Array, /, geometry: Geometry) -> Array:
    """Means of `g` over the largest elements of windows on `x`; the gradient of `max_pool_backward`."""
    largest, count = _ties(xp, x, top, geometry)
    spec = xp.spec_of(g)
    taken = xp.where(largest, xp.windows(widened(xp, g, spec), geometry=geometry, fill=0.0), 0.0)
    return narrowed(xp, xp.sum(taken, axis=geometry.within) / count, spec)


@primitive()
def max_pool_argmax(xp: Namespace, x: AnyArray, /, geometry: Geometry) -> Array:
    """Row-major indices of the first largest elements in their windows, without a gradient."""
    found = xp.windows(x, geometry=geometry, fill=-math.inf)
    return xp.argmax(xp.reshape(found, shape=(*x.shape[:2], math.prod(geometry.ksize), *geometry.out)), axis=2)


class MaxPooling(Protocol):
    """The signatures of the functions of maximum pooling, which optionally return positions."""

    @overload
    def __call__(
        self, x: AnyArray, ksize: Size, stride: Size | None = None, pad: Size = 0, cover_all: bool = True,
        return_indices: Literal[False] = False,
    ) -> Variable: ...  # fmt: skip

    @overload
    def __call__(
        self, x: AnyArray, ksize: Size, stride: Size | None = None, pad: Size = 0, cover_all: bool = True, *,
        return_indices: Literal[True],
    ) -> tuple[Variable, Array]: ...  # fmt: skip


def _max_pooling(
    function: str, ndim: int | None, x: AnyArray, ksize: Size, stride: Size | None = None, pad: Size = 0,
    cover_all: bool = True, return_indices: bool = False,
) -> Any:  # fmt: skip
    """Return the largest element of each window.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *D), real floating-point
        Images with one or more axes D.
    ksize : int, or one for each axis D
        Size of the windows.
    stride : int, or one for each axis D, optional
        Distances of the windows, by default `ksize`.
    pad : int, or one for each axis D
        How far windows reach beyond the images; elements outside are ignored.
    cover_all : bool
        Let windows exceed the end, so that the windows cover every element.
    return_indices : bool
        Return also the row-major index of each maximum in its window, the first index for ties.

    Returns
    -------
    Variable, or tuple of Variable and array; shape (N, C, *O)
        Elements that tie share the gradient equally (Chainer gives it to the first). The result for a window
        without any element of its image is ``-inf``.

    Raises
    ------
    InvalidType
        The shape or dtype of `x` is another, or no window fits.
    """
    spec = require_real_floating(images(x, function, ndim), function)
    geometry = _geometry_on(function, spec, ksize, stride, pad, cover_all)
    y = max_pool(x, geometry=geometry)
    return (y, max_pool_argmax(as_variable(x), geometry=geometry).array) if return_indices else y


max_pooling_nd, max_pooling_1d, max_pooling_2d, max_pooling_3d = cast(
    "tuple[MaxPooling, MaxPooling, MaxPooling, MaxPooling]", in_dimensions("max_pooling", _max_pooling)
)


def _average_pooling(
    function: str, ndim: int | None, x: AnyArray, ksize: Size, stride: Size | None = None, pad: Size = 0,
    pad_value: float | None = 0,
) -> Variable:  # fmt: skip
    """Return the mean of each window.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *D), floating-point
    ksize, stride, pad
        As for `max_pooling_nd`.
    pad_value : 0 or None
        0 counts elements outside as zeros; None ignores them, and gives 0 for a window that is all outside.
        Chainer's `average_pooling_2d` has no such argument: it counts zeros.

    Returns
    -------
    Variable, shape (N, C, *O)

    Raises
    ------
    InvalidType
        The shape or dtype of `x` is another, or no window fits.
    ValueError
        An option is out of range, or `pad_value` is neither 0 nor None.
    """
    if pad_value is not None and pad_value != 0:
        raise ValueError(f"{function}: pad_value must be 0 or None, got {pad_value!r}")
    spec = images(x, function, ndim)
    geometry = _geometry_on(function, spec, ksize, stride, pad, False)
    total = sum_pool(astype(x, spec.wide, copy=False), geometry=geometry)
    if pad_value == 0 or not any(geometry.pad):
        return astype(total / math.prod(geometry.ksize), spec.dtype, copy=False)
    xp = spec.backend.xp
    counts = xp.sum_pool(xp.ones((1, 1, *geometry.size), dtype=spec.wide, device=spec.device), geometry=geometry)
    return astype(total / xp.where(xp.equal(counts, 0), 1.0, counts), spec.dtype, copy=False)


average_pooling_nd, average_pooling_1d, average_pooling_2d, average_pooling_3d = in_dimensions(
    "average_pooling", _average_pooling
)


def _unpooling(
    function: str, ndim: int | None, x: AnyArray, ksize: Size, stride: Size | None = None, pad: Size = 0,
    outsize: Size | None = None, cover_all: bool = True,
) -> Variable:  # fmt: skip
    """Return images on which each element of `x` fills its window; where windows overlap, elements are added.

    Parameters
    ----------
    x : Variable or array, shape (N, C, *D), floating-point
    ksize, stride, pad
        As for `max_pooling_nd`.
    outsize : int, or one for each axis D, optional
        Size of the images. By default the smallest that pooling with these options reduces to the size of `x`.
    cover_all : bool
        As for the pooling that this reverses.

    Returns
    -------
    Variable, shape (N, C, *O)

    Raises
    ------
    InvalidType
        The shape or dtype of `x` is another, or the result would have no elements.
    """
    spec = images(x, function, ndim)
    return unpool(x, geometry=_geometry_under(function, spec, ksize, stride, pad, outsize, cover_all))


unpooling_nd, unpooling_1d, unpooling_2d, unpooling_3d = in_dimensions("unpooling", _unpooling)


@primitive(linear=("x",), x=lambda xp, gy, indexes, geometry: xp.max_unpool_backward(gy, indexes, geometry=geometry))
def max_unpool(xp: Namespace, x: Array, indexes: Array, /, geometry: Geometry) -> Array:
    """Images with each element of `x` added at the position `indexes` in its window."""
    chosen = _chosen(xp, indexes, geometry)
    return xp.fold(xp.where(chosen, _over_windows(xp, x, geometry), 0.0), geometry=geometry)


@primitive(linear=("x",), x=lambda xp, gy, indexes, geometry: xp.max_unpool(gy, indexes, geometry=geometry))
def max_unpool_backward(xp: Namespace, x: Array, indexes: Array, /, geometry: Geometry) -> Array:
    """Elements of the windows on `x` at the positions `indexes`; the gradient of `max_unpool`."""
    chosen = _chosen(xp, indexes, geometry)
    return xp.sum(xp.where(chosen, xp.windows(x, geometry=geometry, fill=0.0), 0.0), axis=geometry.within)


def _chosen(xp: Namespace, indexes: Array, geometry: Geometry) -> Array:
    """Return a mask of the positions `indexes` in windows."""
    device = xp.device_of(indexes)
    numbers = xp.arange(math.prod(geometry.ksize), dtype=indexes.dtype, device=device)
    return xp.reshape(numbers, shape=(1, 1, *geometry.ksize, *(1,) * geometry.ndim)) == _over_windows(
        xp, indexes, geometry
    )


def upsampling_2d(
    x: AnyArray, indexes: AnyArray, ksize: Size, stride: Size | None = None, pad: Size = 0,
    outsize: Size | None = None, cover_all: bool = True,
) -> Variable:  # fmt: skip
    """Return images with each element of `x` at the position in which `max_pooling_2d` found it, and other zeros.

    Parameters
    ----------
    x : Variable or array, shape (N, C, H, W), floating-point
    indexes : Variable or array, shape of `x`, integer
        As `max_pooling_2d` returns them. An index beyond the window is ignored.
    ksize, stride, pad, outsize, cover_all
        As for `unpooling_2d`.

    Returns
    -------
    Variable, shape (N, C, OH, OW)
    """
    name = "upsampling_2d"
    spec = images(x, name, 2)
    found = require_integral(_known_spec(indexes, name), name, "indexes")
    if found.shape != spec.shape:
        raise invalid(name, f"indexes of the shape of x, {spec.shape}", f"indexes is {found!r}")
    geometry = _geometry_under(name, spec, ksize, stride, pad, outsize, cover_all)
    return max_unpool(x, as_array(indexes), geometry=geometry)


def _sizes(function: str, spec: Spec, ksize: Size, stride: Size | None) -> tuple[Shape, Size]:
    """Return the size of windows and their distances, by default the same."""
    size = per_axis(ksize, spec.ndim - 2, "ksize", function)
    return size, size if stride is None else stride


def _geometry_on(function: str, spec: Spec, ksize: Size, stride: Size | None, pad: Size, cover_all: bool) -> Geometry:
    size, distances = _sizes(function, spec, ksize, stride)
    return geometry_on(function, spec, size, distances, pad, 1, cover_all)


def _geometry_under(
    function: str, spec: Spec, ksize: Size, stride: Size | None, pad: Size, outsize: Size | None, cover_all: bool
) -> Geometry:
    size, distances = _sizes(function, spec, ksize, stride)
    return geometry_under(function, spec, size, distances, pad, outsize, 1, cover_all)


def spatial_pyramid_pooling_2d(x: AnyArray, pyramid_height: int, pooling: str | None = None) -> Variable:
    """Return the maxima of the parts into which images are cut, on several levels.

    Parameters
    ----------
    x : Variable or array, shape (N, C, H, W), real floating-point
    pyramid_height : int
        Number of levels: on level i both sides are cut into ``2**i`` parts.
    pooling : {"max"}, optional

    Returns
    -------
    Variable, shape (N, K, 1, 1)
        K is C times the number of all parts, for all H and W that are not less than the number of parts.

    References
    ----------
    He, Zhang, Ren, Sun: Spatial pyramid pooling in deep convolutional networks for visual recognition, 2014.
    """
    name = "spatial_pyramid_pooling_2d"
    require_option(name, "pooling", pooling, ("max", None))
    spec = require_real_floating(images(x, name, 2), name)
    if not 1 <= pyramid_height < 32:
        raise ValueError(f"{name}: pyramid_height must be from 1 to 31, got {pyramid_height}")
    levels = []
    for parts in [2**level for level in range(pyramid_height)]:
        ksize = tuple(-(-n // parts) for n in spec.shape[2:])
        pad = tuple((k * parts - n) // 2 for k, n in zip(ksize, spec.shape[2:], strict=True))
        y = _max_pooling(name, 2, x, ksize, None, pad)
        levels.append(reshape(y, shape=(spec.shape[0], math.prod(y.shape[1:]), 1, 1)))
    return concat(levels, axis=1)
