"""Recurrent networks of one or more layers over whole sequences, in one or both directions."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from xpgrad import array_api
from xpgrad.array_api import tanh
from xpgrad.array_api.half_precision import in_single_precision
from xpgrad.backend.spec import Spec
from xpgrad.config import config
from xpgrad.functions.activation import relu, sigmoid
from xpgrad.functions.array import separate
from xpgrad.functions.checks import invalid, real_floating, require_option
from xpgrad.functions.connection import linear
from xpgrad.functions.noise import dropout
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import AnyArray

__all__ = ["n_step_bigru", "n_step_bilstm", "n_step_birnn", "n_step_gru", "n_step_lstm", "n_step_rnn"]

State = tuple[Variable, ...]
Step = Callable[[Variable, Variable, State], State]
Sequences = tuple[Variable, ...]
Weights = Sequence[Sequence[AnyArray]]


class Unit(NamedTuple):
    """A recurrent unit.

    Attributes
    ----------
    name : str
        Name of the function that runs the unit.
    parts : int
        Number of matrices for the input, and again for the state.
    step : callable
        Takes the products of the matrices with the input and with the state, and the state before; returns the state,
        whose first element is the output.
    """

    name: str
    parts: int
    step: Step


@in_single_precision
def n_step_lstm(
    n_layers: int, dropout_ratio: float, hx: AnyArray, cx: AnyArray, ws: Weights, bs: Weights, xs: Sequence[AnyArray]
) -> tuple[Variable, Variable, Sequences]:
    """Return the last outputs, the last cells and all outputs of layers of units with a long short-term memory.

    A step computes, with ``*`` elementwise, ::

        i = sigmoid(ws[l][0] x + ws[l][4] h + bs[l][0] + bs[l][4])
        f = sigmoid(ws[l][1] x + ws[l][5] h + bs[l][1] + bs[l][5])
        a = tanh(ws[l][2] x + ws[l][6] h + bs[l][2] + bs[l][6])
        o = sigmoid(ws[l][3] x + ws[l][7] h + bs[l][3] + bs[l][7])
        c = f * c + i * a
        h = o * tanh(c)

    Parameters
    ----------
    n_layers : int
    dropout_ratio : float
        Probability with which an element between layers is dropped in training.
    hx, cx : Variable or array, shape (L, B, N), real floating-point
        Outputs and cells of the layers before the first step.
    ws : list of L lists of 8 Variables or arrays
        Matrices of each layer, as above: matrices for the input of shape (N, I) in the first layer and (N, N) in other
        layers, matrices for the previous output of shape (N, N).
    bs : list of L lists of 8 Variables or arrays, shape (N,)
    xs : sequence of Variables or arrays, shapes (B_t, I)
        The inputs of each step. Sequences are sorted by length, the longest first, so that B_0 is B and the B_t are in
        descending order.

    Returns
    -------
    hy, cy : Variable, shape (L, B, N)
        Output and cell of each layer, for each sequence after its last step.
    ys : tuple of Variable, shapes (B_t, N)
        Output of the last layer at each step.

    Notes
    -----
    The order of the weights is the order in Chainer's computation, in PyTorch and in cuDNN; the formulas in Chainer's
    documentation exchange the last two.

    See Also
    --------
    n_step_bilstm : both directions
    lstm : one step
    """
    hy, cy, ys = _run(_lstm("n_step_lstm"), n_layers, dropout_ratio, (hx, cx), ws, bs, xs)
    return hy, cy, ys


@in_single_precision
def n_step_bilstm(
    n_layers: int, dropout_ratio: float, hx: AnyArray, cx: AnyArray, ws: Weights, bs: Weights, xs: Sequence[AnyArray]
) -> tuple[Variable, Variable, Sequences]:
    """Return the last outputs, the last cells and all outputs of layers of long short-term memory in both directions.

    Parameters
    ----------
    n_layers, dropout_ratio, xs
        As for `n_step_lstm`.
    hx, cx : Variable or array, shape (2 * L, B, N), real floating-point
        Forward and backward direction of the first layer, then of the second, ...
    ws, bs : list of 2 * L lists of 8 Variables or arrays
        In the same order. The input of a layer after the first is the outputs of both directions: 2 * N features.

    Returns
    -------
    hy, cy : Variable, shape (2 * L, B, N)
    ys : tuple of Variable, shapes (B_t, 2 * N)
        Forward output, then backward output.
    """
    hy, cy, ys = _run(_lstm("n_step_bilstm"), n_layers, dropout_ratio, (hx, cx), ws, bs, xs, both=True)
    return hy, cy, ys


@in_single_precision
def n_step_gru(
    n_layers: int, dropout_ratio: float, hx: AnyArray, ws: Weights, bs: Weights, xs: Sequence[AnyArray]
) -> tuple[Variable, Sequences]:
    """Return the last outputs and all outputs of layers of gated recurrent units.

    A step computes, with ``*`` elementwise, ::

        r = sigmoid(ws[l][0] x + ws[l][3] h + bs[l][0] + bs[l][3])
        z = sigmoid(ws[l][1] x + ws[l][4] h + bs[l][1] + bs[l][4])
        n = tanh(ws[l][2] x + bs[l][2] + r * (ws[l][5] h + bs[l][5]))
        h = (1 - z) * n + z * h

    Parameters
    ----------
    n_layers, dropout_ratio, hx, xs
        As for `n_step_lstm`.
    ws, bs : list of L lists of 6 Variables or arrays
        As for `n_step_lstm`: three for the input, three for the output before.

    Returns
    -------
    hy : Variable, shape (L, B, N)
    ys : tuple of Variable, shapes (B_t, N)

    References
    ----------
    Cho and others: Learning phrase representations using RNN encoder-decoder, 2014.
    """
    hy, ys = _run(Unit("n_step_gru", 3, _gru), n_layers, dropout_ratio, (hx,), ws, bs, xs)
    return hy, ys


@in_single_precision
def n_step_bigru(
    n_layers: int, dropout_ratio: float, hx: AnyArray, ws: Weights, bs: Weights, xs: Sequence[AnyArray]
) -> tuple[Variable, Sequences]:
    """Return the last outputs and all outputs of layers of gated recurrent units in both directions.

    The units are the same as in `n_step_gru`; the order of directions is the same as in `n_step_bilstm`.
    """
    hy, ys = _run(Unit("n_step_bigru", 3, _gru), n_layers, dropout_ratio, (hx,), ws, bs, xs, both=True)
    return hy, ys


@in_single_precision
def n_step_rnn(
    n_layers: int, dropout_ratio: float, hx: AnyArray, ws: Weights, bs: Weights, xs: Sequence[AnyArray],
    activation: str = "tanh",
) -> tuple[Variable, Sequences]:  # fmt: skip
    """Return the last outputs and all outputs of layers of plain recurrent units.

    A step computes ``h = activation(ws[l][0] x + ws[l][1] h + bs[l][0] + bs[l][1])``.

    Parameters
    ----------
    n_layers, dropout_ratio, hx, xs
        As for `n_step_lstm`.
    ws, bs : list of L lists of 2 Variables or arrays
        As for `n_step_lstm`: one for the input, one for the output before.
    activation : {"tanh", "relu"}

    Returns
    -------
    hy : Variable, shape (L, B, N)
    ys : tuple of Variable, shapes (B_t, N)
    """
    hy, ys = _run(_plain("n_step_rnn", activation), n_layers, dropout_ratio, (hx,), ws, bs, xs)
    return hy, ys


@in_single_precision
def n_step_birnn(
    n_layers: int, dropout_ratio: float, hx: AnyArray, ws: Weights, bs: Weights, xs: Sequence[AnyArray],
    activation: str = "tanh",
) -> tuple[Variable, Sequences]:  # fmt: skip
    """Return the last outputs and all outputs of layers of plain recurrent units in both directions.

    The units are the same as in `n_step_rnn`; the order of directions is the same as in `n_step_bilstm`.
    """
    hy, ys = _run(_plain("n_step_birnn", activation), n_layers, dropout_ratio, (hx,), ws, bs, xs, both=True)
    return hy, ys


def _lstm(name: str) -> Unit:
    def step(of_x: Variable, of_h: Variable, state: State) -> State:
        i, f, a, o = _parts(of_x + of_h, 4)
        c = sigmoid(f) * state[1] + sigmoid(i) * tanh(a)
        return sigmoid(o) * tanh(c), c

    return Unit(name, 4, step)


def _gru(of_x: Variable, of_h: Variable, state: State) -> State:
    (r, z, n), (r_h, z_h, n_h) = _parts(of_x, 3), _parts(of_h, 3)
    z = sigmoid(z + z_h)
    return ((1 - z) * tanh(n + sigmoid(r + r_h) * n_h) + z * state[0],)


def _plain(name: str, activation: str) -> Unit:
    require_option(name, "activation", activation, ("tanh", "relu"))
    function = tanh if activation == "tanh" else relu
    return Unit(name, 1, lambda of_x, of_h, state: (function(of_x + of_h),))


def _parts(x: Variable, count: int) -> list[Variable]:
    n = x.shape[1] // count
    return [x[:, k * n : (k + 1) * n] for k in range(count)]


def _run(
    unit: Unit, n_layers: int, dropout_ratio: float, states: tuple[Any, ...], ws: Any, bs: Any, xs: Any,
    both: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the last states of all layers and directions, stacked, and the outputs of the last layer."""
    directions = 1 + both
    _check(unit, n_layers * directions, states, ws, bs, xs, directions)
    starts = [separate(state) for state in states]
    ys, ends = [as_variable(x) for x in xs], []
    for layer in range(n_layers):
        outputs = []
        for direction in range(directions):
            k = directions * layer + direction
            inputs = [dropout(y, ratio=dropout_ratio) for y in ys] if layer and config.train and dropout_ratio else ys
            end, hidden = _sequence(unit, inputs, tuple(start[k] for start in starts), ws[k], bs[k], direction == 1)
            ends.append(end)
            outputs.append(hidden)
        ys = outputs[0] if not both else [array_api.concat(pair, axis=1) for pair in zip(*outputs, strict=True)]
    return *(array_api.stack(state, axis=0) for state in zip(*ends, strict=True)), tuple(ys)


