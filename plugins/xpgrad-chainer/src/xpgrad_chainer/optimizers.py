"""Update rules of optimizers as classes (`chainer.optimizers.sgd.SGDRule`)."""

import functools
from typing import Any

from xpgrad import optimizers
from xpgrad.optimizer import UpdateRule
from xpgrad.optimizers.hooks import exponential_decay_noise as exponential_decay_noise


class RuleOf(UpdateRule):
    """The update rule of an optimizer, with hyperparameters of its own.

    Parameters
    ----------
    parent_hyperparam : Hyperparameter, optional
        By default those that the optimizer has by default.
    **hyperparam
        Those that override them.
    """

    optimizer: Any

    def __init__(self, parent_hyperparam: Any = None, **hyperparam: Any) -> None:
        super().__init__(parent_hyperparam or self.optimizer().hyperparam, self.optimizer)
        for name, value in hyperparam.items():
            if value is not None:
                setattr(self.hyperparam, name, value)


@functools.cache
def _rule(name: str) -> type[RuleOf]:
    optimizer = getattr(optimizers, name.removesuffix("Rule"))
    return type(name, (RuleOf,), {"__doc__": RuleOf.__doc__, "__module__": __name__, "optimizer": optimizer})


def __getattr__(name: str) -> Any:
    """Return the class of an update rule."""
    if name.endswith("Rule") and name != "UpdateRule" and hasattr(optimizers, name.removesuffix("Rule")):
        return _rule(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def make_deprecation_message(module_name: str) -> str:
    """Return the text of a warning that hooks are found in `chainer.optimizer_hooks`."""
    return f"chainer.optimizer.{module_name} is deprecated; use chainer.optimizer_hooks.{module_name}"
