"""Links of recurrent networks over whole sequences of different lengths."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from xpgrad.functions import n_step
from xpgrad.functions.checks import known_spec
from xpgrad.functions.mixed import in_dtype_of, unified
from xpgrad.functions.sequences import permutate, transpose_sequence
from xpgrad.graph.variable import Variable
from xpgrad.links.parameters import weight, zeros_beside
from xpgrad.models import ChainList, Link
from xpgrad.types import AnyArray

MAX_LAYERS = 10_000
"""Layers above which the construction of a network would not end."""


class NStepRNNBase(ChainList):
    """Base of recurrent networks over whole sequences, which may be in any order.

    Parameters
    ----------
    n_layers : int
    in_size, out_size : int
    dropout : float
        Probability with which an element between layers is dropped in training.
    initialW, initial_bias : initializer, optional
        By default `LeCunNormal` and 0.

    Attributes
    ----------
    ws, bs : list of list of Parameter
        The weights and biases of each layer and direction, in the order of `xpgrad.functions.n_step_lstm`. They are the
        attributes ``w0``, ``b0``, ``w1``, ... of the links in this list.
    """

    n_weights: ClassVar[int]
    n_cells: ClassVar[int] = 1
    use_bi_direction: ClassVar[bool] = False
    _kind: ClassVar[str] = ""
    _options: ClassVar[dict[str, str]] = {}

    def __init__(
        self, n_layers: int, in_size: int, out_size: int, dropout: float, *, initialW: Any = None,
        initial_bias: Any = None,
    ) -> None:  # fmt: skip
        self.direction = 2 if self.use_bi_direction else 1
        super().__init__()
        self.n_layers, self.in_size, self.out_size, self.dropout = n_layers, in_size, out_size, dropout
        if n_layers > MAX_LAYERS:
            raise ValueError(f"{type(self).__name__}: expected at most {MAX_LAYERS} layers, got {n_layers}")
        for layer in range(n_layers):
            of_x = in_size if layer == 0 else out_size * self.direction
            for _ in range(self.direction):
                part = Link()
                with part.init_scope():
                    for k in range(self.n_weights):
                        columns = of_x if k < self.n_weights // 2 else out_size
                        setattr(part, f"w{k}", weight(initialW, (out_size, columns)))
                        setattr(part, f"b{k}", weight(initial_bias, (out_size,), 0))
                self.append(part)

    @property
    def ws(self) -> list[list[Any]]:
        """The weights of each layer and direction."""
        return [[getattr(part, f"w{k}") for k in range(self.n_weights)] for part in self]

    @property
    def bs(self) -> list[list[Any]]:
        """The biases of each layer and direction."""
        return [[getattr(part, f"b{k}") for k in range(self.n_weights)] for part in self]

    def init_hx(self, xs: Sequence[Any]) -> Variable:
        """Return zeros as the state before the first step."""
        return zeros_beside(xs[0], (self.n_layers * self.direction, len(xs), self.out_size))

    def rnn(self, *args: Any) -> tuple[Any, ...]:
        """Return the last states and the outputs at each step for sorted, transposed sequences."""
        if not self._kind:
            raise NotImplementedError(f"{type(self).__name__}: define a method rnn")
        name = f"n_step_{'bi' * self.use_bi_direction}{self._kind}"
        run: Callable[..., tuple[Any, ...]] = getattr(n_step, name)
        return run(*args, **self._options)

    def _call(self, states: list[Any], xs: Sequence[Any]) -> tuple[list[Variable], list[Variable]]:
        if not isinstance(xs, (list, tuple)) or not xs:
            raise TypeError(f"{type(self).__name__}: expected xs to be a list of sequences, got {xs!r:.60}")
        spec, beside = known_spec(xs[0], "n_step"), (self[0].w0,)
        xs = [unified("n_step", x, beside=beside)[0] for x in xs]
        states = [None if x is None else unified("n_step", x, beside=beside)[0] for x in states]
        order = sorted(range(len(xs)), key=lambda k: -xs[k].shape[0])
        moved = order != sorted(order)
        states = [self.init_hx(xs) if x is None else _in_order(x, order, moved) for x in states]
        steps = transpose_sequence([xs[k] for k in order])
        *states, ys = self.rnn(self.n_layers, self.dropout, *states, self.ws, self.bs, steps)
        ys = transpose_sequence(ys)
        ranks = {k: rank for rank, k in enumerate(order)}
        back = [ranks[k] for k in range(len(xs))]
        return [in_dtype_of(spec, _in_order(x, back, moved)) for x in states], [in_dtype_of(spec, ys[k]) for k in back]


def _in_order(x: Any, order: list[int], moved: bool) -> Any:
    """Return a state with its sequences in another order."""
    if not moved:
        return x
    spec = known_spec(x, "permutate")
    return permutate(x, spec.backend.asarray(order, None, spec.device), axis=1)


class _OneState(NStepRNNBase):
    """Base of networks without cells."""

    def forward(self, hx: AnyArray | None, xs: Sequence[AnyArray]) -> tuple[Any, ...]:
        """Return the last outputs of each layer, and the sequences of outputs of the last layer.

        Parameters
        ----------
        hx : Variable or array, shape (S, B, out_size), or None
            Outputs before the first step, for the layers, or for the directions of each; None means zeros.
        xs : sequence of Variables or arrays, shapes (L_b, in_size)

        Returns
        -------
        hy : Variable, shape (S, B, out_size)
        ys : list of Variable, shapes (L_b, out_size), or (L_b, 2 * out_size) for both directions
        """
        (hy,), ys = self._call([hx], xs)
        return hy, ys


class NStepRNNTanh(_OneState):
    """Layers of plain recurrent units with tanh, by `n_step_rnn`; parameters as for `NStepRNNBase`."""

    n_weights = 2
    _kind, _options = "rnn", {"activation": "tanh"}


class NStepBiRNNTanh(NStepRNNTanh):
    """Layers of plain recurrent units with tanh in both directions; parameters as for `NStepRNNBase`."""

    use_bi_direction = True


class NStepRNNReLU(_OneState):
    """Layers of plain recurrent units with rectified outputs; parameters as for `NStepRNNBase`."""

    n_weights = 2
    _kind, _options = "rnn", {"activation": "relu"}


class NStepBiRNNReLU(NStepRNNReLU):
    """Layers of plain recurrent units with rectified outputs in both directions; parameters as for `NStepRNNBase`."""

    use_bi_direction = True


class NStepGRU(_OneState):
    """Layers of gated recurrent units, by `n_step_gru`; parameters as for `NStepRNNBase`."""

    n_weights = 6
    _kind = "gru"


class NStepBiGRU(NStepGRU):
    """Layers of gated recurrent units in both directions; parameters as for `NStepRNNBase`."""

    use_bi_direction = True


class NStepLSTM(NStepRNNBase):
    """Layers of long short-term memory, by `n_step_lstm`; parameters as for `NStepRNNBase`."""

    n_weights, n_cells = 8, 2
    _kind = "lstm"

    def forward(
        self, hx: AnyArray | None, cx: AnyArray | None, xs: Sequence[AnyArray]
    ) -> tuple[Variable, Variable, list[Variable]]:
        """Return the last outputs and cells of each layer, and the sequences of outputs of the last layer.

        Parameters
        ----------
        hx, cx : Variable or array, shape (S, B, out_size), or None
            Outputs and cells before the first step; None means zeros.
        xs : sequence of Variables or arrays, shapes (L_b, in_size)

        Returns
        -------
        hy, cy : Variable, shape (S, B, out_size)
        ys : list of Variable, shapes (L_b, out_size), or (L_b, 2 * out_size) for both directions
        """
        (hy, cy), ys = self._call([hx, cx], xs)
        return hy, cy, ys


class NStepBiLSTM(NStepLSTM):
    """Layers of long short-term memory in both directions; parameters as for `NStepRNNBase`."""

    use_bi_direction = True
