"""Snapshots to resume training from, a stop at NaN, and graphs that are cut."""

import os
import re
from collections.abc import Callable
from types import TracebackType
from typing import Any

from xpgrad.errors import NotANumber
from xpgrad.graph.variable import Variable
from xpgrad.serializers import load_npz, save_npz
from xpgrad.serializers.files import written
from xpgrad.training.extension import Extension, make_extension


class _Snapshot(Extension):
    trigger = 1, "epoch"
    priority = -100
    writes = True

    def __init__(
        self,
        target: Any,
        filename: str | Callable[[Any], str],
        savefun: Callable[[Any, Any], None] | None,
        condition: Callable[[], bool] | None,
        snapshot_on_error: bool,
        n_retains: int,
        autoload: bool,
    ) -> None:
        if autoload and callable(filename):
            raise TypeError("snapshot: autoload finds files by the text of filename, which is a function; pass a text")
        self._default_name = "snapshot" if target is None else "snapshot_object"
        self._target, self._filename, self._save = target, filename, savefun or save_npz
        self._condition, self._on_error, self._retains, self._loads = condition, snapshot_on_error, n_retains, autoload

    def autoload(self, trainer: Any) -> None:
        """Load the newest snapshot, if any, provided `autoload` is set."""
        if self._loads and (found := self._saved(trainer.out)):
            load_npz(os.path.join(trainer.out, found[-1]), trainer if self._target is None else self._target)

    def __call__(self, trainer: Any) -> None:
        """Write the file atomically, and remove old snapshots."""
        if self._condition is not None and not self._condition():
            return
        name = self._filename(trainer) if callable(self._filename) else self._filename.format(trainer)
        with written(os.path.join(trainer.out, name)) as file:
            self._save(file, trainer if self._target is None else self._target)
        if self._retains > 0:
            for old in self._saved(trainer.out)[: -self._retains]:
                os.remove(os.path.join(trainer.out, old))

    def on_error(self, trainer: Any, exc: BaseException, tb: TracebackType | None) -> None:
        """Write a snapshot if `snapshot_on_error` is set."""
        if self._on_error:
            self(trainer)

    def _saved(self, out: str) -> list[str]:
        """Return the snapshots in a directory, oldest first."""
        assert isinstance(self._filename, str)
        parts = re.split(r"\{[^}]*\}", self._filename)
        pattern = re.compile("(.+)".join(map(re.escape, parts)))
        names = [name for name in os.listdir(out) if pattern.fullmatch(name)]
        return sorted((name for name in names if not name.endswith(".part")), key=lambda name: _age(out, name))


def _age(out: str, name: str) -> tuple[int, list[int]]:
    return os.stat(os.path.join(out, name)).st_mtime_ns, [int(n) for n in re.findall(r"\d+", name)]


def snapshot(
    savefun: Callable[[Any, Any], None] | None = None,
    filename: str | Callable[[Any], str] = "snapshot_iter_{.updater.iteration}",
    *,
    target: Any = None,
    condition: Callable[[], bool] | None = None,
    snapshot_on_error: bool = False,
    n_retains: int = -1,
    autoload: bool = False,
) -> Extension:
    """Return an extension that saves the trainer, each epoch by default.

    Parameters
    ----------
    savefun : function of file and object, optional
        By default `serializers.save_npz`.
    filename : str or function of the trainer
        Below the trainer's directory; it may refer to the trainer in braces.
    target : object with ``serialize``, optional
        By default the trainer.
    condition : function, optional
        No snapshot is saved when this returns False.
    snapshot_on_error : bool
        Whether to save also when an exception ends the training.
    n_retains : int
        The number of snapshots to keep; those before are deleted. By default all are kept.
    autoload : bool
        Whether to load the newest snapshot before training, which then continues with bitwise identical results.

    Notes
    -----
    A snapshot contains the states of models, optimizers, iterators, extensions and triggers, of the random numbers of
    `xpgrad.random`, NumPy's global functions and Python's `random`, the observed values, and which extensions
    had been called when it was taken. It does not contain state that functions of the program keep, such as a
    hyperparameter that was assigned: use a schedule. Examples should depend on their index only.
    """
    return _Snapshot(target, filename, savefun, condition, snapshot_on_error, n_retains, autoload)


def snapshot_object(
    target: Any,
    filename: str | Callable[[Any], str],
    savefun: Callable[[Any, Any], None] | None = None,
    *,
    condition: Callable[[], bool] | None = None,
    snapshot_on_error: bool = False,
    n_retains: int = -1,
    autoload: bool = False,
) -> Extension:
    """Return an extension that saves an object, such as a model, each epoch by default; see `snapshot`."""
    return _Snapshot(target, filename, savefun, condition, snapshot_on_error, n_retains, autoload)


class FailOnNonNumber(Extension):
    """Raises `NotANumber` when a parameter has a NaN or an infinity; every check waits for the device."""

    def __call__(self, trainer: Any) -> None:
        """Check the parameters of all optimizers."""
        for name, optimizer in trainer.updater.get_all_optimizers().items():
            for path, param in optimizer.target.namedparams(include_uninit=False):
                xp = param.device.backend.xp
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
