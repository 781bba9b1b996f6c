"""Losses. They are elementwise or one for each example, without a reduction."""

from typing import Any

from xpgrad_chx.evaluation import call
from xpgrad_chx.routines.network import run

__all__ = [
    "absolute_error", "accuracy", "gaussian_kl_divergence", "hinge", "huber_loss", "sigmoid_cross_entropy",
    "softmax_cross_entropy", "squared_difference", "squared_error",
]  # fmt: skip


def absolute_error(x1: Any, x2: Any) -> Any:
    """Return ``abs(x1 - x2)``, elementwise."""
    return run("absolute_error", x1, x2)


def squared_error(x1: Any, x2: Any) -> Any:
    """Return ``(x1 - x2) ** 2`` elementwise, for arrays of one shape and dtype."""
    return run("squared_error", x1, x2)


def squared_difference(x1: Any, x2: Any) -> Any:
    """Return ``(x1 - x2) ** 2``, elementwise; the arrays broadcast."""
    return call("square", (call("subtract", (x1, x2), {}),), {})


def huber_loss(x1: Any, x2: Any, delta: float) -> Any:
    """Return the Huber loss, elementwise: half the squared difference up to `delta`, a straight line beyond."""
    return run("huber_loss", x1, x2, delta=delta, reduce="no")


def gaussian_kl_divergence(mean: Any, ln_var: Any) -> Any:
    """Return the Kullback-Leibler divergence of normal distributions from the standard one, elementwise."""
    return run("gaussian_kl_divergence", mean, ln_var, reduce="no")


def hinge(x1: Any, x2: Any, norm: float = 1.0) -> Any:
    """Return the hinge loss, elementwise.

    Parameters
    ----------
    x1 : array, shape (N, C)
        Scores of the classes.
    x2 : array, shape (N,), integer
        Classes.
    norm : {1, 2}
        2 squares the losses.
    """
    if norm not in (1, 2):
        raise ValueError(f"hinge: norm must be 1 or 2, got {norm!r}")
    return run("hinge", x1, x2, norm=f"L{int(norm)}", reduce="no")


def sigmoid_cross_entropy(x1: Any, x2: Any) -> Any:
    """Return the cross entropy of ``sigmoid(x1)`` and labels 0 or 1, elementwise; 0 for the label -1."""
    return run("sigmoid_cross_entropy", x1, x2, reduce="no")


def softmax_cross_entropy(x1: Any, x2: Any) -> Any:
    """Return the cross entropy of the softmax of `x1` and labels, for each example; 0 for the label -1.

    Parameters
    ----------
    x1 : array, shape (N, C, *D)
        Logits.
    x2 : array, shape (N, *D), integer
        Classes.
    """
    return run("softmax_cross_entropy", x1, x2, reduce="no")


def accuracy(y: Any, t: Any, ignore_label: int | None = None) -> Any:
    """Return the share of examples whose class has the largest score; `ignore_label` excludes examples."""
    return run("accuracy", y, t, ignore_label=ignore_label)
