"""Which groups take less time as one call of C than as calls of a library."""

from xpgrad.transforms.trace.fusion.group import Fused

CALL, ENTRY, ARRAY = 0.4, 1.2, 0.25
"""Microseconds of a call of a library with a small array, of a call of C, and of each array that it takes or makes."""
ELEMENT, COMPILED = 0.6e-3, 0.15e-3
"""Microseconds of an element of one call, and of one statement in C."""


def worth(fused: Fused) -> bool:
    """Return whether a group is worth a call of C."""
    size = fused.rows * fused.columns
    library = sum(CALL + ELEMENT * max((value.spec.size for value in call.results), default=0) for call in fused.calls)
    arrays = len(fused.inputs) + len(fused.outputs)
    return library > ENTRY + ARRAY * arrays + COMPILED * size * len(fused.statements)
