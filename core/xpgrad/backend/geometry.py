"""Positions of the windows of convolution and pooling on images with any number of axes."""

from dataclasses import dataclass

from xpgrad.types import Shape


def windows_along(size: int, ksize: int, stride: int, pad: int, cover_all: bool = False, dilate: int = 1) -> int:
    """Return the number of windows along an axis of length `size`; Chainer's ``get_conv_outsize``."""
    rest = size + 2 * pad - reach(ksize, dilate)
    return (rest + stride - 1 if cover_all else rest) // stride + 1


def length_under(windows: int, ksize: int, stride: int, pad: int, cover_all: bool = False, dilate: int = 1) -> int:
    """Return the length of an axis with this number of windows; Chainer's ``get_deconv_outsize``."""
    length = stride * (windows - 1) + reach(ksize, dilate) - 2 * pad
    return length - stride + 1 if cover_all else length


def reach(ksize: int, dilate: int) -> int:
    """Return the number of elements from the first to the last of a window."""
    return dilate * (ksize - 1) + 1


@dataclass(frozen=True)
class Geometry:
    """Windows on an image: element k of window j along an axis is image element ``stride * j + dilate * k - pad``.

    Positions outside of the image have no element. Images have shape (N, C, *size), their windows (N, C, *ksize, *out).

    Attributes
    ----------
    size : tuple of int
        Lengths of the image's axes, without batch and channels.
    ksize, stride, pad, dilate : tuple of int
        One number for each of these axes.
    out : tuple of int
        Number of windows along each axis.
    """

    size: Shape
    ksize: Shape
    stride: Shape
    pad: Shape
    dilate: Shape
    out: Shape

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.size)

    @property
    def behind(self) -> Shape:
        """Number of elements by which the last window exceeds the end of each axis, at least 0."""
        axes = zip(self.size, self.ksize, self.stride, self.pad, self.dilate, self.out, strict=True)
        return tuple(max(0, s * (o - 1) + reach(k, d) - p - n) for n, k, s, p, d, o in axes)

    @property
    def within(self) -> tuple[int, ...]:
        """The axes of an array of windows that run over the elements of one window."""
        return tuple(range(2, 2 + self.ndim))
