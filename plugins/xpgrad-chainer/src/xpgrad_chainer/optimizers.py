"""Update rules of optimizers as classes (`chainer.optimizers.sgd.SGDRule`)."""

import functools
from typing import Any

from xpgrad import optimizers
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
    **hyperparam
        Hyperparameters that override `parent_hyperparam`.
    """

    optimizer: Any

    def __init__(self, parent_hyperparam: Any = None, **hyperparam: Any) -> None:
        super().__init__(parent_hyperparam or self.optimizer().hyperparam, self.optimizer)
        for name, value in hyperparam.items():
            if value is not None:
                setattr(self.hyperparam, name, value)


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
