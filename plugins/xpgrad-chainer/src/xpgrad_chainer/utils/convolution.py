"""Windows of images as columns, and back (`chainer.utils.conv` and `conv_nd`)."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from xpgrad import get_array_module


def get_conv_outsize(size: int, k: int, s: int, p: int, cover_all: bool = False, d: int = 1) -> int:
    """Return the length of the output of a convolution along an axis.

    Parameters
    ----------
    size, k, s, p, d : int
        Lengths of the input and the window, stride, padding of each side, dilation.
    cover_all : bool
        Whether every element of the input is in a window.
    """
    reach = k + (k - 1) * (d - 1)
    rest = size + 2 * p - reach
    return (rest + s - 1 if cover_all else rest) // s + 1


def get_deconv_outsize(size: int, k: int, s: int, p: int, cover_all: bool = False, d: int = 1) -> int:
    """Return the length of the output of a transposed convolution along an axis."""
    reach = k + (k - 1) * (d - 1)
    length = s * (size - 1) + reach - 2 * p
    return length - s + 1 if cover_all else length


def as_tuple(x: Any, n: int) -> tuple[Any, ...]:
    """Return a sequence of `n` elements as a tuple, or a scalar repeated."""
    if isinstance(x, Iterable):
        found = tuple(x)
        assert len(found) == n
        return found
    return (x,) * n


def im2col_nd_cpu(
    img: Any, ksize: Sequence[int], stride: Sequence[int], pad: Sequence[int], pval: float = 0,
    cover_all: bool = False, dilate: Any = 1,
) -> Any:  # fmt: skip
    """Return the windows of images: shape (batch, channels, *window, *output)."""
    n = len(ksize)
    assert n == len(stride) == len(pad) == img.ndim - 2
    dilations, sizes = as_tuple(dilate, n), img.shape[2:]
    geometry = zip(sizes, ksize, stride, pad, dilations, strict=True)
    outs = tuple(get_conv_outsize(size, k, s, p, cover_all, d) for size, k, s, p, d in geometry)
    assert all(out > 0 for out in outs), "Output size should be positive."
    return _columns(img, ksize, stride, pad, dilations, outs, pval)


def _columns(
    img: Any, ksize: Sequence[int], stride: Sequence[int], pad: Sequence[int], dilations: Sequence[int],
    outs: Sequence[int], pval: float,
) -> Any:  # fmt: skip
    xp = get_array_module(img)
    widths = ((0, 0), (0, 0), *((p, p + s - 1) for p, s in zip(pad, stride, strict=True)))
    padded = xp.pad(img, widths, mode="constant", constant_values=(pval,))
    col = xp.empty((*img.shape[:2], *ksize, *outs), dtype=img.dtype)
    for place in np.ndindex(*ksize):
        col[(slice(None), slice(None), *place)] = padded[_window(place, stride, dilations, outs)]
    return col


def _window(place: Sequence[int], stride: Sequence[int], dilations: Sequence[int], outs: Sequence[int]) -> Any:
    """Return the index of the elements that are at `place` in their windows."""
    axes = zip(place, stride, dilations, outs, strict=True)
    return (slice(None), slice(None), *(slice(i * d, i * d + s * out, s) for i, s, d, out in axes))


def col2im_nd_cpu(col: Any, stride: Sequence[int], pad: Sequence[int], dims: Sequence[int], dilate: Any = 1) -> Any:
    """Return the sums of the windows of `im2col_nd_cpu`: images with shape (batch, channels, *dims)."""
    n = len(dims)
    dilations, ksize, outs = as_tuple(dilate, n), col.shape[2 : 2 + n], col.shape[2 + n :]
    assert len(outs) == n == len(stride) == len(pad)
    xp = get_array_module(col)
    lengths = (length + 2 * p + s - 1 for length, p, s in zip(dims, pad, stride, strict=True))
    img = xp.zeros((*col.shape[:2], *lengths), dtype=col.dtype)
    for place in itertools.product(*map(range, ksize)):
        img[_window(place, stride, dilations, outs)] += col[(slice(None), slice(None), *place)]
    return img[(slice(None), slice(None), *(slice(p, p + length) for p, length in zip(pad, dims, strict=True)))]


def im2col_cpu(
    img: Any, kh: int, kw: int, sy: int, sx: int, ph: int, pw: int, pval: float = 0, cover_all: bool = False,
    dy: int = 1, dx: int = 1, out_h: int | None = None, out_w: int | None = None,
) -> Any:  # fmt: skip
    """Return the windows of images of two axes: shape (batch, channels, kh, kw, out_h, out_w)."""
    height, width = img.shape[2:]
    out_h = get_conv_outsize(height, kh, sy, ph, cover_all, dy) if out_h is None else out_h
    out_w = get_conv_outsize(width, kw, sx, pw, cover_all, dx) if out_w is None else out_w
    assert out_h > 0, "Height in the output should be positive."
    assert out_w > 0, "Width in the output should be positive."
    return _columns(img, (kh, kw), (sy, sx), (ph, pw), (dy, dx), (out_h, out_w), pval)


def col2im_cpu(col: Any, sy: int, sx: int, ph: int, pw: int, h: int, w: int, dy: int = 1, dx: int = 1) -> Any:
    """Return images of two axes: the sums of the windows that `im2col_cpu` returns."""
    return col2im_nd_cpu(col, (sy, sx), (ph, pw), (h, w), (dy, dx))


def im2col_gpu(
    img: Any, kh: int, kw: int, sy: int, sx: int, ph: int, pw: int, cover_all: bool = False, dy: int = 1, dx: int = 1,
    out_h: int | None = None, out_w: int | None = None,
) -> Any:  # fmt: skip
    """Return the windows of images of two axes, see `im2col_cpu`; the padding is 0."""
    return im2col_cpu(img, kh, kw, sy, sx, ph, pw, 0, cover_all, dy, dx, out_h, out_w)


def im2col_nd_gpu(
    img: Any, ksize: Sequence[int], stride: Sequence[int], pad: Sequence[int], cover_all: bool = False, dilate: Any = 1
) -> Any:
    """Return the windows of images, see `im2col_nd_cpu`; the padding is 0."""
    return im2col_nd_cpu(img, ksize, stride, pad, 0, cover_all, dilate)


im2col, im2col_nd = im2col_gpu, im2col_nd_gpu
col2im = col2im_gpu = col2im_cpu
col2im_nd = col2im_nd_gpu = col2im_nd_cpu
