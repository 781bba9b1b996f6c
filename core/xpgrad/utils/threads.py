"""`InTurn`: a lock for parts of an object that only one thread at a time may run."""

import os
import threading
import weakref
from typing import Any


class InTurn:
    """A lock of one object; copies and pickles of the object, and forked processes, get a new lock.

    Attributes
    ----------
    lock : context manager
        Reentrant in its thread.
    """

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock: Any = threading.RLock()
        _known.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()


_known: weakref.WeakSet[InTurn] = weakref.WeakSet()


def _renew() -> None:
    for each in [*_known]:
        each.lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_renew)
