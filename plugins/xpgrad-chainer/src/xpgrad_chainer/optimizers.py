"""Update rules of optimizers as classes (`chainer.optimizers.sgd.SGDRule`)."""

import functools
import inspect
from typing import Any

from xpgrad import optimizers
from xpgrad.backend.plugins import plugins
from xpgrad.optimizer import UpdateRule
from xpgrad.optimizers.hooks import exponential_decay_noise as exponential_decay_noise


class NesterovAG(optimizers.NesterovAG):
    """Nesterov's accelerated gradient by Chainer's formula, which applies the momentum after the step.

    Parameters
    ----------
    lr, momentum : float or schedule
        Learning rate, and the part of the velocity that is kept.
    """

    @staticmethod
    def step(xp: Any, w: Any, g: Any, s: dict[str, Any], c: Any) -> Any:
        """Return the parameter after a step."""
        move = c["lr"] * g
        s["v"] *= c["momentum"]
        s["v"] -= move
        w += c["momentum"] * c["momentum"] * s["v"]
        w -= (1 + c["momentum"]) * move
        return w


class RuleOf(UpdateRule):
    """The update rule of an optimizer, with separate hyperparameters.

    Parameters
    ----------
    parent_hyperparam : Hyperparameter, optional
        By default the default hyperparameters of the optimizer.
    *values, **hyperparam
        Hyperparameters that override `parent_hyperparam`, in the order of the optimizer's arguments.
    """

    optimizer: Any

    def __init__(self, parent_hyperparam: Any = None, *values: Any, **hyperparam: Any) -> None:
        super().__init__(parent_hyperparam or self.optimizer().hyperparam, self.optimizer)
        given = inspect.signature(self.optimizer).bind(*values, **hyperparam).arguments
        for name, value in given.items():
            if value is not None:
                setattr(self.hyperparam, name, value)

    def update_core(self, param: Any) -> None:
        """Update a parameter by `update_core_cpu` or `update_core_gpu`, which derived classes may override."""
        on_host = param.device.backend is plugins.host
        (self.update_core_cpu if on_host else self.update_core_gpu)(param)

    def update_core_cpu(self, param: Any) -> None:
        """Update a parameter in host memory by the formulas of the optimizer."""
        super().update_core(param)

    def update_core_gpu(self, param: Any) -> None:
        """Update a parameter of another device by the formulas of the optimizer."""
        super().update_core(param)


class AdamRule(RuleOf):
    """The update rule of Adam, with the learning rate of its step."""

    optimizer = optimizers.Adam

    alpha_t = lr = optimizers.Adam.alpha_t


def step_size(rule: UpdateRule, name: str) -> Any:
    """Return `alpha_t` or `lr`, the step size of Adam with the correction of the bias, of a parameter's update rule."""
    formula = vars(rule).get("formula")
    if name in ("alpha_t", "lr") and isinstance(formula, type) and issubclass(formula, optimizers.Adam):
        return getattr(AdamRule, name).fget(rule)
    raise AttributeError(f"{type(rule).__name__!r} object has no attribute {name!r}", name=name, obj=rule)


@functools.cache
def _rule(name: str) -> type[RuleOf]:
    title = name.removesuffix("Rule")
    optimizer = NesterovAG if title == "NesterovAG" else getattr(optimizers, title)
    return type(name, (RuleOf,), {"__doc__": RuleOf.__doc__, "__module__": __name__, "optimizer": optimizer})


def __getattr__(name: str) -> Any:
    """Return the class of an update rule."""
    if name.endswith("Rule") and name != "UpdateRule" and hasattr(optimizers, name.removesuffix("Rule")):
        return _rule(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def make_deprecation_message(module_name: str) -> str:
    """Return the text of a warning that hooks are found in `chainer.optimizer_hooks`."""
    return f"chainer.optimizer.{module_name} is deprecated; use chainer.optimizer_hooks.{module_name}"
