"""Writers of snapshots, direct or by threads, processes or queues (`training.extensions.snapshot_writers`)."""

import multiprocessing
import os
import queue
import shutil
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from xpgrad_chainer.serializers import save_npz

Save = Callable[..., Any]


class Writer:
    """Base class: called with a file name, a directory and a dictionary of arrays, it writes the file."""

    def __init__(self) -> None:
        self._post_save_hooks: list[Callable[[], Any]] = []

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        """Write a file."""
        raise NotImplementedError

    def __del__(self) -> None:
        with suppress(Exception):  # at the end of the interpreter
            self.finalize()

    def finalize(self) -> None:
        """Wait until all is written."""

    def save(self, filename: str, outdir: str, target: Any, savefun: Save, **kwds: Any) -> None:
        """Write a file by ``savefun(path, target)``, whole or not at all, and call the hooks."""
        with tempfile.TemporaryDirectory(prefix=f"tmp{filename}", dir=outdir) as directory:
            path = os.path.join(directory, filename)
            savefun(path, target, **kwds)
            shutil.move(path, os.path.join(outdir, filename))
        self._post_save()

    def _add_cleanup_hook(self, hook_fun: Callable[[], Any]) -> None:
        self._post_save_hooks.append(hook_fun)

    def _post_save(self) -> None:
        for hook in self._post_save_hooks:
            hook()


class SimpleWriter(Writer):
    """Writes at once.

    Parameters
    ----------
    savefun : function of path and dictionary
    **kwds
        Further arguments of `savefun`.
    """

    def __init__(self, savefun: Save = save_npz, **kwds: Any) -> None:
        super().__init__()
        self._savefun, self._kwds = savefun, kwds

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        """Write a file."""
        self.save(filename, outdir, target, self._savefun, **self._kwds)


class StandardWriter(SimpleWriter):
    """Base class of writers that start a worker for each file, after the previous worker has finished."""

    _started = False
    _worker: Any = None

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        """Start writing a file."""
        self.finalize()
        self._worker = self.create_worker(filename, outdir, target, **self._kwds)
        self._worker.start()
        self._started = True

    def create_worker(self, filename: str, outdir: str, target: Any, **kwds: Any) -> Any:
        """Return a thread or a process that writes the file."""
        raise NotImplementedError

    def finalize(self) -> None:
        """Wait until the file is written."""
        if self._started and self._worker is not None:
            self._worker.join()
        self._started, self._worker = False, None


class ThreadWriter(StandardWriter):
    """Writes each file in a thread."""

    def create_worker(self, filename: str, outdir: str, target: Any, **kwds: Any) -> Any:
        """Return the thread."""
        return threading.Thread(target=self.save, args=(filename, outdir, target, self._savefun), kwargs=kwds)


class ProcessWriter(StandardWriter):
    """Writes each file in a process."""

    def create_worker(self, filename: str, outdir: str, target: Any, **kwds: Any) -> Any:
        """Return the process."""
        return multiprocessing.Process(target=self.save, args=(filename, outdir, target, self._savefun), kwargs=kwds)


class QueueWriter(Writer):
    """Base class of writers that pass files to one worker by a queue.

    Parameters
    ----------
    savefun : function of path and dictionary
    task : function of file name, directory and dictionary, optional
        By default a `SimpleWriter`.
    """

    _started = False
    _queue: Any = None
    _consumer: Any = None

    def __init__(self, savefun: Save = save_npz, task: Callable[..., Any] | None = None) -> None:
        super().__init__()
        self._task = self.create_task(savefun) if task is None else task
        self._queue = self.create_queue()
        self._consumer = self.create_consumer(self._queue)
        self._consumer.start()
        self._started = True

    def __call__(self, filename: str, outdir: str, target: Any) -> None:
        """Put a file into the queue."""
        self._queue.put([self._task, filename, outdir, target])

    def create_task(self, savefun: Save) -> Callable[..., Any]:
        """Return a function that writes a file."""
        return SimpleWriter(savefun=savefun)

    def create_queue(self) -> Any:
        """Return the queue."""
        raise NotImplementedError

    def create_consumer(self, q: Any) -> Any:
        """Return a thread or a process that runs `consume`."""
        raise NotImplementedError

    def consume(self, q: Any) -> None:
        """Write files until None comes."""
        while True:
            task = q.get()
            if task is None:
                q.task_done()
                return
            task[0](*task[1:])
            self._post_save()
            q.task_done()

    def finalize(self) -> None:
        """Wait until all files are written."""
        if self._started:
            self._queue.put(None)
            self._queue.join()
            self._consumer.join()
        self._started, self._queue, self._consumer = False, None, None


class ThreadQueueWriter(QueueWriter):
    """Writes files in one thread."""

    def create_queue(self) -> Any:
        """Return the queue."""
        return queue.Queue()

    def create_consumer(self, q: Any) -> Any:
        """Return the thread."""
        return threading.Thread(target=self.consume, args=(q,))


class ProcessQueueWriter(QueueWriter):
    """Writes files in one process."""

    def create_queue(self) -> Any:
        """Return the queue."""
        return multiprocessing.JoinableQueue()

    def create_consumer(self, q: Any) -> Any:
        """Return the process."""
        return multiprocessing.Process(target=self.consume, args=(q,))
