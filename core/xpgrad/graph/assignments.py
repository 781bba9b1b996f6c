"""`journal`: where this thread notes what it is about to replace, so that a call that fails can restore it.

Nothing is noted, and nothing is copied, outside of calls that set a journal, such as `Optimizer.update`.
"""

from contextvars import ContextVar
from typing import Any, Protocol

from xpgrad.types import Array


class AssignmentJournal(Protocol):
    """Earlier contents of Variables, attributes and arrays."""

    def note(self, *variables: Any) -> None:
        """Note the contents of Variables, which will be replaced."""

    def note_attribute(self, attributes: dict[str, Any], name: str) -> None:
        """Note an attribute of an object, which will be replaced."""

    def keep(self, array: Array) -> None:
        """Copy an array, which will be written to."""


journal: ContextVar[AssignmentJournal | None] = ContextVar("xpgrad_journal", default=None)


def note_assignment(link: Any, name: str) -> None:
    """Note an attribute of a link, which will be replaced, if it is persistent or a state of the link."""
    noted = journal.get()
    if noted is None:
        return
    states = getattr(type(link), "states", ())
    if name in link.__dict__.get("_persistent", ()) or (isinstance(states, tuple) and name in states):
        noted.note_attribute(link.__dict__, name)
