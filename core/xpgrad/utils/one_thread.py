"""`OneThread`: a part of an object that one thread at a time may run."""

import threading
from typing import Any


class OneThread:
    """Context manager of an object that raises an error if another thread is in it; no thread waits.

    Copies and pickles of the object have one of their own.

    Parameters
    ----------
    what : str
        What the error calls the object: ``an optimizer``.
    """

    __slots__ = ("_lock", "_what")

    def __init__(self, what: str) -> None:
        self._what, self._lock = what, threading.RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(
                f"{self._what} is used by another thread at this moment; let one thread at a time use it, or give each "
                "thread its own"
            )

    def __exit__(self, *_: Any) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[Any, ...]:
        return OneThread, (self._what,)
