"""`shared_lock`: locks that are safe to fork with."""

import itertools
import os
import threading
import weakref
from typing import Any


class SharedLocks:
    """The locks of `shared_lock` that are in use: a fork acquires all of them, in reverse order of creation."""

    def __init__(self) -> None:
        self._locks: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._numbers = itertools.count()
        self._acquired: list[Any] = []
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(before=self._acquire, after_in_parent=self._release, after_in_child=self._release)

    def add(self) -> Any:
        """Return a new lock."""
        lock = self._locks[next(self._numbers)] = threading.RLock()
        return lock

    def _acquire(self) -> None:
        locks = [lock for _, lock in sorted(self._locks.items(), reverse=True)]
        for lock in locks:
            lock.acquire()
        self._acquired = locks

    def _release(self) -> None:
        locks, self._acquired = self._acquired, []
        for lock in locks:
            lock.release()


_locks = SharedLocks()


def shared_lock() -> Any:
    """Return a lock that its thread may acquire again, as in a signal handler, and that is safe to fork with.

    If a process is forked while another thread holds an ordinary lock, the child waits for it forever.
    """
    return _locks.add()
