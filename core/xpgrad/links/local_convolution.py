"""Links of convolutions whose filters or windows differ from place to place."""

from typing import Any

from xpgrad import functions
from xpgrad.functions.windows import per_axis
from xpgrad.graph.variable import Variable
from xpgrad.links.convolution import Convolution2D, Windowed
from xpgrad.links.parameters import bias, fitted, once, waits, weight
from xpgrad.models import Chain, Link
from xpgrad.types import AnyArray, Size


class LocalConvolution2D(Link):
    """Convolution of pictures with separate filters for each position.

    Parameters
    ----------
    in_channels : int or None
    out_channels : int
    in_size : int or pair of int, optional
        Size of the pictures. None, or no `in_channels`, takes both from the first input.
    ksize, stride : int or pair of int
    nobias : bool
    initialW, initial_bias : initializer, optional

    Attributes
    ----------
    W : Parameter, shape (out_channels, OH, OW, in_channels, KH, KW)
    b : Parameter, shape (out_channels, OH, OW), or None
    """

    def __init__(
        self, in_channels: int | None, out_channels: int, in_size: Size | None = None, ksize: Size | None = None,
        stride: Size = 1, nobias: bool = False, initialW: Any = None, initial_bias: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if ksize is None:
            raise TypeError("LocalConvolution2D: expected ksize, the size of the filters, got None")
        self.ksize, self.out_channels = ksize, out_channels
        self.stride = per_axis(stride, 2, "stride", "LocalConvolution2D")
        with self.init_scope():
            self.W, self.b = weight(initialW), bias(initial_bias, None, nobias)
        if in_channels is not None and in_size is not None:
            self._initialize_params(in_channels, per_axis(in_size, 2, "in_size", "LocalConvolution2D"))

    def _initialize_params(self, in_channels: int, in_size: tuple[int, ...]) -> None:
        window = per_axis(self.ksize, 2, "ksize", "LocalConvolution2D")
        out = tuple((n - k) // s + 1 for n, k, s in zip(in_size, window, self.stride, strict=True))
        if self.b is not None:
            self.b.initialize((self.out_channels, *out))
        self.W.initialize((self.out_channels, *out, in_channels, *window))

    def initialize_for(self, x: Any) -> None:
        """Initialise the filters for pictures like `x` unless already initialised."""
        if waits(self.W):
            once(lambda: waits(self.W), self._initialize_params, x.shape[1], tuple(x.shape[2:]))

    def forward(self, x: AnyArray) -> Variable:
        """Return the convolution of pictures `x`, shape (N, in_channels, H, W)."""
        self.initialize_for(x)
        return fitted(x, functions.local_convolution_2d(x, self.W, self.b, self.stride))


class DeformableConvolution2D(Chain):
    """Convolution of pictures at positions that another convolution computes from the pictures.

    Parameters
    ----------
    in_channels : int or None
        None, or leaving it out, takes it from the first input.
    out_channels : int
    ksize, stride, pad : int or pair of int
    offset_nobias, deform_nobias : bool
    offset_initialW, offset_initial_bias, deform_initialW, deform_initial_bias : initializer, optional
        By default 0 for the offsets' weights and biases, and `LeCunNormal` and 0 for the filters.

    Attributes
    ----------
    offset_conv : Convolution2D
        Computes the offsets of each element of a window.
    deform_conv : DeformableConvolution2DSampler
        Holds the filters `W` and `b`.

    Notes
    -----
    As in the paper, it starts as a plain convolution; Chainer starts with filters that are 0 at random places.

    References
    ----------
    Dai and others: Deformable convolutional networks, 2017.
    """

    def __init__(
        self, in_channels: int | None, out_channels: int | None = None, ksize: Size | None = None, stride: Size = 1,
        pad: Size = 0, offset_nobias: bool = False, offset_initialW: Any = None, offset_initial_bias: Any = None,
        deform_nobias: bool = False, deform_initialW: Any = None, deform_initial_bias: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if ksize is None:
            in_channels, out_channels, ksize = None, in_channels, out_channels
        kh, kw = per_axis(ksize, 2, "ksize", "DeformableConvolution2D")
        still = 0 if offset_initialW is None else offset_initialW
        with self.init_scope():
            self.offset_conv = Convolution2D(
                in_channels, 2 * kh * kw, (kh, kw), stride, pad, offset_nobias, still, offset_initial_bias
            )
            self.deform_conv = DeformableConvolution2DSampler(
                2,
                in_channels,
                out_channels,
                (kh, kw),
                stride,
                pad,
                deform_nobias,
                deform_initialW,
                deform_initial_bias,
                1,
                1,
            )

    def forward(self, x: AnyArray) -> Variable:
        """Return the convolution of pictures `x`, shape (N, in_channels, H, W)."""
        y: Variable = self.deform_conv(x, self.offset_conv(x))
        return y


class DeformableConvolution2DSampler(Windowed):
    """The second part of `DeformableConvolution2D`, for given offsets."""

    def _shape(self, in_channels: int) -> tuple[int, ...]:
        return (self.out_channels or 0, in_channels, *self.window)

    def forward(self, x: AnyArray, offset: AnyArray) -> Variable:
        """Return the convolution of `x` at places moved by `offset`; see `F.deformable_convolution_2d_sampler`."""
        self.initialize_for(x)
        y = functions.deformable_convolution_2d_sampler(x, offset, self.W, self.b, self.stride, self.pad)
        return fitted(x, y)
