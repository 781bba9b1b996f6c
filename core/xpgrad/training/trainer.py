"""The training loop."""

import os
import sys
import time
import traceback
import warnings
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from xpgrad.reporter import Reporter
from xpgrad.training.extension import PRIORITY_READER
from xpgrad.training.triggers import get_trigger
from xpgrad.training.updaters import Updater


class _Entry(NamedTuple):
    extension: Any
    trigger: Any
    priority: int
    call_before_training: bool


class Trainer:
    """Updates until a trigger says stop, and calls extensions after each update.

    Links below the target of each optimizer are observers of the trainer's reporter, named as the optimizer and their
    path: what the main model reports as "loss" is ``observation["main/loss"]``.

    Parameters
    ----------
    updater : Updater
    stop_trigger : tuple or function of the trainer
        ``(20, "epoch")`` stops after twenty sweeps.
    out : str
        The directory for what extensions write.
    extensions : iterable of extensions, optional

    Attributes
    ----------
    observation : dict
        What was reported during the last update and by extensions after it.
    reporter : Reporter
    """

    def __init__(
        self, updater: Updater, stop_trigger: Any = None, out: str = "result", extensions: Iterable[Any] | None = None
    ) -> None:
        self.updater, self.stop_trigger, self.out = updater, get_trigger(stop_trigger), os.fspath(out)
        self.observation: dict[str, Any] = {}
        self.reporter = Reporter()
        for name, optimizer in updater.get_all_optimizers().items():
            self.reporter.add_observer(name, optimizer.target)
            self.reporter.add_observers(name, optimizer.target.namedlinks(skipself=True))
        self.is_before_training = True
        self._entries: dict[str, _Entry] = {}
        self._seconds = 0.0  # of the runs before a snapshot, and of this one when it has ended
        self._since: float | None = None
        self._done = False
        updater.connect_trainer(self)
        for extension in extensions or ():
            self.extend(extension)

    @property
    def elapsed_time(self) -> float:
        """Seconds of training, those before a snapshot that was loaded included."""
        return self._seconds + (0.0 if self._since is None else time.perf_counter() - self._since)

    def extend(
        self,
        extension: Any,
        name: str | None = None,
        trigger: Any = None,
        priority: int | None = None,
        *,
        call_before_training: bool = False,
    ) -> None:
        """Add an extension: an `Extension`, or another function of the trainer.

        Parameters
        ----------
        extension : function of the trainer
        name : str, optional
            By default its attribute `name`, `default_name` or ``__name__``. ``_1``, ``_2``, ... follow a name that
            is taken.
        trigger : tuple or function of the trainer, optional
            By default the attribute of the extension, or every iteration.
        priority : int, optional
        call_before_training : bool
            Whether it is called once before the first update, too.
        """
        for attribute in ("name", "default_name", "__name__"):
            name = name or getattr(extension, attribute, None)
        if name is None or name == "training":
            problem = "has no name" if name is None else "must not be named 'training'"
            raise (TypeError if name is None else ValueError)(f"Trainer.extend: the extension {problem}; pass name=")
        unique, n = name, 0
        while unique in self._entries:
            n += 1
            unique = f"{name}_{n}"
        with suppress(AttributeError):  # bound methods, and objects with slots
            extension.name = unique
        if trigger is None:
            trigger = getattr(extension, "trigger", (1, "iteration"))
        rank: int = getattr(extension, "priority", PRIORITY_READER) if priority is None else priority
        self._entries[unique] = _Entry(extension, get_trigger(trigger), rank, call_before_training)

    def get_extension(self, name: str) -> Any:
        """Return the extension with this name."""
        if name not in self._entries:
            known = ", ".join(self._entries) or "there is none"
            raise ValueError(f"Trainer.get_extension: no extension is named {name!r}; known: {known}")
        return self._entries[name].extension

    def run(self, show_loop_exception_msg: bool = True) -> None:
        """Train; a trainer runs once."""
        if self._done:
            raise RuntimeError("Trainer.run: it has run; make another trainer to go on")
        os.makedirs(self.out, exist_ok=True)
        entries = sorted(self._entries.values(), key=lambda entry: -entry.priority)
        self._since = time.perf_counter()
        try:
            for entry in entries:
                _call(entry, "initialize", self)
            self._step([entry for entry in entries if entry.call_before_training])
            self.is_before_training = False
            while not self.stop_trigger(self):
                self._step(entries, update=True)
        except BaseException as error:
            if show_loop_exception_msg and isinstance(error, Exception):
                sys.stderr.write(f"Trainer.run: {type(error).__name__}: {error}; the extensions are finalized\n")
                traceback.print_tb(error.__traceback__)
            for entry in entries:
                _call(entry, "on_error", self, error, error.__traceback__)
            raise
        finally:
            for entry in entries:
                _call(entry, "finalize")
            self.updater.finalize()
            self._seconds, self._since, self._done = self.elapsed_time, None, True

    def _step(self, entries: list[_Entry], update: bool = False) -> None:
        self.observation = {}
        with self.reporter.scope(self.observation):
            if update:
                self.updater.update()
            for entry in entries:
                if not update or entry.trigger(self):
                    entry.extension(self)

    def serialize(self, serializer: Any) -> None:
        """Save or load the state of the updater, with its models, and of extensions and triggers.

        An extension that a snapshot does not have starts anew, with a warning.
        """
        self.updater.serialize(serializer["updater"])
        _serialize(self.stop_trigger, serializer, "stop_trigger")
        for name, entry in self._entries.items():
            try:
                _serialize(entry.extension, serializer["extensions"], name)
                _serialize(entry.trigger, serializer["extension_triggers"], name)
            except KeyError as error:  # of a snapshot that was taken without it
                warnings.warn(f"Trainer: extension {name!r} starts anew: {error.args[0]}", stacklevel=2)
        self._seconds = float(serializer("_snapshot_elapsed_time", self.elapsed_time))
        self._since = None if self._since is None else time.perf_counter()


def _call(entry: _Entry, method: str, *args: Any) -> None:
    function = getattr(entry.extension, method, None)
    if function is not None:
        function(*args)


def _serialize(part: Any, serializer: Any, key: str) -> None:
    if hasattr(part, "serialize"):
        part.serialize(serializer[key])
