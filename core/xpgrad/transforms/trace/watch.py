"""`OutsideWatch`: detects writes to outer arrays of a traced function by code that is not recorded."""

from collections.abc import Iterable
from typing import Any

from xpgrad.backend.current import call_on
from xpgrad.backend.plugins import plugins
from xpgrad.transforms.trace.guards.objects import is_small
from xpgrad.types import Array


class OutsideWatch:
    """Outer arrays, and their earlier contents.

    Attributes
    ----------
    written, recorded : bool
        Whether an unrecorded operation has written to any of them, such as an operator of a library between an array
        and a number, which involves no traced array; whether a recorded operation may have written to another array.
    """

    def __init__(self) -> None:
        self.written = self.recorded = False
        self._known: dict[int, tuple[Array, Any]] = {}
        self._first: dict[int, tuple[Any, Array | None]] = {}

    def add(self, array: Array) -> None:
        """Watch another array."""
        if id(array) not in self._known:
            backend = plugins.backend_of(array)
            before = None if backend.immutable else backend.fingerprint(array)
            self._known[id(array)] = array, before
            if id(array) not in self._first:
                self._first[id(array)] = before, None if before is None or not is_small(array) else backend.copy(array)

    def knows(self, array: Array) -> bool:
        """Return whether an array is watched."""
        return id(array) in self._known

    def check(self) -> None:
        """Note whether any array has been written to since its contents were stored."""
        for array, before in self._known.values():
            if before is not None and not self.written:
                self.written = bool(plugins.backend_of(array).fingerprint(array) != before)

    def undo(self) -> bool:
        """Restore the arrays as they were before all writes; return whether that succeeds."""
        for key, (array, _) in self._known.items():
            before, copy = self._first[key]
            if before is not None and plugins.backend_of(array).fingerprint(array) != before:
                if copy is None:
                    return False
                call_on(array, array.__setitem__, ..., copy)
        return not self.recorded

    def look(self, written: Iterable[Array]) -> None:
        """Update the contents of all arrays, after a recorded write to some, or to views of unknown arrays."""
        self.recorded |= not all(map(self.knows, written))
        arrays = [array for array, _ in self._known.values()]
        self._known.clear()
        for array in arrays:
            self.add(array)
