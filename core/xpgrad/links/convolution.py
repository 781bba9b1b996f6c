"""Links of convolutions and transposed convolutions."""

import inspect
from collections.abc import Iterator
from typing import Any, ClassVar, Self

from xpgrad.functions import convolution as functions
from xpgrad.functions.windows import per_axis
from xpgrad.graph.variable import Variable
from xpgrad.links.parameters import bias, given, once, waits, weight
from xpgrad.models import Link
from xpgrad.types import AnyArray, Size


class Windowed(Link):
    """Base of links with filters: their sizes, and parameters that may wait for the first input."""

    _specs: ClassVar[tuple[str, ...]] = (
        "in_channels", "out_channels", "ksize", "stride", "pad", "nobias", "dilate", "groups",
    )  # fmt: skip

    def __init__(
        self, ndim: int, in_channels: int | None, out_channels: int | None, ksize: Size | None, stride: Size, pad: Size,
        nobias: bool, initialW: Any, initial_bias: Any, dilate: Size, groups: int,
    ) -> None:  # fmt: skip
        super().__init__()
        if ksize is None:  # the first size was left out
            in_channels, out_channels, ksize = None, in_channels, out_channels
        name = type(self).__name__
        self.ndim, self.groups = ndim, int(groups)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.ksize, self.window = ksize, per_axis(ksize, ndim, "ksize", name)
        self.stride, self.pad = per_axis(stride, ndim, "stride", name), per_axis(pad, ndim, "pad", name, 0)
        self.dilate = per_axis(dilate, ndim, "dilate", name)
        with self.init_scope():
            self.W = weight(initialW)
            if in_channels is not None:
                self._initialize_params(in_channels)
            self.b = bias(initial_bias, out_channels, nobias)

    @property
    def printable_specs(self) -> Iterator[tuple[str, Any]]:
        """Names and values of the arguments that `repr` shows."""
        for name in self._specs:
            yield name, self.b is None if name == "nobias" else getattr(self, name)

    def _initialize_params(self, in_channels: int) -> None:
        self.W.initialize(self._shape(in_channels))

    def _shape(self, in_channels: int) -> tuple[int, ...]:
        raise NotImplementedError

    def _divided(self, channels: int | None, which: str) -> int:
        if channels is None or channels % self.groups:
            raise ValueError(
                f"{type(self).__name__}: the number of {which} channels must be a multiple of groups {self.groups}, "
                f"got {channels}"
            )
        return channels // self.groups

    def initialize_for(self, x: Any) -> None:
        """Initialise the filters for images like `x` unless already initialised."""
        if waits(self.W):
            once(lambda: waits(self.W), self._initialize_params, x.shape[1])


class ConvolutionND(Windowed):
    """Convolution of images with any number of axes, which filters do not reverse: a cross-correlation.

    Parameters
    ----------
    ndim : int
        Number of axes of the images.
    in_channels : int or None
        None, or leaving it out, takes it from the first input.
    out_channels : int
    ksize : int, or one for each axis
    stride, pad, dilate : int, or one for each axis
    nobias : bool
    initialW, initial_bias : initializer, optional
        By default `LeCunNormal` and 0.
    cover_all : bool
        Let windows exceed the end, so that windows cover every element.
    groups : int

    Attributes
    ----------
    W : Parameter, shape (out_channels, in_channels / groups, *ksize)
    b : Parameter, shape (out_channels,), or None
    """

    def __init__(
        self, ndim: int, in_channels: int | None, out_channels: int | None = None, ksize: Size | None = None,
        stride: Size = 1, pad: Size = 0, nobias: bool = False, initialW: Any = None, initial_bias: Any = None,
        cover_all: bool = False, dilate: Size = 1, groups: int = 1,
    ) -> None:  # fmt: skip
        self.cover_all = cover_all
        super().__init__(
            ndim, in_channels, out_channels, ksize, stride, pad, nobias, initialW, initial_bias, dilate, groups
        )

    def _shape(self, in_channels: int) -> tuple[int, ...]:
        self._divided(self.out_channels, "output")
        return (self.out_channels or 0, self._divided(in_channels, "input"), *self.window)

    def forward(self, x: AnyArray) -> Variable:
        """Return the convolution of images `x`, shape (N, in_channels, *D)."""
        self.initialize_for(x)
        return functions.convolution_nd(
            x, self.W, self.b, self.stride, self.pad, self.cover_all, self.dilate, self.groups
        )

    @classmethod
    def from_params(
        cls, W: Any, b: Any = None, stride: Size = 1, pad: Size = 0, nobias: bool = False, **options: Any
    ) -> Self:
        """Return a link with copies of these parameters; `options` are further arguments, such as `groups`."""
        out, each, *ksize = W.shape
        sizes: list[Any] = [each * options.get("groups", 1), out, tuple(ksize), stride, pad]
        if "ndim" in inspect.signature(cls).parameters:
            sizes.insert(0, len(ksize))
        options |= {"nobias": nobias, "initialW": given(W), "initial_bias": None if b is None else given(b)}
        return cls(*sizes, **options)


