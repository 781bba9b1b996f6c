"""The trainer, the log and triggers with Chainer's arguments and errors."""

import math
import warnings
from typing import Any

from xpgrad import training
from xpgrad.reporter import DictSummary
from xpgrad.training import extensions, triggers
from xpgrad_chainer.utils.argument import check_unexpected_kwargs, parse_kwargs

REMOVED = "invoke_before_training was removed in Chainer 2; use the method initialize of the extension"


class Trainer(training.Trainer):
    """The trainer of xpgrad, whose `elapsed_time` is an error before training."""

    __doc__ = training.Trainer.__doc__

    @property
    def elapsed_time(self) -> float:
        """Seconds of training.

        Raises
        ------
        RuntimeError
            Training has not started.
        """
        if self._since is None and not self._has_run:
            raise RuntimeError("training has not been started yet")
        return self._elapsed()

    def extend(
        self, extension: Any, name: str | None = None, trigger: Any = None, priority: int | None = None, *,
        call_before_training: bool = False, **kwargs: Any,
    ) -> None:  # fmt: skip
        """Add an extension; see `xpgrad.training.Trainer.extend`."""
        parse_kwargs(kwargs, invoke_before_training=REMOVED)
        super().extend(extension, name, trigger, priority, call_before_training=call_before_training)

    @property
    def _extensions(self) -> dict[str, Any]:
        return self._entries


def make_extension(*args: Any, **kwargs: Any) -> Any:
    """Return a decorator of functions of the trainer; see `xpgrad.training.make_extension`."""
    check_unexpected_kwargs(kwargs, invoke_before_training=REMOVED)
    return training.make_extension(*args, **kwargs)


class EarlyStoppingTrigger(triggers.EarlyStoppingTrigger):
    """The trigger of xpgrad, which takes `patients` for `patience`, and does not require the value."""

    __doc__ = triggers.EarlyStoppingTrigger.__doc__

    def __init__(
        self, check_trigger: Any = (1, "epoch"), monitor: str = "main/loss", patience: Any = None, mode: str = "auto",
        verbose: bool = False, max_trigger: Any = (100, "epoch"), **kwargs: Any,
    ) -> None:  # fmt: skip
        (patients,) = parse_kwargs(kwargs, ("patients", None))
        if patients is not None:
            if patience is not None:
                raise TypeError("EarlyStoppingTrigger: expected patience or patients, got both")
            warnings.warn("EarlyStoppingTrigger: use patience for patients", DeprecationWarning, stacklevel=2)
            patience = patients
        super().__init__(check_trigger, monitor, 3 if patience is None else patience, mode, verbose, max_trigger)

    @property
    def best(self) -> float:
        """The best mean, infinite before the first check."""
        if self._best is not None:
            return self._best
        return -math.inf if self._better(0, 1) else math.inf

    def __call__(self, trainer: Any) -> bool:
        """Return whether training should stop; warn at a check where the value is not reported."""
        if self.monitor in trainer.observation:
            return super().__call__(trainer)
        ends: bool = self._max(trainer)
        if self._interval(trainer) and not ends:
            warnings.warn(f"EarlyStoppingTrigger: {self.monitor!r} is not reported", stacklevel=2)
        return ends


class LogReport(extensions.LogReport):
    """The extension of xpgrad, which takes `log_name` for `filename`."""

    __doc__ = extensions.LogReport.__doc__

    def __init__(
        self, keys: Any = None, trigger: Any = (1, "epoch"), postprocess: Any = None, filename: Any = None,
        **kwargs: Any,
    ) -> None:  # fmt: skip
        (name,) = parse_kwargs(kwargs, ("log_name", "log"))
        self._log_name = name if filename is None else filename
        super().__init__(keys, trigger, postprocess, self._log_name)

    # Names that derived classes use

    @property
    def _trigger(self) -> Any:
        return self._interval

    def _init_summary(self) -> None:
        self._summary = DictSummary()


class PrintReport(extensions.PrintReport):
    """The extension of xpgrad, which calls a log that the trainer does not have."""

    __doc__ = extensions.PrintReport.__doc__

    def __call__(self, trainer: Any) -> None:
        """Print the records that are new."""
        if not isinstance(self._log_report, str):
            self._log_report(trainer)
        super().__call__(trainer)

    def serialize(self, serializer: Any) -> None:
        """Save or load a log that the trainer does not have; a program that resumes prints all records again."""
        printed = self._printed
        super().serialize(serializer)
        self._printed = printed