def _sequence(
    unit: Unit, xs: list[Variable], state: State, ws: Any, bs: Any, reverse: bool
) -> tuple[State, list[Variable]]:
    """Return the last state and the outputs of one layer in one direction."""
    parts = unit.parts
    w_x, w_h = (array_api.concat(list(part), axis=0) for part in (ws[:parts], ws[parts:]))
    b_x, b_h = (array_api.concat(list(part), axis=0) for part in (bs[:parts], bs[parts:]))
    of_all = linear(array_api.concat(xs, axis=0), w_x, b_x)  # one product for all steps
    ends, ys = accumulate(x.shape[0] for x in xs), []
    batches = [of_all[end - x.shape[0] : end] for x, end in zip(xs, ends, strict=True)]
    for of_x in reversed(batches) if reverse else batches:
        batch = of_x.shape[0]
        rest = [h[batch:] for h in state] if batch < state[0].shape[0] else None
        now = state if rest is None else tuple(h[:batch] for h in state)
        now = unit.step(of_x, linear(now[0], w_h, b_h), now)
        ys.append(now[0])
        state = now if rest is None else tuple(array_api.concat(pair, axis=0) for pair in zip(now, rest, strict=True))
    return state, ys[::-1] if reverse else ys


def _check(unit: Unit, runs: int, states: tuple[Any, ...], ws: Any, bs: Any, xs: Any, directions: int) -> None:
    """Raise `InvalidType` unless shapes, dtypes and numbers of all arrays fit together."""
    name = unit.name
    if runs < 1 or not isinstance(xs, (list, tuple)) or not xs:
        raise invalid(name, "at least one layer and one step", f"{runs // directions} layers, xs is {xs!r}")
    inputs = [real_floating(x, name, f"xs[{t}]") for t, x in enumerate(xs)]
    starts = [real_floating(x, name, key) for x, key in zip(states, ("hx", "cx"), strict=False)]
    first, start = inputs[0], starts[0]
    batches = [spec.shape[0] if spec.ndim == 2 else -1 for spec in inputs]
    if -1 in batches or sorted(batches, reverse=True) != batches or len({spec.shape[1] for spec in inputs}) > 1:
        raise invalid(name, "xs of shapes (B_t, I), in descending order of B_t", f"xs is {inputs!r}")
    for spec, key in zip(starts, ("hx", "cx"), strict=False):
        if spec.ndim != 3 or spec.shape != (runs, batches[0], start.shape[-1]):
            raise invalid(name, f"{key} of shape ({runs}, {batches[0]}, N)", f"{key} is {spec!r}")
    if any(spec.dtype != first.dtype for spec in inputs + starts):
        raise invalid(name, "states and inputs of one dtype", f"hx is {start!r}, xs[0] is {first!r}")
    for arrays, key in ((ws, "ws"), (bs, "bs")):
        if len(arrays) != runs or any(len(row) != 2 * unit.parts for row in arrays):
            actual = f"{key} has {[len(row) for row in arrays]}"
            raise invalid(name, f"{key} of {runs} lists of {2 * unit.parts} arrays", actual)
    for k in range(runs):
        features = first.shape[1] if k < directions else directions * start.shape[2]
        _check_weights(unit, k, features, start, ws[k], bs[k])


def _check_weights(unit: Unit, k: int, features: int, start: Spec, ws: Any, bs: Any) -> None:
    n = start.shape[2]
    for i, (w, b) in enumerate(zip(ws, bs, strict=True)):
        shape = (n, features if i < unit.parts else n)
        for x, key, expected in ((w, "ws", shape), (b, "bs", shape[:1])):
            spec = real_floating(x, unit.name, f"{key}[{k}][{i}]")
            if spec.shape != expected or spec.dtype != start.dtype:
                text = f"{key}[{k}][{i}] of shape {expected} and of the dtype of hx"
                raise invalid(unit.name, text, f"{key}[{k}][{i}] is {spec!r}, hx is {start!r}")
