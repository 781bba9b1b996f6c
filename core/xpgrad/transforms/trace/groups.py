"""`BlockGroup`: elementwise calls that a run may do together, one block of their arrays after the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xpgrad.transforms.trace.calls import Call, Value, substituted

if TYPE_CHECKING:
    from xpgrad.transforms.trace.program import Program


@dataclass(frozen=True, eq=False, slots=True)
class BlockGroup:
    """Elementwise calls as one function.

    Attributes
    ----------
    calls : tuple of Call
    inputs, outputs : tuple of Value
        All outputs have one shape; inputs have this shape or are 0-d.
    """

    calls: tuple[Call, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]

    def __call__(self, *arrays: Any) -> Sequence[Any]:
        """Return the results of the calls on whole arrays."""
        found: dict[Value, Any] = dict(zip(self.inputs, arrays, strict=True))
        for call in self.calls:
            found[call.results[0]] = call.function(*substituted(call.args, found))
        return [found[value] for value in self.outputs]

    def as_call(self) -> Call:
        """Return the call of this function."""
        return Call("in_blocks", self, self.inputs, {}, self.outputs, single=False, line=self.calls[0].line)


def calls_in(program: "Program") -> "Program":
    """Return the program with grouped calls replaced by their groups."""
    if not any(isinstance(call.function, BlockGroup) for call in program.calls):
        return program
    flat: list[Call] = []
    for call in program.calls:
        flat += call.function.calls if isinstance(call.function, BlockGroup) else (call,)
    return program.replaced(calls=tuple(flat))
