"""Links of long short-term memory: plain, with peepholes, and with zoneout."""

from typing import Any

from xpgrad import functions
from xpgrad.array_api import concat, tanh
from xpgrad.backend.device import Device
from xpgrad.functions.activation import sigmoid
from xpgrad.functions.rnn import lstm
from xpgrad.graph.variable import Variable
from xpgrad.initializers import Initializer, _get_initializer, generate_array
from xpgrad.links.connection import Linear
from xpgrad.links.parameters import zeros_beside
from xpgrad.links.state import Stateful
from xpgrad.models import Chain
from xpgrad.types import AnyArray, Array, Dtype, Shape


class _Blocks(Initializer):
    """Four blocks of rows, each drawn separately."""

    def __init__(self, initializer: Any) -> None:
        self.initializer = _get_initializer(initializer)
        super().__init__()

    def generate(self, shape: Shape, dtype: Dtype, device: Device) -> Array:
        """Return the blocks."""
        part = (shape[0] // 4, *shape[1:])
        parts = [generate_array(self.initializer, part, dtype=dtype, device=device) for _ in range(4)]
        return device.backend.xp.concat(parts, axis=0)


class _Gates(Initializer):
    """Biases of the input and the three gates, interleaved."""

    def __init__(self, bias: Any, forget_bias: Any) -> None:
        self.bias, self.forget_bias = _get_initializer(bias), _get_initializer(forget_bias)
        super().__init__()

    def generate(self, shape: Shape, dtype: Dtype, device: Device) -> Array:
        """Return the biases."""
        part, gates = (1, shape[0] // 4, 1), (self.bias, self.bias, self.forget_bias, self.bias)
        xp = device.backend.xp
        return xp.reshape(
            xp.concat([generate_array(g, part, dtype=dtype, device=device) for g in gates], axis=2), shape
        )


class _LSTM(Chain):
    """Base of plain long short-term memories, with or without a state."""

    def __init__(
        self, in_size: int | None, out_size: int | None = None, lateral_init: Any = None, upward_init: Any = None,
        bias_init: Any = None, forget_bias_init: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if out_size is None:
            in_size, out_size = None, in_size
        if out_size is None:
            raise TypeError(f"{type(self).__name__}: expected out_size to be an int, got None")
        self.state_size = out_size
        gates = _Gates(_or(bias_init, 0), _or(forget_bias_init, 1))
        with self.init_scope():
            self.upward = Linear(in_size, 4 * out_size, initialW=_Blocks(upward_init), initial_bias=gates)
            self.lateral = Linear(out_size, 4 * out_size, nobias=True, initialW=_Blocks(lateral_init))


class StatelessLSTM(_LSTM):
    """One step of a long short-term memory; cell and output of the step before are arguments.

    Parameters
    ----------
    in_size : int or None
        None, or leaving it out, takes it from the first input.
    out_size : int
    lateral_init, upward_init : initializer, optional
        Applied to the weights of each gate separately; by default `LeCunNormal`.
    bias_init, forget_bias_init : initializer, optional
        By default 0, and 1 for the forget gate.

    Attributes
    ----------
    upward : Linear
        From the input: W of shape (4 * out_size, in_size), with the gates interleaved as `lstm` takes them.
    lateral : Linear
        From the output of the step before, without a bias.

    References
    ----------
    Hochreiter, Schmidhuber: Long short-term memory, 1997; Gers, Schmidhuber, Cummins: Learning to forget, 2000.
    """

    def forward(self, c: AnyArray | None, h: AnyArray | None, x: AnyArray) -> tuple[Variable, Variable]:
        """Return the new cell and output, after cell `c` and output `h` or None at the beginning."""
        sources = self.upward(x)
        if h is not None:
            sources = sources + self.lateral(h)
        return lstm(zeros_beside(sources, (sources.shape[0], self.state_size)) if c is None else c, sources)


def _or(initializer: Any, default: float) -> Any:
    return default if initializer is None else initializer


class _Cells(Stateful):
    """Base of links that remember a cell and an output."""

    states = "c", "h"
    c: Variable | None
    h: Variable | None

    def set_state(self, c: Variable, h: Variable) -> None:
        """Set cell and output."""
        self._set_state(c, h)


class LSTM(_Cells, _LSTM):
    """A long short-term memory that remembers cell and output.

    Batches may become smaller from step to step, if sequences are sorted by length, the longest first.

    Parameters are the same as for `StatelessLSTM`.

    Attributes
    ----------
    upward, lateral : Linear
        As in `StatelessLSTM`.
    c, h : Variable, shape (N, out_size), or None
        Cell and output.
    """

    def __init__(
        self, in_size: int | None, out_size: int | None = None, lateral_init: Any = None, upward_init: Any = None,
        bias_init: Any = None, forget_bias_init: Any = None,
    ) -> None:  # fmt: skip
        _LSTM.__init__(self, in_size, out_size, lateral_init, upward_init, bias_init, forget_bias_init)
        self.reset_state()

    def forward(self, x: AnyArray) -> Variable:
        """Return the output after `x`, shape (N, in_size), where N is at most the batch size of the step before."""
        sources = self.upward(x)
        batch, rest = sources.shape[0], None
        if self.h is not None:
            if self.h.shape[0] < batch:
                raise TypeError(
                    f"LSTM: expected a batch of at most {self.h.shape[0]}, as in the step before, got {batch}; sort "
                    "sequences by length, or call reset_state()"
                )
            rest = self.h[batch:] if self.h.shape[0] > batch else None
            if batch:
                sources = sources + self.lateral(self.h if rest is None else self.h[:batch])
        c = zeros_beside(sources, (batch, self.state_size)) if self.c is None else self.c
        self.c, y = lstm(c, sources)
        self.h = y if rest is None else concat([y, rest], axis=0)
        return y


class _Gated(_Cells):
    """Base of variants with a state `c`, `h`, whose gates are sums of ``upward`` and ``lateral``."""

    def __init__(self, in_size: int | None, out_size: int) -> None:
        super().__init__()
        self.state_size = out_size
        self.reset_state()
        with self.init_scope():
            self.upward = Linear(in_size, 4 * out_size)
            self.lateral = Linear(out_size, 4 * out_size, nobias=True)

    def _sources(self, x: AnyArray) -> tuple[Variable, list[Variable]]:
        """Return the cell, and the sources of input and gates."""
        sources = self.upward(x)
        if self.h is not None:
            sources = sources + self.lateral(self.h)
        shape = sources.shape[0], self.state_size
        parts = sources.reshape((*shape, 4))
        return zeros_beside(sources, shape) if self.c is None else self.c, [parts[:, :, k] for k in range(4)]


class StatefulPeepholeLSTM(_Gated):
    """A long short-term memory whose gates also see the cell.

    Parameters
    ----------
    in_size : int or None
        None takes it from the first input.
    out_size : int

    Attributes
    ----------
    upward, lateral, peep_i, peep_f, peep_o : Linear
        Weights from the input, from the output before, and from the cell to each gate; only the first has a bias.
    c, h : Variable, shape (N, out_size), or None

    References
    ----------
    Gers, Schmidhuber: Recurrent nets that time and count, 2000.
    """

    def __init__(self, in_size: int | None, out_size: int) -> None:
        super().__init__(in_size, out_size)
        with self.init_scope():
            self.peep_i = Linear(out_size, out_size, nobias=True)
            self.peep_f = Linear(out_size, out_size, nobias=True)
            self.peep_o = Linear(out_size, out_size, nobias=True)

    def forward(self, x: AnyArray) -> Variable:
        """Return the output after `x`, shape (N, in_size)."""
        c, (a, i, f, o) = self._sources(x)
        self.c = tanh(a) * sigmoid(i + self.peep_i(c)) + sigmoid(f + self.peep_f(c)) * c
        self.h = sigmoid(o + self.peep_o(self.c)) * tanh(self.c)
        return self.h


class StatefulZoneoutLSTM(_Gated):
    """A long short-term memory in which, during training, random elements of cell and output keep old values.

    Parameters
    ----------
    in_size : int or None
        None takes it from the first input.
    out_size : int
    c_ratio, h_ratio : float
        Probability that an element of the cell, or of the output, is kept.

    Attributes
    ----------
    upward, lateral : Linear
    c, h : Variable, shape (N, out_size), or None

    References
    ----------
    Krueger and others: Zoneout: regularizing RNNs by randomly preserving hidden activations, 2017.
    """

    def __init__(self, in_size: int | None, out_size: int, c_ratio: float = 0.5, h_ratio: float = 0.5) -> None:
        super().__init__(in_size, out_size)
        self.c_ratio, self.h_ratio = c_ratio, h_ratio

    def forward(self, x: AnyArray) -> Variable:
        """Return the output after `x`, shape (N, in_size)."""
        c, (a, i, f, o) = self._sources(x)
        h = zeros_beside(c, c.shape) if self.h is None else self.h
        latest = tanh(a) * sigmoid(i) + sigmoid(f) * c
        self.c = functions.zoneout(c, latest, self.c_ratio)
        self.h = functions.zoneout(h, sigmoid(o) * tanh(latest), self.h_ratio)
        return self.h
