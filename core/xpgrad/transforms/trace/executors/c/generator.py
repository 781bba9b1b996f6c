"""Stand-in until the generator is merged."""

from dataclasses import dataclass

from xpgrad.transforms.trace.fusion.group import Fused

PRELUDE = "#include <stdint.h>"
FLAGS: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """The C text of one group.

    Attributes
    ----------
    name : str
    text : str
        It calls the group ``GROUP``, so that equal groups have equal texts.
    chunks : int
        Number of parts of which each can be computed by a thread of its own.
    scratch : int
        Bytes of memory that each thread needs.
    partials : int
        Bytes of memory for all chunks together.
    ends : bool
        Whether there is a function ``GROUP_end``, called once after all chunks.
    """

    name: str
    text: str
    chunks: int
    scratch: int
    partials: int
    ends: bool


def generate(fused: Fused, name: str, vector_math: bool = True) -> Source | None:
    """Return None: there is no generator yet."""
    return None
