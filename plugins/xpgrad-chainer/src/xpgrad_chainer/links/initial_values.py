"""Links whose initial values or samples are drawn in Chainer's order, so that seeds decide the same numbers."""

from typing import Any

from xpgrad import links
from xpgrad.array_api import concat
from xpgrad.initializers import LeCunNormal, _get_initializer, generate_array
from xpgrad.links.parameters import outside, waits
from xpgrad.types import AnyArray
from xpgrad_chainer.utils.walker_alias import WalkerAlias


class LSTMBase(links.StatelessLSTM):
    """Base of long short-term memories; initial weights are drawn gate by gate, lateral before upward."""

    def __init__(
        self, in_size: int | None, out_size: int | None = None, lateral_init: Any = None, upward_init: Any = None,
        bias_init: Any = None, forget_bias_init: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(in_size, out_size, 0, 0, bias_init, forget_bias_init)
        self._initializers = _get_initializer(lateral_init), _get_initializer(upward_init)
        if not waits(self.upward.W):
            self._draw_weights()

    def _draw_weights(self) -> None:
        links_of = self.lateral, self.upward
        blocks: tuple[list[Any], list[Any]] = [], []
        for _ in range(4):
            for link, initializer, parts in zip(links_of, self._initializers, blocks, strict=True):
                shape = self.state_size, link.W.shape[1]
                parts.append(generate_array(initializer, shape, dtype=link.W.dtype, device=link.device))
        for link, parts in zip(links_of, blocks, strict=True):
            link.W.array = concat(parts, axis=0).array

    def _initialize_for(self, x: Any) -> None:
        if waits(self.upward.W):
            self.upward.initialize_for(x)
            outside(self._draw_weights)


class StatelessLSTM(LSTMBase):
    """One step of a long short-term memory; see `xpgrad.links.StatelessLSTM`."""

    def forward(self, c: AnyArray | None, h: AnyArray | None, x: AnyArray) -> Any:
        """Return the new cell and output."""
        self._initialize_for(x)
        return super().forward(c, h, x)


class LSTM(links.LSTM, LSTMBase):
    """A long short-term memory that remembers cell and output; see `xpgrad.links.LSTM`."""

    def __init__(self, in_size: int | None, out_size: int | None = None, *args: Any, **kwargs: Any) -> None:
        LSTMBase.__init__(self, in_size, out_size, *args, **kwargs)
        self.reset_state()

    def forward(self, x: AnyArray) -> Any:  # type: ignore[override]  # the base has the state as arguments
        """Return the output after `x`."""
        self._initialize_for(x)
        return links.LSTM.forward(self, x)


class DeformableConvolution2D(links.DeformableConvolution2D):
    """A convolution at offsets, which start at random; its filters start as 0."""

    def __init__(
        self, in_channels: Any, out_channels: Any = None, ksize: Any = None, stride: Any = 1, pad: Any = 0,
        offset_nobias: bool = False, offset_initialW: Any = None, offset_initial_bias: Any = None,
        deform_nobias: bool = False, deform_initialW: Any = None, deform_initial_bias: Any = None,
    ) -> None:  # fmt: skip
        offset = LeCunNormal() if offset_initialW is None else offset_initialW
        deform = 0 if deform_initialW is None else deform_initialW
        super().__init__(
            in_channels, out_channels, ksize, stride, pad, offset_nobias, offset, offset_initial_bias, deform_nobias,
            deform, deform_initial_bias,
        )  # fmt: skip


class NegativeSampling(links.NegativeSampling):
    """The loss of distinguishing labels from random labels; see `xpgrad.links.NegativeSampling`."""

    _sampler_type = WalkerAlias


class BlackOut(links.BlackOut):
    """Cross entropy of the label among random samples; see `xpgrad.links.BlackOut`."""

    _sampler_type = WalkerAlias
