"""Optimizers that divide each element of the gradient by a measure of its past size."""

from collections.abc import Mapping
from typing import Any, ClassVar

from xpgrad.optimizers.formula import Numbers, kept, least, squared, unbiased
from xpgrad.optimizers.hyperparameter import HyperparameterProxy
from xpgrad.optimizers.optimizer import GradientMethod
from xpgrad.types import Array, Namespace


class AdaGrad(GradientMethod):
    """AdaGrad (Duchi, Hazan and Singer, 2011): divides by the root of the sum of all squares.

    Parameters
    ----------
    lr, eps : float or schedule
        Learning rate, and constant added to the root.
    """

    lr, eps = map(HyperparameterProxy, ("lr", "eps"))

    def __init__(self, lr: Any = 0.001, eps: Any = 1e-8) -> None:
        super().__init__(lr=lr, eps=eps)

    real_states = frozenset(["h"])
    initial: ClassVar[Mapping[str, float]] = {"h": 0.0}  # the sum of squares

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter after a step."""
        s["h"] += squared(xp, g)
        w -= c["lr"] * g / (xp.sqrt(s["h"]) + c["eps"])
        return w


class AdaDelta(GradientMethod):
    """AdaDelta (Zeiler, 2012): steps of the size of past steps, without a learning rate.

    Parameters
    ----------
    rho, eps : float or schedule
        Decay of the averages of squares, and constant added to the averages.
    """

    rho, eps = map(HyperparameterProxy, ("rho", "eps"))

    def __init__(self, rho: Any = 0.95, eps: Any = 1e-6) -> None:
        super().__init__(rho=rho, eps=eps)

    real_states = frozenset(["msg", "msdx"])
    # averages of squared gradients and of squared steps
    initial: ClassVar[Mapping[str, float]] = {"msg": 0.0, "msdx": 0.0}

    @staticmethod
    def coefficients(h: Numbers, t: Any) -> Numbers:
        """Return the coefficients of a step."""
        return {"rho": h["rho"], "gain": 1.0 - h["rho"], "eps": h["eps"]}

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter after a step."""
        s["msg"] *= c["rho"]
        s["msg"] += squared(xp, g, c["gain"])
        move = xp.sqrt((s["msdx"] + c["eps"]) / (s["msg"] + c["eps"])) * g
        s["msdx"] *= c["rho"]
        s["msdx"] += squared(xp, move, c["gain"])
        w -= move
        return w


class RMSprop(GradientMethod):
    """RMSprop (Tieleman and Hinton, 2012): divides by the root of an average of squares.

    Parameters
    ----------
    lr, alpha, eps : float or schedule
        Learning rate, decay of the average, and constant added to the root.
    eps_inside_sqrt : bool
        Whether `eps` is added to the average instead.
    """

    lr, alpha, eps, eps_inside_sqrt = map(HyperparameterProxy, ("lr", "alpha", "eps", "eps_inside_sqrt"))

    def __init__(self, lr: Any = 0.01, alpha: Any = 0.99, eps: Any = 1e-8, eps_inside_sqrt: bool = False) -> None:
        super().__init__(lr=lr, alpha=alpha, eps=eps, eps_inside_sqrt=eps_inside_sqrt)

    real_states = frozenset(["ms"])
    initial: ClassVar[Mapping[str, float]] = {"ms": 0.0}  # the average of squares

    @staticmethod
    def coefficients(h: Numbers, t: Any) -> Numbers:
        """Return the coefficients of a step."""
        return {**h, "gain": 1.0 - h["alpha"]}

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter after a step."""
        s["ms"] *= c["alpha"]
        s["ms"] += squared(xp, g, c["gain"])
        root = xp.sqrt(s["ms"] + c["eps"]) if c["eps_inside_sqrt"] else xp.sqrt(s["ms"]) + c["eps"]
        w -= c["lr"] * g / root
        return w


class RMSpropGraves(GradientMethod):
    """RMSprop with the variance instead of the mean square, and momentum (Graves, arXiv:1308.0850, 2013).

    Parameters
    ----------
    lr, alpha, momentum, eps : float or schedule
        Learning rate, decay of the averages, kept part of the last step, and constant added to the variance.
    """

    lr, alpha, momentum, eps = map(HyperparameterProxy, ("lr", "alpha", "momentum", "eps"))

    def __init__(self, lr: Any = 1e-4, alpha: Any = 0.95, momentum: Any = 0.9, eps: Any = 1e-4) -> None:
        super().__init__(lr=lr, alpha=alpha, momentum=momentum, eps=eps)

    real_states = frozenset(["n"])
    # averages of squares and of gradients, and the last step
    initial: ClassVar[Mapping[str, float]] = {"n": 0.0, "g": 0.0, "delta": 0.0}

    @staticmethod
    def coefficients(h: Numbers, t: Any) -> Numbers:
        """Return the coefficients of a step."""
        return {**h, "gain": 1.0 - h["alpha"]}

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter after a step."""
        s["n"] *= c["alpha"]
        s["n"] += squared(xp, g, c["gain"])
        s["g"] *= c["alpha"]
        s["g"] += c["gain"] * g
        s["delta"] *= c["momentum"]
        s["delta"] -= c["lr"] * g / xp.sqrt(s["n"] - squared(xp, s["g"]) + c["eps"])
        w += s["delta"]
        return w


