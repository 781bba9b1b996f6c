"""Snapshots by writers, and the files that they have left (`training.extensions.snapshot`)."""

import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from xpgrad.serializers import load_npz
from xpgrad.training import Extension
from xpgrad_chainer.serializers import serialize
from xpgrad_chainer.training.writers import SimpleWriter


def _find_snapshot_files(fmt: str, path: str) -> list[tuple[float, str]]:
    """Return time and name of the files in a directory that begin and end as the format does, oldest first."""
    start, end = fmt.split("{")[0], fmt.split("}")[-1]
    names = [name for name in os.listdir(path) if name.startswith(start) and name.endswith(end)]
    return sorted((os.stat(os.path.join(path, name)).st_mtime, name) for name in names)


def _find_latest_snapshot(fmt: str, path: str) -> str | None:
    """Return the name of the newest of those files, or None."""
    found = _find_snapshot_files(fmt, path)
    return found[-1][1] if found else None


def _find_stale_snapshots(fmt: str, path: str, n_retains: int = -1, **kwargs: Any) -> Iterator[str]:
    """Return the names of all but the `n_retains` newest of those files."""
    n_retains = _retained(n_retains, kwargs)
    found = _find_snapshot_files(fmt, path)
    return (name for _, name in found[: max(len(found) - n_retains, 0)])


def _always() -> bool:
    return True


def _retained(n_retains: int, kwargs: dict[str, Any]) -> int:
    if "num_retain" in kwargs:
        warnings.warn("num_retain is deprecated; use n_retains", DeprecationWarning, stacklevel=3)
        return int(kwargs["num_retain"])
    return n_retains


class _Snapshot(Extension):
    trigger = 1, "epoch"
    priority = -100
    autoload: Any

    def __init__(
        self,
        target: Any = None,
        condition: Callable[[], bool] | None = None,
        writer: Any = None,
        filename: Any = "snapshot_iter_{.updater.iteration}",
        snapshot_on_error: bool = False,
        n_retains: int = -1,
        autoload: bool = False,
        **kwargs: Any,
    ) -> None:
        self._target, self.filename = target, filename
        self.condition = _always if condition is None else condition
        self.writer = SimpleWriter() if writer is None else writer
        self._snapshot_on_error, self.autoload = snapshot_on_error, autoload
        self.n_retains = _retained(n_retains, kwargs)

    def initialize(self, trainer: Any) -> None:
        """Load the newest snapshot if `autoload` is set, and let the writer remove old snapshots."""
        directory = trainer.out
        if self.autoload and (name := _find_latest_snapshot(self.filename, directory)) is not None:
            load_npz(os.path.join(directory, name), trainer if self._target is None else self._target)
        if hasattr(self.writer, "_add_cleanup_hook") and self.n_retains > 0 and isinstance(self.filename, str):
            self.writer._add_cleanup_hook(lambda: self._clean(directory))

    def _clean(self, directory: str) -> None:
        for name in _find_stale_snapshots(self.filename, directory, self.n_retains):
            os.remove(os.path.join(directory, name))

    def on_error(self, trainer: Any, exc: BaseException, tb: Any) -> None:
        """Write a snapshot if `snapshot_on_error` is set."""
        if self._snapshot_on_error:
            self._make_snapshot(trainer)

    def __call__(self, trainer: Any) -> None:
        """Write a snapshot if the condition holds."""
        if self.condition():
            self._make_snapshot(trainer)

    def _make_snapshot(self, trainer: Any) -> None:
        target = trainer if self._target is None else self._target
        name: Any = self.filename(trainer) if callable(self.filename) else self.filename.format(trainer)
        self.writer(name, trainer.out, serialize(target))

    def finalize(self) -> None:
        """Wait for the writer."""
        if hasattr(self.writer, "finalize"):
            self.writer.finalize()


def snapshot(
    savefun: Callable[..., Any] | None = None, filename: Any = "snapshot_iter_{.updater.iteration}", **kwargs: Any
) -> _Snapshot:
    """Return an extension that saves the trainer, each epoch by default.

    Parameters
    ----------
    savefun : function of path and dictionary, optional
        By default `save_npz`.
    filename : str or function of the trainer
        Below the trainer's directory; it may refer to the trainer in braces.
    **kwargs
        `target`, `condition`, `snapshot_on_error`, `n_retains` and `autoload` as in xpgrad, and `writer`, one of
        `training.extensions.snapshot_writers`.
    """
    known = "target", "condition", "writer", "snapshot_on_error", "n_retains", "num_retain", "autoload"
    unknown = next((name for name in kwargs if name not in known), None)
    if unknown is not None:
        raise TypeError(f"snapshot: unexpected argument {unknown!r}; expected one of {', '.join(known)}")
    if savefun is not None and kwargs.get("writer") is not None:
        raise TypeError("snapshot: expected savefun or writer, got both")
    if kwargs.get("writer") is None:
        kwargs["writer"] = SimpleWriter() if savefun is None else SimpleWriter(savefun=savefun)
    return _Snapshot(filename=filename, **kwargs)


def snapshot_object(target: Any, filename: Any, savefun: Callable[..., Any] | None = None, **kwargs: Any) -> _Snapshot:
    """Return an extension that saves an object, such as a model, each epoch by default; see `snapshot`."""
    return snapshot(savefun, filename, target=target, **kwargs)
