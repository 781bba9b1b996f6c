"""Recurrent networks over whole sequences; see `xpgrad.functions` for the layout of weights, states and sequences."""

from collections.abc import Sequence
from typing import Any

from xpgrad_chx.routines.network import run

__all__ = ["n_step_bigru", "n_step_bilstm", "n_step_birnn", "n_step_gru", "n_step_lstm", "n_step_rnn"]

Arrays = Sequence[Sequence[Any]]
NO_DROPOUT = 0.0


def n_step_lstm(n_layers: int, hx: Any, cx: Any, ws: Arrays, bs: Arrays, xs: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Return last outputs, last cells and the list of all outputs of LSTM layers.

    Parameters
    ----------
    n_layers : int
    hx, cx : array, shape (L, B, N)
        Outputs and cells before the first step.
    ws, bs : list of L lists of 8 arrays
        Matrices and vectors of input gate, forget gate, input and output gate: four for the input of the layer, four
        for its output before.
    xs : list of arrays, shapes (B_t, I)
        The inputs of each step, with the longest sequence first.
    """
    hy, cy, ys = run("n_step_lstm", n_layers, NO_DROPOUT, hx, cx, ws, bs, xs)
    return hy, cy, list(ys)


def n_step_bilstm(n_layers: int, hx: Any, cx: Any, ws: Arrays, bs: Arrays, xs: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Bidirectional `n_step_lstm`; the two directions alternate in states, weights and features."""
    hy, cy, ys = run("n_step_bilstm", n_layers, NO_DROPOUT, hx, cx, ws, bs, xs)
    return hy, cy, list(ys)


def n_step_gru(n_layers: int, hx: Any, ws: Arrays, bs: Arrays, xs: Sequence[Any]) -> tuple[Any, Any]:
    """Return last outputs and the list of all outputs of layers of gated recurrent units, with 6 weights each."""
    hy, ys = run("n_step_gru", n_layers, NO_DROPOUT, hx, ws, bs, xs)
    return hy, list(ys)


def n_step_bigru(n_layers: int, hx: Any, ws: Arrays, bs: Arrays, xs: Sequence[Any]) -> tuple[Any, Any]:
    """Bidirectional `n_step_gru`."""
    hy, ys = run("n_step_bigru", n_layers, NO_DROPOUT, hx, ws, bs, xs)
    return hy, list(ys)


def n_step_rnn(
    n_layers: int, hx: Any, ws: Arrays, bs: Arrays, xs: Sequence[Any], activation: str = "tanh"
) -> tuple[Any, Any]:
    """Return last outputs and the list of all outputs of layers of plain recurrent units, with 2 weights each."""
    hy, ys = run("n_step_rnn", n_layers, NO_DROPOUT, hx, ws, bs, xs, activation=activation)
    return hy, list(ys)


def n_step_birnn(
    n_layers: int, hx: Any, ws: Arrays, bs: Arrays, xs: Sequence[Any], activation: str = "tanh"
) -> tuple[Any, Any]:
    """Bidirectional `n_step_rnn`."""
    hy, ys = run("n_step_birnn", n_layers, NO_DROPOUT, hx, ws, bs, xs, activation=activation)
    return hy, list(ys)
