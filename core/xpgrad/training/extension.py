"""Extensions, called by a trainer in addition to updates: the base class, and a decorator of functions."""

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from xpgrad.training.trainer import Trainer

PRIORITY_WRITER = 300
"""Of extensions that add values to the observation; those of higher priority are called first."""
PRIORITY_EDITOR = 200
"""Of extensions that change values of the observation."""
PRIORITY_READER = 100
"""Of extensions that read the observation, or do not use it."""

F = TypeVar("F", bound=Callable[..., Any])


class Extension:
    """Base class of extensions; plain functions of the trainer are also extensions.

    Attributes
    ----------
    trigger : tuple or function of the trainer
        When it is called: ``(1, "iteration")``, ``(1, "epoch")``, or whenever the function returns True.
    priority : int
    name : str or None
        By default `default_name`, the name of the class.
    writes : bool
        Whether it writes to the directory `trainer.out`, which is locked then while training runs.
    """

    trigger: Any = (1, "iteration")
    priority: int = PRIORITY_READER
    name: str | None = None
    writes: bool = False
    _default_name: str | None = None

    @property
    def default_name(self) -> str:
        """The name unless another is given."""
        return self._default_name or type(self).__name__

    def __call__(self, trainer: "Trainer") -> Any:
        """Run the extension."""
        raise NotImplementedError(f"{type(self).__name__}: define __call__(trainer)")

    def autoload(self, trainer: "Trainer") -> None:
        """Load a state to resume training from; called once, before any extension is initialized."""

    def initialize(self, trainer: "Trainer") -> None:
        """Prepare; called once before training, after a snapshot was loaded."""

    def on_error(self, trainer: "Trainer", exc: BaseException, tb: TracebackType | None) -> None:
        """React to an exception that ends the training."""

    def finalize(self) -> None:
        """Clean up; called once after training, also after an exception."""

    def serialize(self, serializer: Any) -> None:
        """Save or load the state."""


def make_extension(
    trigger: Any = None,
    default_name: str | None = None,
    priority: int | None = None,
    finalizer: Callable[[], None] | None = None,
    initializer: Callable[[Any], None] | None = None,
    on_error: Callable[..., None] | None = None,
) -> Callable[[F], F]:
    """Return a decorator that gives a function of the trainer attributes, the same as those of `Extension`."""

    def decorate(function: F) -> F:
        attributes: dict[str, Any] = {
            "trigger": (1, "iteration") if trigger is None else trigger,
            "default_name": default_name or function.__name__,
            "priority": PRIORITY_READER if priority is None else priority,
            "finalize": finalizer,
            "initialize": initializer,
            "on_error": on_error,
        }
        for name, value in attributes.items():
            setattr(function, name, value)
        return function

    return decorate
