"""`Fused`: calls of a program as one function on blocks of a space, or one loop."""

from dataclasses import dataclass, field

from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.groups import CallGroup
from xpgrad_fusion.statements import Statement


@dataclass(frozen=True, eq=False, slots=True)
class Fused(CallGroup):
    """Calls that are computed together, as one function.

    Attributes
    ----------
    rows, columns : int
        The space. A group with one row and without reduction at level "row" may be split at any column by an executor.
    inputs, outputs : tuple of Value
    levels : dict from Value to str
        The level of each input, output and result of a call; "array" for an input used by single elements, and for an
        output of scatter.
    statements, calls : tuple of Statement, tuple of Call
        In order, and the same by calls of the library.
    results : tuple of Statement
        One of `statements` for each output.
    """

    title = "fused"
    rows: int
    columns: int
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    levels: dict[Value, str]
    statements: tuple[Statement, ...]
    results: tuple[Statement, ...]
    calls: tuple[Call, ...]
    notes: tuple[str, ...] = field(default=())

    @property
    def extent(self) -> str:
        """The numbers of rows and columns as text."""
        return f"{self.rows:,} x {self.columns:,}"
