"""`Options`: how a compiled function makes its programs and runs them."""

from dataclasses import dataclass


@dataclass(slots=True)
class Options:
    """How a compiled function makes its programs and runs them.

    Attributes
    ----------
    off : frozenset of str
        Passes to leave out.
    exact : bool
        Whether results are the eager ones to the bit: no pass that reassociates, and the executor ``python``.
    executor : str or None
        The executor that was asked for; None for the best there is.
    strict : bool
        Whether it is an error if that executor does not take a program.
    declined : bool
        Whether a warning has said that it does not.
    """

    off: frozenset[str] = frozenset()
    exact: bool = False
    executor: str | None = None
    strict: bool = False
    declined: bool = False
