"""`Background`: a thread that runs jobs one after the other, and ends after the last job."""

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable

from xpgrad_c.process import Build

Job = Callable[[], object]


class Background:
    """Jobs that wait for a thread, which begins with the first and ends with the last.

    A forked process has the jobs, but not the thread: the next call of `resume`, `submit` or `wait` begins another.

    Attributes
    ----------
    stalled : bool
        Whether there are jobs, but no thread.
    """

    def __init__(self) -> None:
        self.stalled = False
        self._jobs: deque[Job] = deque()  # the first is being done
        self._thread: threading.Thread | None = None
        self._closed = False
        self._changed = threading.Condition(threading.Lock())

    def submit(self, job: Job) -> None:
        """Add a job, which must not raise."""
        with self._changed:
            self._jobs.append(job)
            self._start()

    def resume(self) -> None:
        """Continue the jobs in a forked process."""
        with self._changed:
            self._start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait at most `timeout` seconds for the jobs; return whether all are finished."""
        with self._changed:
            self._start()
            return self._changed.wait_for(lambda: self._closed or not self._jobs, timeout) and not self._jobs

    @property
    def waiting(self) -> int:
        """Number of unfinished jobs."""
        return len(self._jobs)

    def _start(self) -> None:
        self.stalled = False
        if self._thread is not None or not self._jobs or self._closed:
            return
        thread = threading.Thread(target=self._work, name="xpgrad-compiler", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no more threads, or the interpreter ends
            self._jobs.clear()
            return
        self._thread = thread

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._jobs or self._closed:
                    self._thread = None
                    self._changed.notify_all()
                    return
                job = self._jobs[0]
            job()
            del job  # which holds a program
            with self._changed:
                self._jobs.popleft()
                self._changed.notify_all()

    def close(self) -> None:
        """Stop the running build and start no further jobs, because the interpreter is shutting down."""
        self._closed = True
        Build.close()

    def before_fork(self) -> None:
        """Let no other thread change the jobs during a fork."""
        self._changed.acquire()

    def after_fork(self) -> None:
        """Go on in the process that has forked."""
        self._changed.release()

    def after_fork_in_child(self) -> None:
        """Drop the thread and its compiler, which belong to the parent process."""
        self._changed = threading.Condition(threading.Lock())
        self._thread = None
        self.stalled = bool(self._jobs)
        Build.forget()


background = Background()
atexit.register(background.close)
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(
        before=background.before_fork,
        after_in_parent=background.after_fork,
        after_in_child=background.after_fork_in_child,
    )
