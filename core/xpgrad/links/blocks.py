"""Blocks of convolutions from well-known networks."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.array_api import concat
from xpgrad.functions.activation import relu
from xpgrad.functions.pooling import average_pooling_2d, max_pooling_2d
from xpgrad.graph.variable import Variable
from xpgrad.links.batch_normalization import BatchNormalization
from xpgrad.links.convolution import Convolution2D
from xpgrad.models import Chain, ChainList
from xpgrad.types import AnyArray, Size


class MLPConvolution2D(ChainList):
    """A convolution, then some of single pixels, with an activation between them.

    Parameters
    ----------
    in_channels : int or None
        None, or leaving it out, takes it from the first input.
    out_channels : sequence of int
        Numbers of channels after each convolution.
    ksize, stride, pad : int or pair of int
        Of the first.
    activation : callable
    conv_init, bias_init : initializer, optional

    References
    ----------
    Lin, Chen, Yan: Network in network, 2014.
    """

    def __init__(
        self, in_channels: Any, out_channels: Any, ksize: Size | None = None, stride: Size = 1, pad: Size = 0,
        activation: Callable[[Any], Any] = relu, conv_init: Any = None, bias_init: Any = None,
    ) -> None:  # fmt: skip
        if ksize is None:
            in_channels, out_channels, ksize = None, in_channels, out_channels
        if not isinstance(out_channels, Sequence) or not out_channels:
            raise TypeError(f"MLPConvolution2D: expected out_channels to be a sequence of int, got {out_channels!r}")
        self.activation = activation
        options = {"initialW": conv_init, "initial_bias": bias_init}
        super().__init__(
            Convolution2D(in_channels, out_channels[0], ksize, stride, pad, **options),
            *(Convolution2D(n, m, 1, **options) for n, m in itertools.pairwise(out_channels)),
        )

    def forward(self, x: AnyArray) -> Variable:
        """Return the outputs of the last convolution."""
        y: Any = x
        for link in self[:-1]:
            y = self.activation(link(y))
        last: Variable = self[-1](y)
        return last


class Inception(Chain):
    """Convolutions of several sizes and a pooling side by side.

    Parameters
    ----------
    in_channels : int or None
    out1, out3, out5, proj_pool : int
        Channels of the results for single pixels, 3 x 3, 5 x 5, and pooling.
    proj3, proj5 : int
        Channels before the larger windows.
    conv_init, bias_init : initializer, optional

    References
    ----------
    Szegedy and others: Going deeper with convolutions, 2015.
    """

    def __init__(
        self, in_channels: int | None, out1: int, proj3: int, out3: int, proj5: int, out5: int, proj_pool: int,
        conv_init: Any = None, bias_init: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        options = {"initialW": conv_init, "initial_bias": bias_init}
        with self.init_scope():
            self.conv1 = Convolution2D(in_channels, out1, 1, **options)
            self.proj3 = Convolution2D(in_channels, proj3, 1, **options)
            self.conv3 = Convolution2D(proj3, out3, 3, pad=1, **options)
            self.proj5 = Convolution2D(in_channels, proj5, 1, **options)
            self.conv5 = Convolution2D(proj5, out5, 5, pad=2, **options)
            self.projp = Convolution2D(in_channels, proj_pool, 1, **options)

    def forward(self, x: AnyArray) -> Variable:
        """Return the rectified results, concatenated along the channels."""
        pooled = max_pooling_2d(x, 3, stride=1, pad=1)
        parts = self.conv1(x), self.conv3(relu(self.proj3(x))), self.conv5(relu(self.proj5(x))), self.projp(pooled)
        return relu(concat(parts, axis=1))


class InceptionBN(Chain):
    """`Inception` with batch normalization after each convolution, and two 3 x 3 windows in place of 5 x 5.

    Parameters
    ----------
    in_channels : int or None
    out1, out3, out33 : int
        Channels of the results for single pixels (0 omits these), one window, and two windows.
    proj3, proj33 : int
        Channels before the windows.
    pooltype : "max" or "avg"
    proj_pool : int, optional
        Channels after the pooling; None keeps their number.
    stride : int
        Of the last window of each path; 1 if `out1` is not 0.
    conv_init : initializer, optional
    dtype : dtype or str, optional
        Dtype of the normalization layers.

    References
    ----------
    Ioffe, Szegedy: Batch normalization, 2015.
    """

    def __init__(
        self, in_channels: int | None, out1: int, proj3: int, out3: int, proj33: int, out33: int, pooltype: str,
        proj_pool: int | None = None, stride: int = 1, conv_init: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if pooltype not in ("max", "avg"):
            raise ValueError(f"InceptionBN: pooltype must be 'max' or 'avg', got {pooltype!r}")
        if out1 and (stride != 1 or proj_pool is None):
            raise ValueError(f"InceptionBN: with out1, stride must be 1 and proj_pool given, got {stride}, {proj_pool}")
        self.out1, self.proj_pool, self.stride, self.pooltype = out1, proj_pool, stride, pooltype
        layers: dict[str, tuple[int | None, int, int, int]] = {
            "proj3": (in_channels, proj3, 1, 1), "conv3": (proj3, out3, 3, stride),
            "proj33": (in_channels, proj33, 1, 1), "conv33a": (proj33, out33, 3, 1),
            "conv33b": (out33, out33, 3, stride),
        }  # fmt: skip
        if out1:
            layers["conv1"] = (in_channels, out1, 1, 1)
        if proj_pool is not None:
            layers["poolp"] = (in_channels, proj_pool, 1, 1)
        for name, (n, m, k, s) in layers.items():
            self.add_link(name, Convolution2D(n, m, k, stride=s, pad=k // 2, nobias=True, initialW=conv_init))
            self.add_link(f"{name}n", BatchNormalization(m, dtype=dtype))

    def _path(self, x: Any, *names: str) -> Any:
        for name in names:
            x = relu(self[f"{name}n"](self[name](x)))
        return x

    def forward(self, x: AnyArray) -> Variable:
        """Return the results, concatenated along the channels."""
        if self.pooltype == "max":
            pooled = max_pooling_2d(x, 3, stride=self.stride, pad=1, cover_all=False)
        else:
            pooled = average_pooling_2d(x, 3, stride=self.stride, pad=1)
        parts = [self._path(x, "conv1")] if self.out1 else []
        parts += [self._path(x, "proj3", "conv3"), self._path(x, "proj33", "conv33a", "conv33b")]
        return concat([*parts, pooled if self.proj_pool is None else self._path(pooled, "poolp")], axis=1)
