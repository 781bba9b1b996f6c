"""Extensions that look after the training: a stop at NaN, and graphs that are cut."""

from collections.abc import Callable
from typing import Any

from xpgrad.errors import NotANumber
from xpgrad.graph.variable import Variable
from xpgrad.training.extension import Extension, make_extension


class FailOnNonNumber(Extension):
    """Raises `NotANumber` when a parameter has a NaN or an infinity; every check waits for the device."""

    def __call__(self, trainer: Any) -> None:
        """Check the parameters of all optimizers."""
        for name, optimizer in trainer.updater.get_all_optimizers().items():
            for path, param in optimizer.target.namedparams(include_uninit=False):
                xp = param.device.backend.namespace
                if not bool(xp.all(xp.isfinite(param.array))):
                    raise NotANumber(f"FailOnNonNumber: parameter {path} of optimizer {name!r} is not finite")


def unchain_variables() -> Callable[[Any], None]:
    """Return an extension that cuts the graphs of observed values, after all other extensions have read them."""

    @make_extension(default_name="unchain_variables", priority=0)
    def unchain(trainer: Any) -> None:
        for value in trainer.observation.values():
            if isinstance(value, Variable):
                value.unchain_backward()

    return unchain
