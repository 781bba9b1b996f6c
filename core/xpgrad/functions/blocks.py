"""Rearrangement of blocks of pixels to channels, and back."""

from xpgrad.array_api import permute_dims, reshape
from xpgrad.functions.checks import invalid, real_floating
from xpgrad.graph.variable import Variable
from xpgrad.types import AnyArray

__all__ = ["depth2space", "space2depth"]


def space2depth(X: AnyArray, r: int) -> Variable:
    """Return images with the pixels of each block of `r` times `r` concatenated along the axis of channels.

    Parameters
    ----------
    X : Variable or array, shape (B, C, r * H, r * W), real floating-point
    r : int

    Returns
    -------
    Variable, shape (B, r * r * C, H, W)
        The channels of the first pixel of a block first.
    """
    spec = real_floating(X, "space2depth", "X")
    if r < 1 or spec.ndim != 4 or spec.shape[2] % r or spec.shape[3] % r:
        raise invalid("space2depth", f"X of shape (B, C, {r} * H, {r} * W)", f"X is {spec!r}")
    b, c, h, w = spec.shape
    y = permute_dims(reshape(X, shape=(b, c, h // r, r, w // r, r)), axes=(0, 3, 5, 1, 2, 4))
    return reshape(y, shape=(b, r * r * c, h // r, w // r))


def depth2space(X: AnyArray, r: int) -> Variable:
    """Return images with channels moved into blocks of `r` times `r` pixels: the inverse of `space2depth`.

    Parameters
    ----------
    X : Variable or array, shape (B, r * r * C, H, W), real floating-point
    r : int

    Returns
    -------
    Variable, shape (B, C, r * H, r * W)

    References
    ----------
    Shi and others: Real-time single image and video super-resolution, 2016.
    """
    spec = real_floating(X, "depth2space", "X")
    if r < 1 or spec.ndim != 4 or spec.shape[1] % (r * r):
        raise invalid("depth2space", f"X of shape (B, {r * r} * C, H, W)", f"X is {spec!r}")
    b, c, h, w = spec.shape
    y = permute_dims(reshape(X, shape=(b, r, r, c // (r * r), h, w)), axes=(0, 3, 4, 1, 5, 2))
    return reshape(y, shape=(b, c // (r * r), r * h, r * w))
