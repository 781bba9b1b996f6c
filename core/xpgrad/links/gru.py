"""Links of gated recurrent units, and of units with one gate."""

from typing import Any

from xpgrad import functions
from xpgrad.array_api import concat, tanh
from xpgrad.functions.activation import sigmoid
from xpgrad.graph.variable import Variable
from xpgrad.links.connection import Linear
from xpgrad.links.parameters import zeros_beside
from xpgrad.links.state import Stateful
from xpgrad.models import Chain
from xpgrad.types import AnyArray


class _GRU(Chain):
    """Base of gated recurrent units, with or without a state."""

    def __init__(
        self, in_size: int | None, out_size: int, init: Any = None, inner_init: Any = None, bias_init: Any = None
    ) -> None:
        super().__init__()
        of_x = {"initialW": init, "initial_bias": bias_init}
        of_h = {"initialW": inner_init, "initial_bias": bias_init}
        with self.init_scope():
            self.W_r, self.U_r = Linear(in_size, out_size, **of_x), Linear(out_size, out_size, **of_h)
            self.W_z, self.U_z = Linear(in_size, out_size, **of_x), Linear(out_size, out_size, **of_h)
            self.W, self.U = Linear(in_size, out_size, **of_x), Linear(out_size, out_size, **of_h)

    def _step(self, h: AnyArray, x: AnyArray) -> Variable:
        r, z = sigmoid(self.W_r(x) + self.U_r(h)), sigmoid(self.W_z(x) + self.U_z(h))
        return functions.linear_interpolate(z, tanh(self.W(x) + self.U(r * h)), h)


class StatelessGRU(_GRU):
    """One step of a gated recurrent unit; the output of the step before is an argument.

    Parameters
    ----------
    in_size : int or None
        None takes it from the first input.
    out_size : int
    init, inner_init : initializer, optional
        For the weights from the input, and from the output before.
    bias_init : initializer, optional
        By default 0.

    Attributes
    ----------
    W_r, W_z, W, U_r, U_z, U : Linear
        From the input, and from the output before, to the reset gate, the update gate and the candidate.

    References
    ----------
    Cho and others: On the properties of neural machine translation: encoder-decoder approaches, 2014.
    """

    def forward(self, h: AnyArray, x: AnyArray) -> Variable:
        """Return ``(1 - z) * h + z * tanh(W(x) + U(r * h))`` with gates r and z, sigmoids of sums."""
        return self._step(h, x)


class StatefulGRU(Stateful, _GRU):
    """A gated recurrent unit that remembers its output; parameters as for `StatelessGRU`.

    Attributes
    ----------
    W_r, W_z, W, U_r, U_z, U : Linear
        As in `StatelessGRU`.
    h : Variable, shape (N, out_size), or None
    """

    h: Variable | None

    def __init__(
        self, in_size: int | None, out_size: int, init: Any = None, inner_init: Any = None, bias_init: Any = 0
    ) -> None:
        _GRU.__init__(self, in_size, out_size, init, inner_init, bias_init)
        self.state_size = out_size
        self.reset_state()

    def set_state(self, h: Variable) -> None:
        """Set the output of the step before."""
        self._set_state(h)

    def forward(self, x: AnyArray) -> Variable:
        """Return the output after `x`, shape (N, in_size)."""
        if self.h is None:  # no U: their biases are left out at the beginning, as in Chainer
            self.h = sigmoid(self.W_z(x)) * tanh(self.W(x))
        else:
            self.h = self._step(self.h, x)
        return self.h


class GRU(StatefulGRU):
    """A gated recurrent unit with state, the same as `StatefulGRU`."""

    def forward(self, x: AnyArray, *others: AnyArray) -> Variable:
        """Return the output after `x`, shape (N, in_size)."""
        if others:
            raise ValueError(f"GRU: expected one argument x, got {1 + len(others)}; StatelessGRU takes h and x")
        return super().forward(x)


class _MGU(Chain):
    """Base of minimal gated units, with or without a state."""

    def __init__(self, n_inputs: int, n_units: int) -> None:
        super().__init__()
        with self.init_scope():
            self.W_f, self.W_h = Linear(n_inputs + n_units, n_units), Linear(n_inputs + n_units, n_units)

    def _step(self, h: AnyArray, x: AnyArray) -> Variable:
        f = sigmoid(self.W_f(concat([h, x], axis=1)))
        return functions.linear_interpolate(f, tanh(self.W_h(concat([f * h, x], axis=1))), h)


class StatelessMGU(_MGU):
    """One step of a minimal gated unit; the output of the step before is an argument.

    Parameters
    ----------
    n_inputs, n_units : int

    Attributes
    ----------
    W_f, W_h : Linear
        From the output before and the input, concatenated, to the forget gate and to the candidate.

    References
    ----------
    Zhou, Wu, Zhang, Zhou: Minimal gated unit for recurrent neural networks, 2016.
    """

    def forward(self, h: AnyArray, x: AnyArray) -> Variable:
        """Return ``(1 - f) * h + f * tanh(W_h([f * h, x]))`` with the gate ``f = sigmoid(W_f([h, x]))``."""
        return self._step(h, x)


class StatefulMGU(Stateful, _MGU):
    """A minimal gated unit that remembers its output.

    Parameters
    ----------
    in_size, out_size : int

    Attributes
    ----------
    W_f, W_h : Linear
        As in `StatelessMGU`.
    h : Variable, shape (N, out_size), or None
    """

    h: Variable | None

    def __init__(self, in_size: int, out_size: int) -> None:
        _MGU.__init__(self, in_size, out_size)
        self.state_size = out_size
        self.reset_state()

    def set_state(self, h: Variable) -> None:
        """Set the output of the step before."""
        self._set_state(h)

    def forward(self, x: AnyArray) -> Variable:
        """Return the output after `x`, shape (N, in_size)."""
        h = zeros_beside(x, (x.shape[0], self.state_size)) if self.h is None else self.h
        self.h = self._step(h, x)
        return self.h
