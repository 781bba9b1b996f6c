"""Optimizers of trees of parameters by gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad_autograd.package.misc.flatten import flatten

Gradient = Callable[[Any, int], Any]
Callback = Callable[[Any, int, Any], None]


def _over_vectors(optimize: Callable[..., Any]) -> Callable[..., Any]:
    """Return an optimizer of trees for one of vectors."""

    def optimizer(grad: Gradient, x0: Any, callback: Callback | None = None, *args: Any, **kwargs: Any) -> Any:
        vector, unflatten = flatten(x0)

        def gradient(x: Any, i: int) -> Any:
            return flatten(grad(unflatten(x), i))[0]

        def watch(x: Any, i: int, g: Any) -> None:
            if callback:
                callback(unflatten(x), i, unflatten(g))

        return unflatten(optimize(gradient, np.array(vector, float), watch, *args, **kwargs))

    optimizer.__name__, optimizer.__doc__ = optimize.__name__, optimize.__doc__
    return optimizer


unflatten_optimizer = _over_vectors


@_over_vectors
def sgd(
    grad: Gradient, x: Any, callback: Callback, num_iters: int = 200, step_size: float = 0.1, mass: float = 0.9
) -> Any:
    """Return parameters after stochastic gradient descent with momentum; `grad` takes parameters and a number."""
    velocity = np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        velocity = mass * velocity - (1 - mass) * g
        x = x + step_size * velocity
    return x


@_over_vectors
def rmsprop(
    grad: Gradient, x: Any, callback: Callback, num_iters: int = 100, step_size: float = 0.1, gamma: float = 0.9,
    eps: float = 1e-8,
) -> Any:  # fmt: skip
    """Return parameters after steps divided by the root of a moving average of squared gradients."""
    average = np.ones(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        average = gamma * average + (1 - gamma) * g**2
        x = x - step_size * g / (np.sqrt(average) + eps)
    return x


@_over_vectors
def adam(
    grad: Gradient, x: Any, callback: Callback, num_iters: int = 100, step_size: float = 0.001, b1: float = 0.9,
    b2: float = 0.999, eps: float = 1e-8,
) -> Any:  # fmt: skip
    """Return parameters after steps of Adam."""
    first, second = np.zeros(len(x)), np.zeros(len(x))
    for i in range(num_iters):
        g = grad(x, i)
        callback(x, i, g)
        first = (1 - b1) * g + b1 * first
        second = (1 - b2) * g**2 + b2 * second
        x = x - step_size * (first / (1 - b1 ** (i + 1))) / (np.sqrt(second / (1 - b2 ** (i + 1))) + eps)
    return x
