"""The training loop."""

import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from typing import Any, NamedTuple

from xpgrad.graph.undo import attributes_restored
from xpgrad.reporter import Reporter
from xpgrad.training.extension import PRIORITY_READER
from xpgrad.training.lock import locked
from xpgrad.training.resuming import observation_of, observation_text, random_text, restore_random
from xpgrad.training.triggers import get_trigger, serialize_part
from xpgrad.training.updaters import Updater
from xpgrad.utils.threads import InTurn

STOP = "training"
"""The name of the stop trigger, which no extension has."""


class _Entry(NamedTuple):
    name: str
    extension: Any
    trigger: Any
    priority: int
    call_before_training: bool


class Trainer:
    """Updates until a trigger stops training, and calls extensions after each update.

    Links below the target of each optimizer are observers of the trainer's reporter, named after the optimizer and
    their path: the value "loss" reported by the main model is ``observation["main/loss"]``.

    Parameters
    ----------
    updater : Updater
    stop_trigger : tuple or function of the trainer
        ``(20, "epoch")`` stops after twenty sweeps.
    out : str
        The directory for files that extensions write.
    extensions : iterable of extensions, optional

    Attributes
    ----------
    observation : dict
        Values reported during the last update and by extensions after this update.
    reporter : Reporter

    Notes
    -----
    Each thread runs separate trainers. Trainers with extensions that write to the same `out`, in any process, run one
    at a time; the directory of a process that was killed is free.
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
        self._entries: dict[str, _Entry] = {}
        self._asked: list[str] | None = None  # the names of extensions whose triggers ran in this step, and STOP
        self._random: str | None = None
        self._seconds = 0.0  # of the runs before a snapshot, and of this run once it has ended
        self._since: float | None = None
        self._has_run, self._in_turn = False, InTurn()
        updater.connect_trainer(self)
        for extension in extensions or ():
            self.extend(extension)

    @property
    def elapsed_time(self) -> float:
        """Seconds of training, those before a snapshot that was loaded included."""
        return self._elapsed()

    def _elapsed(self) -> float:
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
            Whether it is also called once before the first update.
        """
        for attribute in ("name", "default_name", "__name__"):
            name = name or getattr(extension, attribute, None)
        if name is None or name == STOP:
            problem = "has no name" if name is None else f"must not be named {STOP!r}"
            raise (TypeError if name is None else ValueError)(f"Trainer.extend: the extension {problem}; pass name=")
        unique, n = name, 0
        while unique in self._entries:
            n += 1
            unique = f"{name}_{n}"
        if trigger is None:
            trigger = getattr(extension, "trigger", (1, "iteration"))
        rank: int = getattr(extension, "priority", PRIORITY_READER) if priority is None else priority
        entry = _Entry(unique, extension, get_trigger(trigger), rank, call_before_training)
        with suppress(AttributeError):  # bound methods, and objects with slots
            extension.name = unique
        self._entries[unique] = entry

    def get_extension(self, name: str) -> Any:
        """Return the extension with this name."""
        if name not in self._entries:
            known = ", ".join(self._entries) or "there is none"
            raise ValueError(f"Trainer.get_extension: no extension is named {name!r}; known: {known}")
        return self._entries[name].extension

    def run(self, show_loop_exception_msg: bool = True) -> None:
        """Train; a trainer runs once.

        Raises
        ------
        RuntimeError
            It has run, another thread runs it, or another trainer writes to the directory.
        """
        entries = sorted(self._entries.values(), key=lambda entry: -entry.priority)
        with ExitStack() as stack:  # all steps run, even if an earlier step raises
            with self._in_turn.lock:
                if self._since is not None:
                    raise RuntimeError(
                        "Trainer.run: it is running in this thread or another; make a trainer for each thread"
                    )
                if self._has_run:
                    raise RuntimeError("Trainer.run: it has run; make another trainer to go on")
                os.makedirs(self.out, exist_ok=True)
                if any(getattr(entry.extension, "writes", False) for entry in entries):
                    stack.enter_context(locked(self.out))
                stack.callback(self._end)
                self._since = time.perf_counter()
            stack.callback(self.updater.finalize)
            for entry in reversed(entries):
                stack.callback(_call, entry, "finalize")
            try:
                self._train(entries)
            except BaseException as error:
                if show_loop_exception_msg and isinstance(error, Exception):
                    sys.stderr.write(f"Trainer.run: {type(error).__name__}: {error}; the extensions are finalized\n")
                    traceback.print_tb(error.__traceback__)
                for entry in entries:
                    try:
                        _call(entry, "on_error", self, error, error.__traceback__)
                    except Exception as other:  # the error of the loop is the one to see
                        text = f"{type(other).__name__}: {other}"
                        sys.stderr.write(f"Trainer.run: on_error of extension {entry.name!r}: {text}\n")
                        traceback.print_tb(other.__traceback__)
                raise

    def _end(self) -> None:
        self._seconds, self._since, self._has_run = self._elapsed(), None, True

    def _train(self, entries: list[_Entry]) -> None:
        for method in ("autoload", "initialize"):
            for entry in entries:
                _call(entry, method, self)
        if self._random is not None:  # restore a snapshot's state, even after numbers were drawn
            restore_random(self._random)
            self._random = None
        first = [entry for entry in entries if entry.call_before_training]
        if self.is_before_training:
            self._extend(first, asks=False)
        elif self._asked is not None:  # the rest of the step in which a snapshot was taken
            self._extend(entries)
        while not self._stops():
            self._update()
            self._extend(entries)

    def _update(self) -> None:
        before, self.observation = self.observation, {}
        try:
            with self.reporter.scope(self.observation):
                self.updater.update()
        except BaseException:
            self.observation = before
            raise
        self._asked = []

    def _extend(self, entries: list[_Entry], asks: bool = True) -> None:
        """Call the extensions whose triggers fire, except extensions already handled in this step before a snapshot."""
        asked = self._asked = self._asked or []
        with self.reporter.scope(self.observation):
            for entry in entries:
                if entry.name in asked:
                    continue
                asked.append(entry.name)
                try:
                    with attributes_restored(entry.trigger):
                        if not asks or entry.trigger(self):
                            entry.extension(self)
                except BaseException:
                    asked.remove(entry.name)
                    raise

    def _stops(self) -> bool:
        """Ask the stop trigger, once after each step."""
        asked = self._asked = [*self._entries] if self._asked is None else self._asked
        if STOP in asked:
            return False
        with attributes_restored(self.stop_trigger):
            stops = bool(self.stop_trigger(self))
        if not stops:
            asked.append(STOP)
        return stops

    @property
    def is_before_training(self) -> bool:
        """Whether there was no update."""
        return self.updater.iteration == 0

    def serialize(self, serializer: Any) -> None:
        """Save or load the state of the updater, with its models, and of extensions and triggers.

        An extension without state in the snapshot starts anew, with a warning. Random numbers continue from the
        snapshot's state when training starts.
        """
        self.updater.serialize(serializer["updater"])
        serialize_part(self.stop_trigger, serializer, "stop_trigger")
        for name, entry in self._entries.items():
            for part, key in ((entry.extension, "extensions"), (entry.trigger, "extension_triggers")):
                try:
                    with attributes_restored(part):
                        serialize_part(part, serializer[key], name)
                except KeyError as error:  # of a snapshot that was taken without it
                    warnings.warn(f"Trainer: extension {name!r} starts anew: {error.args[0]}", stacklevel=2)
                    break
        self._seconds = float(serializer("_snapshot_elapsed_time", self._elapsed()))
        self._since = None if self._since is None else time.perf_counter()
        steps = [*self._entries, STOP]
        asked = [*self._entries] if self._asked is None else self._asked
        own = json.dumps([name for name in steps if name not in asked])
        observed, numbers = observation_text(self.observation), random_text()
        try:
            found, drawn = str(serializer("_observation", observed)), str(serializer("_random", numbers))
            left = str(serializer("_left", own))
        except KeyError:  # saved by Chainer, after the last extension
            left, found, drawn = json.dumps([STOP]), "{}", numbers
        if left != own:
            self._asked = [name for name in steps if name not in json.loads(left)]
        if found != observed:
            self.observation = observation_of(found)
        if drawn != numbers:
            self._random = drawn


def _call(entry: _Entry, method: str, *args: Any) -> None:
    function = getattr(entry.extension, method, None)
    if callable(function):  # some extensions have a flag of this name
        function(*args)
