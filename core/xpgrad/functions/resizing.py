"""Resizing: images of another height and width."""

from xpgrad.array_api import astype, reshape, take
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.functions.checks import invalid, real_floating, require_option
from xpgrad.functions.windows import per_axis
from xpgrad.graph.variable import Variable, as_variable, constant_variable
from xpgrad.types import AnyArray, integers

__all__ = ["resize_images"]


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
