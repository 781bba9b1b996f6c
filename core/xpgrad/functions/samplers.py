"""Values of images between their pixels, at coordinates that may need gradients, and resized images."""

import itertools

from xpgrad import array_api as xpa
from xpgrad.array_api import astype, reshape, take
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.backend.checks import require_together
from xpgrad.backend.spec import Spec
from xpgrad.functions.checks import invalid, real_floating, require_option
from xpgrad.functions.convolution import convolution_nd
from xpgrad.functions.sequences import pad
from xpgrad.functions.windows import geometry_on, per_axis
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.types import AnyArray, Dtype, Shape, Size, integers

__all__ = [
    "deformable_convolution_2d_sampler", "resize_images", "spatial_transformer_grid", "spatial_transformer_sampler",
]  # fmt: skip


def numbers(spec: Spec, count: int, dtype: Dtype | None = None, shape: Shape = (-1,)) -> Variable:
    """Return 0 to ``count - 1``, by default as integers, on the device of `spec`."""
    dtype = spec.backend.default_dtype("int") if dtype is None else dtype
    made = spec.backend.namespace.arange(count, dtype=dtype, device=spec.device)
    return xpa.reshape(constant_variable(made), shape=shape)


def sampled(x: Variable, image: Variable, v: Variable, u: Variable) -> Variable:
    """Return values of images between pixels, by bilinear interpolation.

    Parameters
    ----------
    x : Variable, shape (N, H, W, C)
    image : Variable of int
        Number of the image.
    v, u : Variable
        Row and column, from 0 to H - 1 and W - 1. They and `image` broadcast to a shape S.

    Returns
    -------
    Variable, shape (*S, C)
        At a pixel the derivative is the derivative from the side of greater coordinates.
    """
    n, h, w, c = x.shape
    corners = list(itertools.product(_neighbours(v, h), _neighbours(u, w)))
    places = xpa.stack([(image * h + i) * w + j for (i, _), (j, _) in corners])
    shares = xpa.stack([share * part for (_, share), (_, part) in corners])
    values = xpa.take(
        xpa.reshape(x, shape=(n * h * w, c)), xpa.reshape(places, shape=(-1,)), axis=0
    )  # once: one sum of gradients
    return xpa.sum(xpa.expand_dims(shares, axis=-1) * xpa.reshape(values, shape=(*places.shape, c)), axis=0)


def _neighbours(p: Variable, length: int) -> tuple[tuple[Variable, Variable], ...]:
    """Return the two pixels around each coordinate, with their shares."""
    whole = xpa.astype(xpa.floor(constant_variable(p.array)), p.node.spec.backend.default_dtype("int"))
    low = xpa.clip(whole, 0, length - 1)
    share = p - xpa.astype(low, p.dtype)
    return (low, 1 - share), (xpa.minimum(low + 1, length - 1), share)


def _sampled_with_zeros(x: AnyArray, spec: Spec, v: Variable, u: Variable) -> Variable:
    """Return values of images of `spec`, shape (N, C, H, W), around which there are zeros.

    `v` and `u` have the shape (N, *S), the result (N, *S, C).
    """
    n, _, h, w = spec.shape
    framed = xpa.permute_dims(pad(xpa.astype(x, v.dtype, copy=False), ((0, 0), (0, 0), (1, 1), (1, 1)), "constant"),
                          axes=(0, 2, 3, 1))  # fmt: skip
    image = numbers(spec, n, shape=(-1, *(1,) * (v.ndim - 1)))
    return sampled(framed, image, xpa.clip(v + 1, 0, h + 1), xpa.clip(u + 1, 0, w + 1))


