"""`Fused`: calls of a program as one function on blocks of a space, or one loop."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from xpgrad.transforms.trace.calls import Call, Value, substituted
from xpgrad.transforms.trace.fusion.statements import Statement

LEFT_OUT = "left out: "
"""How notes on calls begin that are in no group."""


@dataclass(frozen=True, eq=False, slots=True)
class Fused:
    """Calls that are computed together, as one function.

    Attributes
    ----------
    rows, columns : int
        The space. A group with one row and without reduction at level "row" may be split at any column by an executor.
    inputs, outputs : tuple of Value
    levels : dict from Value to str
        The level of each input, output and result of a call; "array" for an input used by single elements, and for an
        output of scatter.
    statements : tuple of Statement
        In order.
    results : tuple of Statement
        One of `statements` for each output.
    calls : tuple of Call
        The same by calls of the library.
    """

    rows: int
    columns: int
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    levels: dict[Value, str]
    statements: tuple[Statement, ...]
    results: tuple[Statement, ...]
    calls: tuple[Call, ...]
    notes: tuple[str, ...] = field(default=())

    def __call__(self, *arrays: Any) -> Sequence[Any]:
        """Return the results of the calls on whole arrays."""
        found: dict[Value, Any] = dict(zip(self.inputs, arrays, strict=True))
        for call in self.calls:
            made = call.function(*substituted(call.args, found), **substituted(call.kwargs, found))
            found.update(zip(call.results, [made] if call.single else made, strict=True))
        return [found[value] for value in self.outputs]

    def as_call(self) -> Call:
        """Return the call of this function."""
        return Call("fused", self, self.inputs, {}, self.outputs, single=False, line=self.calls[0].line)


def group_of(call: Call) -> Fused | None:
    """Return the group that a call computes: its function, or the one that an executor wraps; None without one."""
    function = getattr(call.function, "fused", call.function)
    return function if isinstance(function, Fused) else None
