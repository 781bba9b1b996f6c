"""`journal`: where this thread notes what it is about to replace, so that a call that fails can restore it.

Nothing is noted, and nothing is copied, outside of calls that set a journal, such as `Optimizer.update`.
"""

from contextvars import ContextVar
from typing import Any, Protocol

from xpgrad.types import Array


class AssignmentJournal(Protocol):
    """Earlier contents of Variables, attributes and arrays."""

    def note(self, x: Any) -> None:
        """Note the contents of a Variable, which will be replaced."""

    def note_attribute(self, attributes: dict[str, Any], name: str) -> None:
        """Note an attribute of an object, which will be replaced."""

    def keep(self, array: Array) -> None:
        """Copy an array, which will be written to."""


journal: ContextVar[AssignmentJournal | None] = ContextVar("xpgrad_journal", default=None)
