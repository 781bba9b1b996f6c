"""Gradient descent, with and without momentum."""

from collections.abc import Mapping
from typing import Any, ClassVar

from xpgrad.optimizers.formula import Numbers, kept
from xpgrad.optimizers.hyperparameter import HyperparameterProxy
from xpgrad.optimizers.optimizer import GradientMethod
from xpgrad.types import Array, Namespace


class SGD(GradientMethod):
    """Stochastic gradient descent: ``w -= lr * g``.

    Parameters
    ----------
    lr : float or schedule
        Learning rate.
    """

    lr = HyperparameterProxy("lr")

    def __init__(self, lr: Any = 0.01) -> None:
        super().__init__(lr=lr)

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter after a step."""
        w -= c["lr"] * g
        return w


class _Momentum(GradientMethod):
    lr, momentum = map(HyperparameterProxy, ("lr", "momentum"))

    def __init__(self, lr: Any = 0.01, momentum: Any = 0.9) -> None:
        super().__init__(lr=lr, momentum=momentum)

    initial: ClassVar[Mapping[str, float]] = {"v": 0.0}  # the velocity


class MomentumSGD(_Momentum):
    """Gradient descent with momentum: ``v = momentum * v - lr * g; w += v`` (Polyak, 1964).

    Parameters
    ----------
    lr, momentum : float or schedule
        Learning rate, and the part of the velocity that is kept.
    """

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter after a step."""
        v = s["v"]
        v *= c["momentum"]
        v -= c["lr"] * g
        w += v
        s["v"] = v
        return w


class CorrectedMomentumSGD(_Momentum):
    """Gradient descent with momentum where a change of `lr` acts immediately: ``v = momentum * v - g; w += lr * v``.

    Parameters
    ----------
    lr, momentum : float or schedule
        Learning rate, and the part of the velocity that is kept.
    """

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter after a step."""
        s["v"] *= c["momentum"]
        s["v"] -= g
        w += c["lr"] * s["v"]
        return w


class NesterovAG(_Momentum):
    """Nesterov's accelerated gradient, as in Bengio et al., "Advances in optimizing recurrent networks" (2013), eq. 7.

    Parameters
    ----------
    lr, momentum : float or schedule
        Learning rate, and the part of the velocity that is kept.
    """

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter after a step."""
        move = c["lr"] * g
        s["v"] *= c["momentum"]
        s["v"] -= move
        w += c["momentum"] * s["v"]
        w -= move
        return w


class Lion(GradientMethod):
    """Lion: steps by the sign of an average (Chen et al., "Symbolic discovery of optimization algorithms", 2023).

    Parameters
    ----------
    lr : float or schedule
        Learning rate.
    beta1, beta2 : float or schedule
        Weights of the average in the step, and in the next average.
    weight_decay_rate : float or schedule
        Decoupled from the gradient; multiplied by `lr`.
    """

    lr, beta1, beta2, weight_decay_rate = map(HyperparameterProxy, ("lr", "beta1", "beta2", "weight_decay_rate"))

    def __init__(self, lr: Any = 1e-4, beta1: Any = 0.9, beta2: Any = 0.99, weight_decay_rate: Any = 0.0) -> None:
        super().__init__(lr=lr, beta1=beta1, beta2=beta2, weight_decay_rate=weight_decay_rate)

    initial: ClassVar[Mapping[str, float]] = {"m": 0.0}  # the average of the gradients

    @staticmethod
    def coefficients(h: Numbers, t: Any) -> Numbers:
        """Return the coefficients of a step."""
        return {
            "lr": h["lr"], "gain1": 1.0 - h["beta1"], "gain2": 1.0 - h["beta2"],
            "kept": kept(h["lr"], h["weight_decay_rate"]),
        }  # fmt: skip

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter after a step."""
        rest = g - s["m"]
        if c["kept"] is not None:
            w *= c["kept"]
        w -= c["lr"] * xp.sign(s["m"] + c["gain1"] * rest)
        s["m"] += c["gain2"] * rest
        return w
