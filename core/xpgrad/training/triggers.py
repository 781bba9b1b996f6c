"""Triggers: functions of the trainer that say when an extension is called, or when training ends."""

import operator
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xpgrad.graph.undo import attributes_restored
from xpgrad.listing import listed as _listed
from xpgrad.reporter import DictSummary, serialized

__all__ = [
    "BestValueTrigger", "EarlyStoppingTrigger", "IntervalTrigger", "ManualScheduleTrigger", "MaxValueTrigger",
    "MinValueTrigger", "OnceTrigger", "TimeTrigger", "get_trigger",
]  # fmt: skip


def get_trigger(trigger: Any) -> Any:
    """Return a trigger: a function unchanged, an interval for a pair like ``(1, "epoch")``, or never for None."""
    if trigger is None:
        return _never
    if callable(trigger):
        return trigger
    if not isinstance(trigger, (tuple, list)) or len(trigger) != 2:
        raise TypeError(f"trigger: expected a pair such as (1, 'epoch') or a function of the trainer, got {trigger!r}")
    return IntervalTrigger(*trigger)


def serialize_part(part: Any, serializer: Any, key: str) -> None:
    """Save or load a trigger or an extension, if it has a state."""
    if hasattr(part, "serialize"):
        part.serialize(serializer[key])


def _never(trainer: Any) -> bool:
    return False


class _Progress:
    """A trigger that compares the progress of training with the progress at its last call."""

    def __init__(self, unit: str) -> None:
        if unit not in ("epoch", "iteration"):
            raise ValueError(f"{type(self).__name__}: unit must be 'epoch' or 'iteration', got {unit!r}")
        self.unit, self._before = unit, 0.0

    def _step(self, trainer: Any) -> tuple[float, float]:
        before, updater = self._before, trainer.updater
        self._before = float(updater.epoch_detail if self.unit == "epoch" else updater.iteration)
        if before < 0:
            before = (updater.previous_epoch_detail or 0.0) if self.unit == "epoch" else max(updater.iteration - 1, 0)
        return before, self._before

    def serialize(self, serializer: Any) -> None:
        """Save or load the progress at the last call, which is -1 if unknown."""
        name, kind = ("previous_epoch_detail", float) if self.unit == "epoch" else ("previous_iteration", int)
        self._before = kind(serialized(serializer, name, kind(self._before), -1))


class IntervalTrigger(_Progress):
    """True once in each interval of `period` iterations or `period` epochs, possibly fractional."""

    def __init__(self, period: float, unit: str) -> None:
        super().__init__(unit)
        self.period = period

    def __call__(self, trainer: Any) -> bool:
        """Return whether a period has ended."""
        before, now = self._step(trainer)
        return before // self.period != now // self.period

    def __str__(self) -> str:
        return f"{type(self).__name__}({self.period}, {self.unit!r})"

    def get_training_length(self) -> tuple[float, str]:
        """Return the period and its unit."""
        return self.period, self.unit


class ManualScheduleTrigger(_Progress):
    """True at the given epochs or iterations.

    Parameters
    ----------
    points : number or list of numbers
    unit : {"epoch", "iteration"}
    """

    def __init__(self, points: float | Sequence[float], unit: str) -> None:
        super().__init__(unit)
        self.points = list(points) if isinstance(points, Sequence) else [points]

    def __call__(self, trainer: Any) -> bool:
        """Return whether a point has been passed."""
        before, now = self._step(trainer)
        return any(before < point <= now for point in self.points)

    @property
    def finished(self) -> bool:
        """Whether all points are past."""
        return self._before >= max(self.points)


class OnceTrigger:
    """True the first time; with `call_on_resume`, also the first time after a snapshot was loaded."""

    def __init__(self, call_on_resume: bool = False) -> None:
        self._first, self._resumed = True, call_on_resume

    def __call__(self, trainer: Any) -> bool:
        """Return True at the first call, else False."""
        fires = self._first or self._resumed
        self._first = self._resumed = False
        return fires

    @property
    def finished(self) -> bool:
        """Whether the trigger has fired."""
        return not (self._first or self._resumed)

    def serialize(self, serializer: Any) -> None:
        """Save or load whether it was called."""
        self._first = bool(serialized(serializer, "_flag_first", self._first, False))


class TimeTrigger:
    """True when `period` more seconds of training have passed."""

    def __init__(self, period: float) -> None:
        self._period, self._next = period, float(period)

    def __call__(self, trainer: Any) -> bool:
        """Return whether the next time has come."""
        if trainer.elapsed_time < self._next:
            return False
        self._next += self._period
        return True

    def serialize(self, serializer: Any) -> None:
        """Save or load the next time."""
        self._next = float(serializer("next_time", self._next))


