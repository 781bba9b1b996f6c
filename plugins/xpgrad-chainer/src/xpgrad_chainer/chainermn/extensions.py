"""Extensions of trainers that several processes share, for one process."""

import os
from typing import Any

from xpgrad.serializers import load_npz, save_npz
from xpgrad.training import PRIORITY_EDITOR, Extension
from xpgrad.training.triggers import EarlyStoppingTrigger, get_trigger
from xpgrad_chainer.chainermn.communicator import CommunicatorBase


def create_multi_node_evaluator(actual_evaluator: Any, communicator: CommunicatorBase) -> Any:
    """Return the evaluator, since one process has all results."""
    return actual_evaluator


def multi_node_snapshot(comm: CommunicatorBase, snapshot: Any, replica_sets: Any = None) -> Any:
    """Return the extension that writes snapshots."""
    return snapshot


class AllreducePersistent(Extension):
    """Averages the persistent values of a model over processes: for one, they remain unchanged."""

    trigger = 1, "epoch"
    priority = PRIORITY_EDITOR + 1

    def __init__(self, model: Any, comm: CommunicatorBase) -> None:
        self.model, self.comm = model, comm

    def __call__(self, trainer: Any = None) -> None:
        """Keep the values."""


class ObservationAggregator(Extension):
    """Reports a function of the values that all processes observed since the last report.

    Parameters
    ----------
    comm : CommunicatorBase
    original_key, aggregated_key : str
        The observed value, and the reported one, by default under the same key.
    comm_trigger : tuple or function of the trainer
        When a value is reported.
    aggregator : function of a list of lists of values, optional
        By default their mean.
    """

    trigger = 1, "iteration"
    priority = PRIORITY_EDITOR

    def __init__(
        self, comm: CommunicatorBase, original_key: str, aggregated_key: str | None = None, *,
        comm_trigger: Any = (1, "iteration"), aggregator: Any = None,
    ) -> None:  # fmt: skip
        self._key, self._result = original_key, aggregated_key or original_key
        self._interval, self._aggregate = get_trigger(comm_trigger), aggregator or _mean
        self._values: list[Any] = []

    def __call__(self, trainer: Any) -> None:
        """Keep the value, and at the end of an interval report."""
        if self._key in trainer.observation:
            self._values.append(trainer.observation[self._key])
        if self._interval(trainer):
            trainer.observation[self._result] = self._aggregate([self._values])
            self._values = []


def _mean(values: list[list[Any]]) -> Any:
    return sum(values[0]) / len(values[0])


class MultiNodeEarlyStoppingTrigger(EarlyStoppingTrigger):
    """`EarlyStoppingTrigger` that monitors a value which an `ObservationAggregator` reports under a `suffix`."""

    def __init__(
        self, comm: CommunicatorBase, *, monitor: str = "main/loss", suffix: str = "_aggregated", **kwargs: Any
    ) -> None:
        super().__init__(monitor=monitor + suffix, **kwargs)


class _Checkpointer(Extension):
    """Snapshots of a trainer that are removed at the end of the training, and resume it if it was interrupted."""

    def __init__(self, name: str, comm: CommunicatorBase, cp_interval: int, path: str | None) -> None:
        self.name, self.comm, self.cp_interval, self.path = name, comm, cp_interval, path
        self.files: list[str] = []

    def __call__(self, trainer: Any) -> None:
        """Write a snapshot."""
        self.path = self.path or trainer.out
        self.save(trainer, trainer.updater.iteration)

    def save(self, target: Any, iteration: int) -> None:
        """Write a snapshot of `target`, and remove old ones."""
        directory = self.path or "."
        os.makedirs(directory, exist_ok=True)
        file = f"{self.name}.{self.comm.rank}.{iteration}"
        partial = os.path.join(directory, f"{file}.tmp")
        save_npz(partial, target)
        os.replace(partial, os.path.join(directory, file))
        self.files.append(file)
        while len(self.files) > self.cp_interval:
            self._remove(self.files.pop(0))

    def finalize(self) -> None:
        """Remove all snapshots."""
        while self.files:
            self._remove(self.files.pop())

    def maybe_load(self, trainer: Any, optimizer: Any = None, path: str | None = None) -> None:
        """Load the newest snapshot into `trainer`, if there is one."""
        self.path = self.path or path or trainer.out
        names = os.listdir(self.path) if os.path.isdir(self.path) else []
        start = f"{self.name}.{self.comm.rank}."
        steps = sorted(int(end) for name in names if name.startswith(start) and (end := name[len(start) :]).isdecimal())
        self.files = [f"{start}{step}" for step in steps]
        if self.files:
            load_npz(os.path.join(self.path, self.files[-1]), trainer)

    def _remove(self, file: str) -> None:
        path = os.path.join(self.path or ".", file)
        if os.path.exists(path):
            os.remove(path)


def create_multi_node_checkpointer(
    name: str, comm: CommunicatorBase, cp_interval: int = 5, gc_interval: int = 5, path: str | None = None
) -> Extension:
    """Return an extension that writes snapshots while the training runs, and resumes it by `maybe_load`.

    Parameters
    ----------
    name : str
        Of the run; files have the name ``<name>.<rank>.<iteration>``.
    comm : CommunicatorBase
    cp_interval : int
        Number of snapshots to keep.
    gc_interval : int
        Not used.
    path : str, optional
        The directory; by default that of the trainer.
    """
    return _Checkpointer(name, comm, cp_interval, path)
