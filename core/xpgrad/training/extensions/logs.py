"""Logs of observed values: means over intervals, as JSON and as a printed table."""

import json
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TextIO

from xpgrad.graph.undo import attributes_restored
from xpgrad.reporter import DictSummary, as_number, serialized_number
from xpgrad.serializers.files import written
from xpgrad.training.extension import PRIORITY_EDITOR, PRIORITY_WRITER, Extension, make_extension
from xpgrad.training.triggers import get_trigger, serialize_part
from xpgrad.types import as_list


class LogReport(Extension):
    """Means of observed values over intervals, written as a list of records to a JSON file.

    Parameters
    ----------
    keys : sequence of str, optional
        The values; by default all.
    trigger : tuple or function of the trainer
        When a record ends.
    postprocess : function of a record, optional
        It may change the record.
    filename : str or None
        Below the trainer's directory; it may refer to the trainer and to values of the record, as in
        ``"log_{.updater.epoch}"`` and ``"log_{epoch}"``.

    Attributes
    ----------
    log : list of dict
        The records, with "epoch", "iteration" and "elapsed_time".
    """

    def __init__(
        self,
        keys: Sequence[str] | None = None,
        trigger: Any = (1, "epoch"),
        postprocess: Callable[[dict[str, Any]], None] | None = None,
        filename: str | None = "log",
    ) -> None:
        self._keys = None if keys is None else as_list(keys, "keys")
        self._interval, self._postprocess = get_trigger(trigger), postprocess
        self._filename = filename
        self._summary, self.writes = DictSummary(), filename is not None
        self._log: list[dict[str, Any]] = []

    @property
    def log(self) -> list[dict[str, Any]]:
        """The records."""
        return self._log

    def __call__(self, trainer: Any) -> None:
        """Add the observed values; at the end of an interval write its record."""
        observed = trainer.observation
        with attributes_restored(self):
            self._summary.add(observed if self._keys is None else {k: observed[k] for k in self._keys if k in observed})
            if trainer.is_before_training or self._interval(trainer):
                self._record(trainer)

    def _record(self, trainer: Any) -> None:
        record: dict[str, Any] = {key: float(value) for key, value in self._summary.compute_mean().items()}
        updater = trainer.updater
        record |= {"epoch": updater.epoch, "iteration": updater.iteration, "elapsed_time": trainer.elapsed_time}
        if self._postprocess is not None:
            self._postprocess(record)
        rest = DictSummary()
        if self._filename is not None:
            # with indent= it takes ten times as long
            lines = ",\n".join(json.dumps(each, default=float) for each in (*self._log, record))
            with written(os.path.join(trainer.out, self._filename.format(trainer, **record)), settled=False) as file:
                file.write(f"[\n{lines}\n]\n".encode())
        self._log, self._summary = [*self._log, record], rest

    def serialize(self, serializer: Any) -> None:
        """Save or load the records, and the sums of the interval."""
        serialize_part(self._interval, serializer, "_trigger")
        self._summary.serialize(serializer["_summary"])
        self._log = json.loads(str(serializer("_log", json.dumps(self._log, default=float))))


class PrintReport(Extension):
    """The records of a `LogReport`, printed as rows of a table.

    Parameters
    ----------
    entries : sequence of str, optional
        The columns; by default the keys of the first record.
    log_report : str or LogReport
        The log, or its name in the trainer.
    out : text stream, optional
        By default the standard output.
    """

    def __init__(
        self, entries: Sequence[str] | None = None, log_report: Any = "LogReport", out: TextIO | None = None
    ) -> None:
        self._entries = None if entries is None else as_list(entries, "keys")
        self._log_report, self._out, self._printed = log_report, out, 0

    def __call__(self, trainer: Any) -> None:
        """Print the records that are new."""
        log = self._log_report
        log = (trainer.get_extension(log) if isinstance(log, str) else log).log
        out, entries = self._out or sys.stdout, self._entries or list(log[0] if log else ())
        rows = [] if self._printed or not log else ["  ".join(f"{entry:<10}" for entry in entries)]
        for record in log[self._printed :]:
            cells = (f"{record[e]:<{max(10, len(e))}.6g}" if e in record else " " * max(10, len(e)) for e in entries)
            rows.append("  ".join(cells))
        out.write("".join(f"{row}\n" for row in rows))
        if hasattr(out, "flush"):  # Chainer takes any object that writes
            out.flush()
        self._printed = len(log)

    def serialize(self, serializer: Any) -> None:
        """Save or load the number of records that were printed."""
        with suppress(KeyError):  # not saved by Chainer
            self._printed = int(serializer("_printed", self._printed))
        log = self._log_report
        if not isinstance(log, str):
            log.serialize(serializer["_log_report"])


class MicroAverage(Extension):
    """The ratio of the sums of two observed values over an interval, reported under `result_key`.

    Parameters
    ----------
    numerator_key, denominator_key, result_key : str
    trigger : tuple or function of the trainer
        The interval.
    """

    priority = PRIORITY_EDITOR

    def __init__(self, numerator_key: str, denominator_key: str, result_key: str, trigger: Any = (1, "epoch")) -> None:
        self._keys, self._result, self._interval = (numerator_key, denominator_key), result_key, get_trigger(trigger)
        self._numerator: float = 0
        self._denominator: float = 0

    def __call__(self, trainer: Any) -> None:
        """Add the values, and at the end of an interval report the ratio."""
        with attributes_restored(self):
            if not all(key in trainer.observation for key in self._keys):
                return  # an interval ends at an observation
            numerator, denominator = (as_number(trainer.observation[key]) for key in self._keys)
            self._numerator += numerator
            self._denominator += denominator
            if self._interval(trainer):
                trainer.observation[self._result] = self._numerator / self._denominator
                self._numerator = self._denominator = 0

    def serialize(self, serializer: Any) -> None:
        """Save or load the sums, and the interval, which Chainer does not save."""
        with suppress(KeyError), warnings.catch_warnings(action="ignore"):
            serialize_part(self._interval, serializer, "_trigger")
        self._numerator = serialized_number(serializer, "_numerator", self._numerator)
        self._denominator = serialized_number(serializer, "_denominator", self._denominator)


def observe_value(observation_key: str, target_func: Callable[[Any], Any]) -> Callable[[Any], None]:
    """Return an extension that reports ``target_func(trainer)`` as `observation_key`, each epoch by default."""

    @make_extension(trigger=(1, "epoch"), priority=PRIORITY_WRITER)
    def _observe_value(trainer: Any) -> None:  # Chainer's name, a key of snapshots
        trainer.observation[observation_key] = target_func(trainer)

    return _observe_value


def observe_lr(optimizer_name: str = "main", observation_key: str = "lr") -> Callable[[Any], None]:
    """Return an extension that reports `lr`, or `alpha`, of optimizer `optimizer_name` as `observation_key`.

    For `Adam` and similar optimizers it is the step size with bias correction, as in Chainer.
    """

    def rate(trainer: Any) -> Any:
        optimizer = trainer.updater.get_optimizer(optimizer_name)
        return optimizer.lr if hasattr(optimizer, "lr") else optimizer.alpha

    return observe_value(observation_key, rate)
