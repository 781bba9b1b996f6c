"""Adam and its variants."""

from collections.abc import Mapping
from typing import Any

from xpgrad.optimizers.formula import Numbers, kept, squared, unbiased
from xpgrad.optimizers.hyperparameter import HyperparameterProxy
from xpgrad.optimizers.optimizer import GradientMethod
from xpgrad.types import Array, Namespace


class Adam(GradientMethod):
    """Adam (Kingma and Ba, arXiv:1412.6980, 2015), and its variants by options.

    Parameters
    ----------
    alpha : float or schedule
        Step size.
    beta1, beta2 : float or schedule
        Decay of the averages of gradients and of their squares.
    eps : float or schedule
        Added to the root of the average of squares, which is not corrected for its bias: the correction is in the
        step size.
    eta : float or schedule
        Factor of the whole step, decay included.
    weight_decay_rate : float or schedule
        Decoupled from the gradient (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019); it is not
        multiplied by `alpha`.
    amsgrad : bool
        Whether the largest average of squares so far is used (Reddi et al., "On the convergence of Adam", 2018).
    adabound : bool
        Whether the step size of each element is bounded (Luo et al., "Adaptive gradient methods with dynamic bound of
        learning rate", 2019).
    final_lr, gamma : float or schedule
        Where these bounds end, in proportion to `alpha`, and how fast.
    """

    alpha, beta1, beta2, eps, eta, weight_decay_rate, amsgrad, adabound, final_lr, gamma = map(
        HyperparameterProxy,
        ("alpha", "beta1", "beta2", "eps", "eta", "weight_decay_rate", "amsgrad", "adabound", "final_lr", "gamma"),
    )

    def __init__(
        self, alpha: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, eps: Any = 1e-8, eta: Any = 1.0,
        weight_decay_rate: Any = 0.0, amsgrad: bool = False, adabound: bool = False, final_lr: Any = 0.1,
        gamma: Any = 0.001,
    ) -> None:  # fmt: skip
        super().__init__(
            alpha=alpha, beta1=beta1, beta2=beta2, eps=eps, eta=eta, weight_decay_rate=weight_decay_rate,
            amsgrad=amsgrad, adabound=adabound, final_lr=final_lr, gamma=gamma,
            _initial_alpha=alpha(0) if callable(alpha) else alpha,
        )  # fmt: skip

    @property
    def alpha_t(self) -> Any:
        """The step size of the last step, with the correction of the bias; Chainer's `lr` of Adam."""
        if not self.t:
            raise RuntimeError(f"{type(self).__name__}.alpha_t: there was no step yet; call update first")
        h = self.hyperparam.at(self.t)
        return h["alpha"] * unbiased(h["beta2"], self.t) ** 0.5 / unbiased(h["beta1"], self.t)

    lr = alpha_t

    real_states = frozenset(["v", "vhat"])

    @classmethod
    def states(cls, h: Numbers) -> Mapping[str, float]:
        """Return the names of the state: averages of gradients and of squares, and the largest of these."""
        return {"m": 0.0, "v": 0.0, "vhat": 0.0} if h["amsgrad"] else {"m": 0.0, "v": 0.0}

    @staticmethod
    def coefficients(h: Numbers, t: Any) -> Numbers:
        """Return the coefficients of a step."""
        alpha, eta = h["alpha"], h["eta"]
        found = {
            "gain1": 1.0 - h["beta1"], "gain2": 1.0 - h["beta2"], "eps": h["eps"],
            "alpha": eta * alpha * unbiased(h["beta2"], t) ** 0.5 / unbiased(h["beta1"], t),
            "kept": kept(eta, h["weight_decay_rate"]), "amsgrad": bool(h["amsgrad"]), "adabound": bool(h["adabound"]),
        }  # fmt: skip
        if h["adabound"]:
            last = eta * h["final_lr"] * alpha / h["_initial_alpha"]
            found["lower"] = last * (1.0 - 1.0 / (h["gamma"] * t + 1.0))
            found["upper"] = last * (1.0 + 1.0 / (h["gamma"] * t))
        return found

    @staticmethod
    def step(xp: Namespace, w: Array, g: Array, s: dict[str, Array], c: Numbers) -> Array:
        """Return the parameter after a step."""
        m, v = s["m"], s["v"]
        rest = g - m
        rest *= c["gain1"]
        m += rest
        rest = squared(xp, g)
        rest -= v
        rest *= c["gain2"]
        v += rest
        s["m"], s["v"] = m, v
        if c["amsgrad"]:
            v = s["vhat"] = xp.maximum(v, s["vhat"])
        root = xp.sqrt(v)
        root += c["eps"]
        if c["kept"] is not None:
            w *= c["kept"]
        if c["adabound"]:
            w -= xp.minimum(xp.maximum(c["alpha"] / root, c["lower"]), c["upper"]) * m
            return w
        move = m / root
        move *= c["alpha"]
        w -= move
        return w


class AdamW(Adam):
    """Adam with decoupled weight decay, see `Adam`: ``w -= eta * (step + weight_decay_rate * w)``.

    Parameters
    ----------
    alpha, beta1, beta2, eps, eta, weight_decay_rate
        As for `Adam`.
    """

    def __init__(
        self, alpha: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, eps: Any = 1e-8, eta: Any = 1.0,
        weight_decay_rate: Any = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(alpha, beta1, beta2, eps, eta, weight_decay_rate)


class AMSGrad(Adam):
    """Adam with the largest average of squares so far, see `Adam`.

    Parameters
    ----------
    alpha, beta1, beta2, eps, eta
        As for `Adam`.
    """

    def __init__(
        self, alpha: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, eps: Any = 1e-8, eta: Any = 1.0
    ) -> None:
        super().__init__(alpha, beta1, beta2, eps, eta, amsgrad=True)


class AdaBound(Adam):
    """Adam with bounded step sizes, see `Adam`.

    Parameters
    ----------
    alpha, beta1, beta2, final_lr, gamma, eps, eta
        As for `Adam`.
    """

    def __init__(
        self, alpha: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, final_lr: Any = 0.1, gamma: Any = 0.001,
        eps: Any = 1e-8, eta: Any = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(alpha, beta1, beta2, eps, eta, adabound=True, final_lr=final_lr, gamma=gamma)


class AMSBound(Adam):
    """Adam with bounded step sizes and the largest average of squares so far, see `Adam`.

    Parameters
    ----------
    alpha, beta1, beta2, final_lr, gamma, eps, eta
        As for `Adam`.
    """

    def __init__(
        self, alpha: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, final_lr: Any = 0.1, gamma: Any = 0.001,
        eps: Any = 1e-8, eta: Any = 1.0,
    ) -> None:  # fmt: skip
        super().__init__(alpha, beta1, beta2, eps, eta, amsgrad=True, adabound=True, final_lr=final_lr, gamma=gamma)
