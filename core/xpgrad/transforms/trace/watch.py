"""`Watch`: notices writes to arrays from outside of a function that is traced, by code that is not recorded."""

from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.types import Array


class Watch:
    """Arrays from outside, and what they contained.

    Attributes
    ----------
    written : bool
        Whether any of them has been written to by what is not recorded: an operator of a library between an array and
        a number, for instance, which no traced array meets.
    recorded : bool
        Whether any may have been written to by what is recorded.
    """

    def __init__(self) -> None:
        self.written = self.recorded = False
        self._known: dict[int, tuple[Array, Any]] = {}

    def add(self, array: Array) -> None:
        """Watch another array."""
        if id(array) not in self._known:
            backend = plugins.backend_of(array)
            self._known[id(array)] = array, None if backend.immutable else backend.fingerprint(array)

    def knows(self, array: Array) -> bool:
        """Return whether an array is one of those."""
        return id(array) in self._known

    def check(self) -> None:
        """Note whether any has been written to since it was looked at."""
        for array, before in self._known.values():
            if before is not None and not self.written:
                self.written = bool(plugins.backend_of(array).fingerprint(array) != before)

    def look(self) -> None:
        """Look at all of them again, after a write that is recorded."""
        self.recorded = True
        arrays = [array for array, _ in self._known.values()]
        self._known.clear()
        for array in arrays:
            self.add(array)
