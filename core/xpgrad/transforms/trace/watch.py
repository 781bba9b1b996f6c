"""`OutsideWatch`: detects writes to outer arrays of a traced function by code that is not recorded."""

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
        and a number, which involves no traced array; whether a recorded operation may have done so.
    """

    def __init__(self) -> None:
        self.written = self.recorded = False
        self._known: dict[int, tuple[Array, Any]] = {}
        self._copies: dict[int, Array] = {}

    def add(self, array: Array) -> None:
        """Watch another array."""
        if id(array) not in self._known:
            backend = plugins.backend_of(array)
            self._known[id(array)] = array, None if backend.immutable else backend.fingerprint(array)
            if not backend.immutable and is_small(array):
                self._copies.setdefault(id(array), backend.copy(array))

    def knows(self, array: Array) -> bool:
        """Return whether an array is watched."""
        return id(array) in self._known

    def check(self) -> None:
        """Note whether any array has been written to since its contents were stored."""
        for array, before in self._known.values():
            if before is not None and not self.written:
                self.written = bool(plugins.backend_of(array).fingerprint(array) != before)

    def undo(self) -> bool:
        """Restore arrays that unrecorded operations have written to; return whether all are as before."""
        for key, (array, before) in self._known.items():
            if before is not None and plugins.backend_of(array).fingerprint(array) != before:
                if key not in self._copies:
                    return False
                call_on(array, array.__setitem__, ..., self._copies[key])
        return not self.recorded

    def look(self) -> None:
        """Update the contents of all arrays, after a recorded write."""
        self.recorded = True
        arrays = [array for array, _ in self._known.values()]
        self._known.clear()
        for array in arrays:
            self.add(array)
