"""`Origin`: the source of a program's recording, for code that saves it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xpgrad.transforms.trees import Structure

if TYPE_CHECKING:
    from xpgrad.transforms.trace.program import Program


@dataclass(frozen=True, eq=False, slots=True)
class Origin:
    """The recorded program, and the origins of its inputs and outputs.

    Attributes
    ----------
    recorded, sources : Program, tuple of Source
        The program before all passes, and the sources of its inputs.
    arguments, structure : Structure
        Structures of the arguments and of the results.
    kinds, statics : tuple of bool, dict from int to object
        Mask of leaves of the arguments that are arrays, and the remaining leaves.
    leaves : list of pairs
        Of the results: ``["output", i]``, ``["argument", i]`` or ``["is", x]``.
    effects : bool
        Whether runs store something outside.
    """

    recorded: "Program"
    sources: tuple[Any, ...]
    arguments: Structure
    structure: Structure
    kinds: tuple[bool, ...]
    statics: dict[int, Any]
    leaves: list[Any]
    effects: bool
