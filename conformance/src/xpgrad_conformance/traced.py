"""Traced subjects: the suite on arrays that `xpgrad.compile` records."""

from xpgrad.transforms.trace.level import TraceLevel

ONE_CALL = "a traced array is of one call of a function, and records what one thread does there"
MISSING = {
    "pickle": ONE_CALL,
    "pickle_keeps_device": ONE_CALL,
    "threads": ONE_CALL,
    "memory_used": "the memory is that of the library's arrays",
}
KEPT = "the record of a function keeps what enters it from the host, as constants of the program"
BELOW = "kernels are provided for the library's arrays, and are part of what is recorded"
EXPECTED = {
    "K25[*": BELOW,
    "M05[*": KEPT,
    "M06[*": KEPT,
    "H06[*": BELOW,
    "F02[*": BELOW,
    "F03[*": BELOW,
    "R01[*": "an array of a transformation cannot be pickled: it is of one call of a function",
    "R02[*": "what is unpickled is not of the function that is traced",
}
PROVIDES: frozenset[str] = frozenset()
"""Facts that the base may lack."""


def level(number: int) -> TraceLevel:
    """Return the function in which a check runs."""
    return TraceLevel("conform", strict=False)
