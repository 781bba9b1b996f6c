"""`OutsideWatch`: detects writes to outer arrays of a traced function by code that is not recorded."""

from collections.abc import Iterable
from typing import Any

from xpgrad.backend.current import call_on
from xpgrad.backend.plugins import plugins
from xpgrad.transforms.trace.guards.objects import is_small
from xpgrad.types import Array


class OutsideWatch:
    """Outer arrays, and their earlier contents.

    An unrecorded operation has written to any of them if `written`, such as an operator of a library between an array
    and a number, which involves no traced array; a recorded one may have written to another array if `recorded`.
    """

    def __init__(self) -> None:
        self.written = self.recorded = False
        self._first: dict[int, tuple[Array, Any, Array | None]] = {}  # with the contents, and a copy
        self._now: dict[int, Any] = {}

    def add(self, array: Array) -> None:
        """Watch another array."""
        if not self.knows(array):
            now = self._now[id(array)] = _contents(array)
            copied = now is not None and is_small(array)
            self._first[id(array)] = array, now, plugins.backend_of(array).copy(array) if copied else None

    def knows(self, array: Array) -> bool:
        """Return whether an array is watched."""
        return id(array) in self._first

    def check(self) -> None:
        """Note whether any array has been written to since its contents were stored."""
        if not self.written:
            self.written = any(_contents(array) != self._now[key] for key, (array, _, _) in self._first.items())

    def undo(self) -> bool:
        """Restore the arrays as they were before all writes; return whether that succeeds."""
        for array, before, copy in self._first.values():
            if _contents(array) != before:
                if copy is None:
                    return False
                call_on(array, array.__setitem__, ..., copy)
        return not self.recorded

    def look(self, written: Iterable[Array]) -> None:
        """Update the contents of all arrays, after a recorded write to some, or to views of unknown arrays."""
        self.recorded |= not all(map(self.knows, written))
        self._now = {key: _contents(array) for key, (array, _, _) in self._first.items()}


def _contents(array: Array) -> Any:
    """Return a value that changes when an array is written to, None for one that cannot be."""
    backend = plugins.backend_of(array)
    return None if backend.immutable else backend.fingerprint(array)
