"""Normalization with the statistics of a batch, or with given statistics."""

from typing import Any

from xpgrad_chx.routines.network import run

__all__ = ["batch_norm", "fixed_batch_norm"]

Axis = int | tuple[int, ...] | None


def batch_norm(
    x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any, eps: float = 2e-5, decay: float = 0.9,
    axis: Axis = None,
) -> Any:  # fmt: skip
    """Return `x` normalised by mean and variance of the batch, times `gamma` plus `beta`.

    Parameters
    ----------
    x : array, shape (N, C, *D)
    gamma, beta : array
        Of the axes that are not `axis`.
    running_mean, running_var : array, like `gamma`
        They are updated in place, with the weight ``1 - decay`` for this batch.
    eps : float
        Added to the variance.
    decay : float
    axis : int or tuple of int, optional
        Axes of the statistics; by default axis 0 and all axes from 2 on.
    """
    return run(
        "batch_normalization", x, gamma, beta, eps=eps, running_mean=running_mean, running_var=running_var,
        decay=decay, axis=axis,
    )  # fmt: skip


def fixed_batch_norm(x: Any, gamma: Any, beta: Any, mean: Any, var: Any, eps: float = 2e-5, axis: Axis = None) -> Any:
    """Return `x` normalised by a given mean and variance, times `gamma` plus `beta`; arguments as in `batch_norm`."""
    return run("fixed_batch_normalization", x, gamma, beta, mean, var, eps=eps, axis=axis)