def spatial_transformer_grid(theta: AnyArray, output_shape: tuple[int, int]) -> Variable:
    """Return the points that affine maps assign to the pixels of images.

    Parameters
    ----------
    theta : Variable or array, shape (N, 2, 3), real floating-point
        Each matrix takes (x, y, 1) to a point (x, y).
    output_shape : pair of int
        Height H and width W of the images. Their first row and column have the coordinate -1, the last row and column
        1.

    Returns
    -------
    Variable, shape (N, 2, H, W)
        Coordinates x, then y, for each point.

    References
    ----------
    Jaderberg, Simonyan, Zisserman, Kavukcuoglu: Spatial transformer networks, 2015.
    """
    name = "spatial_transformer_grid"
    spec = real_floating(theta, name, "theta")
    if spec.ndim != 3 or spec.shape[1:] != (2, 3):
        raise invalid(name, "theta of shape (N, 2, 3)", f"theta is {spec!r}")
    h, w = per_axis(integers(output_shape), 2, "output_shape", name)
    xp = spec.backend.namespace
    y, x = (xp.linspace(-1.0, 1.0, n, dtype=spec.wide, device=spec.device) for n in (h, w))
    ones = constant_variable(xp.ones((1, h * w), dtype=spec.wide, device=spec.device))
    columns, lines = xpa.reshape(constant_variable(x), shape=(1, w)), xpa.reshape(constant_variable(y), shape=(h, 1))
    flat = [xpa.reshape(xpa.broadcast_to(each, shape=(h, w)), shape=(1, h * w)) for each in (columns, lines)]
    points = xpa.matmul(xpa.astype(theta, spec.wide, copy=False), xpa.concat([*flat, ones], axis=0))
    return xpa.reshape(xpa.astype(points, spec.dtype, copy=False), shape=(spec.shape[0], 2, h, w))


@in_single_precision
def spatial_transformer_sampler(x: AnyArray, grid: AnyArray) -> Variable:
    """Return the values of images at points between pixels, by bilinear interpolation.

    Parameters
    ----------
    x : Variable or array, shape (N, C, H, W), real floating-point
    grid : Variable or array, shape (N, 2, OH, OW), real floating-point
        x and y of each point: -1 is the first column or row, 1 the last. Around an image there are zeros.

    Returns
    -------
    Variable, shape (N, C, OH, OW)

    References
    ----------
    Jaderberg, Simonyan, Zisserman, Kavukcuoglu: Spatial transformer networks, 2015.
    """
    name = "spatial_transformer_sampler"
    spec, points = real_floating(x, name), real_floating(grid, name, "grid")
    if spec.ndim != 4 or points.ndim != 4 or points.shape[:2] != (*spec.shape[:1], 2):
        expect = "x of shape (N, C, H, W) and grid of shape (N, 2, OH, OW)"
        raise invalid(name, expect, f"x is {spec!r}, grid is {points!r}")
    require_together(name, x, grid)
    wide = spec.backend.namespace.result_type(spec.wide, points.wide)
    place = xpa.astype(grid, wide, copy=False) + 1
    u, v = (place[:, i, :, :] * ((n - 1) / 2) for i, n in ((0, spec.shape[3]), (1, spec.shape[2])))
    y = xpa.permute_dims(_sampled_with_zeros(x, spec, v, u), axes=(0, 3, 1, 2))
    return xpa.astype(y, spec.dtype, copy=False)


