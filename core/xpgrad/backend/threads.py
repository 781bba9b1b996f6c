"""Threads that share the ranges of a loop with the thread that asks for it."""

import contextvars
import os
import queue
import threading
from collections.abc import Callable

Task = Callable[[int, int], object]

RANGES_A_THREAD = 4
"""Ranges for each thread, so that one that is held up leaves its work to the others."""


def threads() -> int:
    """Return the number of threads to use: ``XPGRAD_NUM_THREADS``, by default the cores that the process may use.

    Raises
    ------
    ValueError
        ``XPGRAD_NUM_THREADS`` is not a whole number, or less than 1.
    """
    text = os.environ.get("XPGRAD_NUM_THREADS", "").strip()
    if not text:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise ValueError(f"XPGRAD_NUM_THREADS: expected a whole number from 1, got {text!r}")
    return number


def run_all(task: Task, count: int, step: int | None = None) -> None:
    """Call ``task(first, last)`` for ranges that together are ``range(count)``.

    The calling thread takes turns with those of a pool, each in a copy of the caller's context. Within a task the calls
    are made by its own thread.

    Parameters
    ----------
    task : callable
        It computes by functions that let other threads run meanwhile, and has no state of its own.
    count : int
    step : int, optional
        Length of a range, of the last one at most; by default a few for each thread.

    Raises
    ------
    Exception
        What a task has raised, that of the first range if there are several; all that had begun have ended then, and no
        further ones were begun.
    """
    number = 1 if getattr(_within, "task", False) else threads()
    step = step or max(1, -(-count // (number * RANGES_A_THREAD if number > 1 else 1)))
    number = min(number, -(-count // step))
    if number <= 1:
        for first in range(0, count, step):
            task(first, min(first + step, count))
        return
    loop = SharedLoop(task, count, step)
    try:
        _pool.share(loop, number - 1)
        _within.task = True
        loop.run()
    finally:
        _within.task = False
        try:
            loop.end()
        finally:  # an interrupt at the entry of the first call
            loop.end()


vars(run_all)["bounded"] = True  # its errors are those of the tasks


class SharedLoop:
    """The ranges of one loop, which several threads take.

    Parameters
    ----------
    task : callable
    count, step : int
        See `run_all`.
    """

    def __init__(self, task: Task, count: int, step: int) -> None:
        self._task: Task | None = task
        self._first, self._count, self._step = 0, count, step
        self._lock = threading.Lock()  # and no Condition: an interrupt may find one acquired, but not yet entered
        self._helpers = 0  # threads that take ranges, beside the caller
        self._ended: queue.SimpleQueue[None] = queue.SimpleQueue()  # an item for each helper that has ended
        self._error: tuple[int, BaseException] | None = None

    def help(self) -> None:
        """Take ranges, in a thread of the pool."""
        with self._lock:
            if self._task is None:
                return
            self._helpers += 1
        self.run()
        with self._lock:
            self._helpers -= 1
        self._ended.put(None)

    def run(self) -> None:
        """Take ranges until there are none, or one has failed."""
        while True:
            with self._lock:
                first, task = self._first, self._task
                if first >= self._count or task is None:
                    return
                self._first = first + self._step
            try:
                task(first, min(first + self._step, self._count))
            except BaseException as error:  # also a KeyboardInterrupt: the caller raises it when all have ended
                with self._lock:
                    self._first = self._count
                    if self._error is None or first < self._error[0]:
                        self._error = first, error
                return

    def end(self) -> None:
        """Wait for the helpers, drop the task, which holds arrays, and raise the error of a range."""
        failure: BaseException | None = None
        while True:
            try:
                with self._lock:
                    self._task = None
                    self._first = self._count
                while self._helpers:  # they end soon; until then they write to the caller's arrays
                    self._ended.get()
                break
            except BaseException as error:  # an interrupt
                failure = error
        if failure is None and self._error is not None:
            failure = self._error[1]
        self._error = None
        try:
            if failure is not None:
                raise failure
        finally:
            failure = None  # else its traceback and this frame would be a cycle


class Pool:
    """Threads that help with loops: as many as were ever asked for, made when they are."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Forget the threads, which a forked process does not have, and what they wait for and hold."""
        self._lock = threading.Lock()
        self._loops: Loops = queue.SimpleQueue()
        self._number = 0

    def share(self, loop: SharedLoop, helpers: int) -> None:
        """Let some threads help with a loop, as soon as they have nothing else to do."""
        with self._lock:
            while self._number < helpers:
                thread = threading.Thread(
                    target=_serve, args=(self._loops,), name=f"xpgrad-{self._number + 1}", daemon=True
                )
                try:
                    thread.start()
                except RuntimeError:  # no more threads, or the interpreter ends: the others do the work
                    break
                self._number += 1
        # Threads that have not come to earlier loops will not come to this one in time, and what they wait for adds up.
        room = MOST_WAITING * self._number - self._loops.qsize()
        for _ in range(min(helpers, self._number, room)):
            self._loops.put((contextvars.copy_context(), loop))


MOST_WAITING = 4
"""Number of loops that may wait for each thread of the pool."""
Loops = queue.SimpleQueue[tuple[contextvars.Context, SharedLoop]]


def _serve(loops: Loops) -> None:
    _within.task = True
    while True:
        context, loop = loops.get()
        context.run(loop.help)
        del context, loop  # which hold arrays, while it waits for the next


_within = threading.local()
_pool = Pool()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_pool.renew)
