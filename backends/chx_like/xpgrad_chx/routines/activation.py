"""Activations."""

from typing import Any

from xpgrad_chx.evaluation import through
from xpgrad_chx.routines.network import run

__all__ = [
    "clipped_relu", "crelu", "elu", "leaky_relu", "log_softmax", "logsumexp", "lstm", "relu", "sigmoid", "slstm",
    "softmax", "tree_lstm",
]  # fmt: skip

Axis = int | tuple[int, ...] | None


def relu(x: Any) -> Any:
    """Return ``max(x, 0)``, elementwise. The derivative at 0 is 0."""
    return run("relu", x)


def clipped_relu(x: Any, z: float = 20.0) -> Any:
    """Return ``min(max(x, 0), z)``, elementwise."""
    return run("clipped_relu", x, z=z)


def leaky_relu(x: Any, slope: float = 0.2) -> Any:
    """Return `x` where it is positive, else ``slope * x``."""
    return run("leaky_relu", x, slope=slope)


def crelu(x: Any, axis: int = 1) -> Any:
    """Return ``relu(x)`` and ``relu(-x)``, concatenated along `axis`."""
    return run("crelu", x, axis=axis)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """Return `x` where it is positive, else ``alpha * (exp(x) - 1)``."""
    return run("elu", x, alpha=alpha)


def sigmoid(x: Any) -> Any:
    """Return ``1 / (1 + exp(-x))``, elementwise, without overflow."""
    return run("sigmoid", x)


def softmax(x: Any, axis: Axis = None) -> Any:
    """Return exponentials that are normalised over `axis`, by default axis 1."""
    return run("softmax", x, axis=1 if axis is None else axis)


def log_softmax(x: Any, axis: Axis = None) -> Any:
    """Return the logarithm of `softmax`, without overflow; `axis` is 1 by default."""
    return run("log_softmax", x, axis=1 if axis is None else axis)


def logsumexp(x: Any, axis: Axis = None, keepdims: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials over `axis`, by default all axes, without overflow."""
    from xpgrad import ops

    return through(ops.logsumexp, "logsumexp", (x,), {"axis": axis, "keepdims": keepdims})


def lstm(c_prev: Any, x: Any) -> tuple[Any, Any]:
    """Return cell and output of a long short-term memory (LSTM) unit.

    Parameters
    ----------
    c_prev : array, shape (B, N, *D)
    x : array, shape (B, 4 * N, *D)
        Input and input, forget and output gate, element by element side by side along axis 1.
    """
    c, h = run("lstm", c_prev, x)
    return c, h


def slstm(c_prev1: Any, c_prev2: Any, x1: Any, x2: Any) -> tuple[Any, Any]:
    """Return cell and output of an LSTM unit with two children; arguments as in `lstm`."""
    c, h = run("slstm", c_prev1, c_prev2, x1, x2)
    return c, h


def tree_lstm(*inputs: Any) -> tuple[Any, Any]:
    """Return cell and output of an LSTM unit with any number of children.

    Parameters
    ----------
    *inputs : array
        The cells of K children, with shape (B, N, *D), then the sources, with shape (B, (3 + K) * N, *D): input, input
        gate, output gate and K forget gates, concatenated along axis 1.
    """
    c, h = run("tree_lstm", *inputs)
    return c, h