@in_single_precision
def deformable_convolution_2d_sampler(
    x: AnyArray, offset: AnyArray, W: AnyArray, b: AnyArray | None = None, stride: Size = 1, pad: Size = 0
) -> Variable:
    """Return the convolution of images with filters whose elements are moved separately for each output.

    Parameters
    ----------
    x : Variable or array, shape (N, C, H, W), real floating-point
    offset : Variable or array, shape (N, 2 * KH * KW, OH, OW), real floating-point
        How far each element is moved to the right, then how far each is moved down, in pixels. Between pixels there is
        bilinear interpolation.
    W : Variable or array, shape (out, C, KH, KW)
    b : Variable or array, shape (out,), optional
    stride, pad : int or pair of int

    Returns
    -------
    Variable, shape (N, out, OH, OW)

    References
    ----------
    Dai, Qi, Xiong, Li, Zhang, Hu, Wei: Deformable convolutional networks, 2017.
    """
    name = "deformable_convolution_2d_sampler"
    spec, moves, filters = (real_floating(a, name, t) for a, t in ((x, "x"), (offset, "offset"), (W, "W")))
    if spec.ndim != 4 or filters.ndim != 4 or filters.shape[1] != spec.shape[1]:
        expect = "x of shape (N, C, H, W) and W of shape (out, C, KH, KW)"
        raise invalid(name, expect, f"x is {spec!r}, W is {filters!r}")
    n, c = spec.shape[:2]
    geometry = geometry_on(name, spec, per_axis(filters.shape[2:], 2, "the last lengths of W", name), stride, pad)
    (kh, kw), (oh, ow) = geometry.ksize, geometry.out
    if moves.shape != (n, 2 * kh * kw, oh, ow):
        raise invalid(name, f"offset of shape {(n, 2 * kh * kw, oh, ow)}", f"offset is {moves!r}")
    require_together(name, x, offset, W)
    wide = spec.backend.namespace.result_type(spec.wide, moves.wide)
    both, half = xpa.astype(offset, wide, copy=False), kh * kw
    right, down = (xpa.reshape(part, shape=(n, kh, kw, oh, ow)) for part in (both[:, :half], both[:, half:]))
    axes = [
        numbers(spec, geometry.ksize[i], wide, within)
        + numbers(spec, geometry.out[i], wide, across) * geometry.stride[i]
        for i, within, across in ((0, (-1, 1, 1, 1), (-1, 1)), (1, (-1, 1, 1), (-1,)))
    ]
    taken = _sampled_with_zeros(x, spec, down + (axes[0] - geometry.pad[0]), right + (axes[1] - geometry.pad[1]))
    columns = xpa.astype(xpa.permute_dims(taken, axes=(0, 5, 1, 2, 3, 4)), spec.dtype, copy=False)
    flat = xpa.reshape(columns, shape=(n, c * kh * kw, oh, ow))
    return convolution_nd(flat, xpa.reshape(W, shape=(filters.shape[0], c * kh * kw, 1, 1)), b)


@in_single_precision
def resize_images(
    x: AnyArray, output_shape: tuple[int, int], *, mode: str = "bilinear", align_corners: bool = True
) -> Variable:
    """Return images in another size.

    Parameters
    ----------
    x : Variable or array, shape (N, C, H, W), real floating-point
    output_shape : pair of int
        The new height and width.
    mode : {"bilinear", "nearest"}
        "bilinear" interpolates between the nearest pixels. "nearest" takes the pixel in which the corner of a new one
        lies that has the smallest coordinates.
    align_corners : bool
        With "bilinear": True places the centres of the pixels at the corners on each other, False the corners of the
        images.

    Returns
    -------
    Variable, shape (N, C, OH, OW)

    Raises
    ------
    InvalidType
        `x` is not of that shape or dtype, or has no pixels.
    ValueError
        An option is unknown, or a new length is less than 1.
    """
    spec = real_floating(x, "resize_images")
    require_option("resize_images", "mode", mode, ("bilinear", "nearest"))
    if spec.ndim != 4 or 0 in spec.shape[2:]:
        raise invalid("resize_images", "x of shape (N, C, H, W) with pixels", f"x is {spec!r}")
    lengths = per_axis(integers(output_shape), 2, "output_shape", "resize_images")
    y = as_variable(x)
    for axis, length in zip((2, 3), lengths, strict=True):
        if mode == "bilinear":
            y = _interpolated(astype(y, spec.wide, copy=False), axis, length, align_corners)
        else:
            y = _taken(y, axis, [i * spec.shape[axis] // length for i in range(length)])
    return astype(y, spec.dtype, copy=False)


def _taken(x: Variable, axis: int, places: list[int]) -> Variable:
    return take(x, x.node.spec.backend.asarray(places, device=x.node.spec.device), axis=axis)


def _interpolated(x: Variable, axis: int, length: int, align_corners: bool) -> Variable:
    """Return `x` with `length` values along an axis, by linear interpolation."""
    n, spec = x.shape[axis], x.node.spec
    if n == length:
        return x
    if align_corners:
        at = [i * (n - 1) / max(length - 1, 1) for i in range(length)]
    else:
        at = [max((i + 0.5) * n / length - 0.5, 0.0) for i in range(length)]
    low = [min(int(p), n - 1) for p in at]
    shares = spec.backend.asarray([p - i for p, i in zip(at, low, strict=True)], dtype=spec.dtype, device=spec.device)
    share = reshape(constant_variable(shares), shape=(-1, *(1,) * (3 - axis)))
    return _taken(x, axis, low) * (1 - share) + _taken(x, axis, [min(i + 1, n - 1) for i in low]) * share