class SMORMS3(GradientMethod):
    """SMORMS3 (Funk, "RMSprop loses to SMORMS3", 2015): averages whose length adapts to the gradient's noise.

    Parameters
    ----------
    lr, eps : float or schedule
        The largest learning rate, and constant added to the denominators.
    """

    lr, eps = map(HyperparameterProxy, ("lr", "eps"))

    def __init__(self, lr: Any = 0.001, eps: Any = 1e-16) -> None:
        super().__init__(lr=lr, eps=eps)

    real_states = frozenset(["mem", "g2"])
    # the length of the memory, and averages of gradients and of squares
    initial: ClassVar[Mapping[str, float]] = {"mem": 1.0, "g": 0.0, "g2": 0.0}

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter after a step."""
        part = 1.0 / (s["mem"] + 1.0)
        s["g"] *= 1.0 - part
        s["g"] += part * g
        s["g2"] *= 1.0 - part
        s["g2"] += squared(xp, g, part)
        x = squared(xp, s["g"]) / (s["g2"] + c["eps"])
        w -= g * xp.minimum(x, c["lr"]) / (xp.sqrt(s["g2"]) + c["eps"])
        s["mem"] *= 1.0 - x
        s["mem"] += 1.0
        return w


class MSVAG(GradientMethod):
    """M-SVAG: momentum, scaled down where the gradient is noisy (Balles and Hennig, arXiv:1705.07774, 2017).

    Parameters
    ----------
    lr, beta, eta : float or schedule
        Learning rate, decay of the averages, and a factor of the whole step.
    weight_decay_rate : float or schedule
        Decoupled from the gradient.
    """

    lr, beta, eta, weight_decay_rate = map(HyperparameterProxy, ("lr", "beta", "eta", "weight_decay_rate"))

    def __init__(self, lr: Any = 0.1, beta: Any = 0.9, eta: Any = 1.0, weight_decay_rate: Any = 0.0) -> None:
        super().__init__(lr=lr, beta=beta, eta=eta, weight_decay_rate=weight_decay_rate)

    real_states = frozenset(["v"])
    initial: ClassVar[Mapping[str, float]] = {"m": 0.0, "v": 0.0}  # averages of gradients and of squares

    @staticmethod
    def coefficients(h: Numbers, t: Any) -> Numbers:
        """Return the coefficients of a step."""
        beta, weight = h["beta"], unbiased(h["beta"], t)
        # (1 - b)^2 (1 - b^2t) / ((1 - b^t)^2 (1 - b^2)), at most 0.9999, without 0 / 0
        rho = least((1.0 - beta) * (2.0 - weight) / (weight * (1.0 + beta)), 0.9999)
        return {
            "gain": 1.0 - beta, "scale": 1.0 / weight, "rho": rho, "rest": 1.0 / (1.0 - rho), "lr": h["eta"] * h["lr"],
            "kept": kept(h["eta"], h["weight_decay_rate"]),
        }  # fmt: skip

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter after a step."""
        s["m"] += c["gain"] * (g - s["m"])
        s["v"] += c["gain"] * (squared(xp, g) - s["v"])
        mean = c["scale"] * s["m"]
        square = squared(xp, mean)
        total = square + c["rho"] * c["rest"] * (c["scale"] * s["v"] - square)
        factor = xp.clip(square / xp.where(square == 0, 1.0, total), 0.0, 1.0)
        if c["kept"] is not None:
            w *= c["kept"]
        w -= c["lr"] * mean * factor
        return w