class Convolution1D(ConvolutionND):
    """`ConvolutionND` for one axis, with its other parameters."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(1, *args, **kwargs)


class Convolution3D(ConvolutionND):
    """`ConvolutionND` for three axes, with its other parameters."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(3, *args, **kwargs)


class Convolution2D(ConvolutionND):
    """`ConvolutionND` for pictures.

    Parameters are the same as for `ConvolutionND`, without `ndim` and `cover_all`; the last two are keyword-only.
    """

    def __init__(
        self, in_channels: int | None, out_channels: int | None = None, ksize: Size | None = None, stride: Size = 1,
        pad: Size = 0, nobias: bool = False, initialW: Any = None, initial_bias: Any = None, *, dilate: Size = 1,
        groups: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(
            2, in_channels, out_channels, ksize, stride, pad, nobias, initialW, initial_bias, False, dilate, groups
        )

    def forward(self, x: AnyArray) -> Variable:
        """Return the convolution of pictures `x`, shape (N, in_channels, H, W)."""
        self.initialize_for(x)
        return functions.convolution_2d(
            x, self.W, self.b, self.stride, self.pad, dilate=self.dilate, groups=self.groups
        )


class DilatedConvolution2D(Convolution2D):
    """A convolution of pictures with parameters as for `Convolution2D`, of which `dilate` comes after `pad`."""

    def __init__(
        self, in_channels: int | None, out_channels: int | None = None, ksize: Size | None = None, stride: Size = 1,
        pad: Size = 0, dilate: Size = 1, nobias: bool = False, initialW: Any = None, initial_bias: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(in_channels, out_channels, ksize, stride, pad, nobias, initialW, initial_bias, dilate=dilate)


class DepthwiseConvolution2D(Windowed):
    """Convolution of each channel of pictures with separate filters.

    Parameters
    ----------
    in_channels : int or None
    channel_multiplier : int
        Number of filters for each channel.
    ksize, stride, pad : int or pair of int
    nobias : bool
    initialW, initial_bias : initializer, optional

    Attributes
    ----------
    W : Parameter, shape (channel_multiplier, in_channels, *ksize)
    b : Parameter, shape (in_channels * channel_multiplier,), or None
    """

    _specs: ClassVar[tuple[str, ...]] = "in_channels", "channel_multiplier", "ksize", "stride", "pad", "nobias"

    def __init__(
        self, in_channels: int | None, channel_multiplier: int, ksize: Size, stride: Size = 1, pad: Size = 0,
        nobias: bool = False, initialW: Any = None, initial_bias: Any = None,
    ) -> None:  # fmt: skip
        self.channel_multiplier = channel_multiplier
        super().__init__(2, None, None, ksize, stride, pad, nobias, initialW, initial_bias, 1, 1)
        self.in_channels = in_channels
        if in_channels is not None:
            self._initialize_params(in_channels)

    def _initialize_params(self, in_channels: int) -> None:
        if self.b is not None:
            self.b.initialize((self.channel_multiplier * in_channels,))
        self.W.initialize((self.channel_multiplier, in_channels, *self.window))

    def forward(self, x: AnyArray) -> Variable:
        """Return the convolution of pictures `x`, shape (N, in_channels, H, W)."""
        self.initialize_for(x)
        return functions.depthwise_convolution_2d(x, self.W, self.b, self.stride, self.pad)


class DeconvolutionND(Windowed):
    """Transposed convolution of images with any number of axes.

    Parameters
    ----------
    ndim : int
        Number of axes of the images.
    in_channels : int or None
        None, or leaving it out, takes it from the first input.
    out_channels : int
    ksize : int, or one for each axis
    stride, pad, dilate : int, or one for each axis
        Parameters of the convolution from the result to the input.
    nobias : bool
    outsize : int, or one for each axis, optional
        Size of the result, by default the smallest.
    initialW, initial_bias : initializer, optional
    groups : int

    Attributes
    ----------
    W : Parameter, shape (in_channels, out_channels / groups, *ksize)
    b : Parameter, shape (out_channels,), or None
    """

    def __init__(
        self, ndim: int, in_channels: int | None, out_channels: int | None = None, ksize: Size | None = None,
        stride: Size = 1, pad: Size = 0, nobias: bool = False, outsize: Size | None = None, initialW: Any = None,
        initial_bias: Any = None, dilate: Size = 1, groups: int = 1,
    ) -> None:  # fmt: skip
        self.outsize = None if outsize is None else per_axis(outsize, ndim, "outsize", type(self).__name__)
        super().__init__(
            ndim, in_channels, out_channels, ksize, stride, pad, nobias, initialW, initial_bias, dilate, groups
        )

    def _shape(self, in_channels: int) -> tuple[int, ...]:
        self._divided(in_channels, "input")
        return (in_channels, self._divided(self.out_channels, "output"), *self.window)

    def forward(self, x: AnyArray) -> Variable:
        """Return the transposed convolution of images `x`, shape (N, in_channels, *D)."""
        self.initialize_for(x)
        return functions.deconvolution_nd(
            x, self.W, self.b, self.stride, self.pad, self.outsize, self.dilate, self.groups
        )


class Deconvolution1D(DeconvolutionND):
    """`DeconvolutionND` for one axis, with its other parameters."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(1, *args, **kwargs)


class Deconvolution3D(DeconvolutionND):
    """`DeconvolutionND` for three axes, with its other parameters."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(3, *args, **kwargs)


class Deconvolution2D(DeconvolutionND):
    """A deconvolution of pictures with parameters as for `DeconvolutionND`, the last two by keyword only."""

    def __init__(
        self, in_channels: int | None, out_channels: int | None = None, ksize: Size | None = None, stride: Size = 1,
        pad: Size = 0, nobias: bool = False, outsize: Size | None = None, initialW: Any = None,
        initial_bias: Any = None, *, dilate: Size = 1, groups: int = 1,
    ) -> None:  # fmt: skip
        super().__init__(
            2, in_channels, out_channels, ksize, stride, pad, nobias, outsize, initialW, initial_bias, dilate, groups
        )

    def forward(self, x: AnyArray) -> Variable:
        """Return the transposed convolution of pictures `x`, shape (N, in_channels, H, W)."""
        self.initialize_for(x)
        return functions.deconvolution_2d(
            x, self.W, self.b, self.stride, self.pad, self.outsize, dilate=self.dilate, groups=self.groups
        )

    @classmethod
    def from_params(
        cls, W: Any, b: Any = None, stride: Size = 1, pad: Size = 0, outsize: Size | None = None, nobias: bool = False,
        *, dilate: Size = 1, groups: int = 1,
    ) -> "Deconvolution2D":  # fmt: skip
        """Return a link with copies of these parameters."""
        channels, each, *ksize = W.shape
        bias = None if b is None else given(b)
        options: Any = {"dilate": dilate, "groups": groups}
        return cls(channels, each * groups, tuple(ksize), stride, pad, nobias, outsize, given(W), bias, **options)