class _Watched:
    """The means of an observed value over intervals, and the best mean."""

    def __init__(self, key: str, better: Callable[[float, float], bool], interval: Any) -> None:
        self._key, self._better, self._interval = key, better, get_trigger(interval)
        self._summary = DictSummary()
        self._best: float | None = None

    def _improved(self, trainer: Any) -> bool | None:
        """Return whether the mean of the interval that ends now is the best; None if none ends."""
        with attributes_restored(self):
            if self._key in trainer.observation:
                self._summary.add({self._key: trainer.observation[self._key]})
            if not self._interval(trainer):
                return None
            found, self._summary = self._summary.compute_mean(), DictSummary()
            if self._key not in found:
                known = ", ".join(trainer.observation) or "nothing"
                text = f"{self._key!r} was not reported in the interval; now is: {known}"
                raise KeyError(f"{type(self).__name__}: {text}")
            value = float(found[self._key])
            if self._best is not None and not self._better(self._best, value):
                return False
            self._best = value
            return True

    def serialize(self, serializer: Any) -> None:
        """Save or load the best value, and the sums of the interval."""
        serialize_part(self._interval, serializer, "interval_trigger")
        self._summary.serialize(serializer["summary"])
        best = float(serializer("best_value", float("nan") if self._best is None else self._best))
        self._best = None if best != best else best


class BestValueTrigger(_Watched):
    """True when the mean of an observed value over an interval is the best so far.

    Parameters
    ----------
    key : str
        The observed value, such as "validation/main/accuracy".
    compare : function of the best value and a new one
        Whether the new one is better.
    trigger : tuple or function of the trainer
        The interval.
    """

    def __init__(self, key: str, compare: Callable[[float, float], bool], trigger: Any = (1, "epoch")) -> None:
        super().__init__(key, compare, trigger)

    def __call__(self, trainer: Any) -> bool:
        """Return whether the best value has improved."""
        return bool(self._improved(trainer))

    @property
    def best_value(self) -> float | None:
        """The best value so far."""
        return self._best


class MaxValueTrigger(BestValueTrigger):
    """True when the mean of the observed value `key` is the largest so far; compared whenever `trigger` fires."""

    def __init__(self, key: str, trigger: Any = (1, "epoch")) -> None:
        super().__init__(key, operator.lt, trigger)


class MinValueTrigger(BestValueTrigger):
    """True when the mean of the observed value `key` is the smallest so far; compared whenever `trigger` fires."""

    def __init__(self, key: str, trigger: Any = (1, "epoch")) -> None:
        super().__init__(key, operator.gt, trigger)


class EarlyStoppingTrigger(_Watched):
    """True when an observed value has not improved for `patience` checks, or at `max_trigger`: for `stop_trigger`.

    Parameters
    ----------
    check_trigger : tuple or function of the trainer
        When the mean of the value since the last check is compared with the best.
    monitor : str
        The observed value.
    patience : int
    mode : {"auto", "max", "min"}
        Whether larger or smaller values are better; "auto" takes larger for "accuracy", else smaller.
    verbose : bool
        Whether it prints that it stops.
    max_trigger : tuple
        When training ends in any case.
    """

    def __init__(
        self,
        check_trigger: Any = (1, "epoch"),
        monitor: str = "main/loss",
        patience: int = 3,
        mode: str = "auto",
        verbose: bool = False,
        max_trigger: Any = (100, "epoch"),
    ) -> None:
        if mode not in ("auto", "max", "min"):
            raise ValueError(f"EarlyStoppingTrigger: mode must be 'auto', 'max' or 'min', got {mode!r}")
        if not isinstance(monitor, str):
            raise TypeError(f"EarlyStoppingTrigger: monitor must be a key of a report, got {monitor!r:.60}")
        larger = mode == "max" or (mode == "auto" and "accuracy" in monitor)
        super().__init__(monitor, operator.lt if larger else operator.gt, check_trigger)
        self.monitor, self.patience, self.verbose, self.count = monitor, patience, verbose, 0
        self._max = get_trigger(max_trigger)

    def __call__(self, trainer: Any) -> bool:
        """Return whether training should stop."""
        with attributes_restored(self):
            improved = self._improved(trainer)
            if improved is not None:
                self.count = 0 if improved else self.count + 1
            stops = self.count >= self.patience
            ends: bool = self._max(trainer) or stops
            if stops and self.verbose:
                text = f"{self.monitor} is no better for {self.patience} checks"
                sys.stdout.write(f"epoch {trainer.updater.epoch}: {text}\n")
            return ends

    def get_training_length(self) -> tuple[float, str]:
        """Return the length if it is not stopped earlier, and its unit."""
        return self._max.get_training_length() if isinstance(self._max, IntervalTrigger) else (0, "epoch")

    def serialize(self, serializer: Any) -> None:
        """Save or load the best value, the checks since, and the progress at the last call."""
        super().serialize(serializer)
        self.count = int(serializer("count", self.count))
        serialize_part(self._max, serializer, "max_trigger")


if not TYPE_CHECKING:
    __getattr__, __dir__ = _listed(__name__, __all__)
