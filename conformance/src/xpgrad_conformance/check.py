"""A check of the conformance suite as data: its permanent id, family, level, scope and required capabilities."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from xpgrad_conformance.subject import Subject


class CheckFamily(NamedTuple):
    """A family of checks: its permanent letter, its name, and the level that its checks belong to by default."""

    letter: str
    name: str
    level: int


FAMILIES: tuple[CheckFamily, ...] = (
    CheckFamily("L", "load", 0),
    CheckFamily("C", "creation", 0),
    CheckFamily("D", "dtype", 0),
    CheckFamily("K", "kernels", 0),
    CheckFamily("E", "errors", 0),
    CheckFamily("S", "sequences", 0),
    CheckFamily("G", "gradients", 1),
    CheckFamily("N", "kinks", 1),
    CheckFamily("M", "memory", 1),
    CheckFamily("V", "device", 2),
    CheckFamily("T", "transfer", 2),
    CheckFamily("H", "second order", 2),
    CheckFamily("A", "aliasing", 2),
    CheckFamily("W", "whole programs", 2),
    CheckFamily("Y", "async", 3),
    CheckFamily("P", "threads", 3),
    CheckFamily("R", "pickle and random state", 3),
    CheckFamily("X", "exchange", 3),
    CheckFamily("F", "fused kernels", 3),
    CheckFamily("J", "executors", 3),
)
"""The families. Letters and names never change and are never reused."""
BY_LETTER = {family.letter: family for family in FAMILIES}
LEVELS = {
    0: "forward",
    1: "first order on one device",
    2: "devices, second order, aliasing",
    3: "async, threads, pickle, exchange, fused kernels, executors",
}
"""Meaning of the levels; each level includes the levels below."""
SCOPES = "backend", "device", "dtype", "case", "operation"
"""Subjects of a check: the backend; each device; each device and dtype; each device, dtype and case of the table; each
device, dtype and operation with generated inputs."""


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes
    ----------
    id : str
        The family's letter and a number: ``V03``. It never changes.
    title : str
        The requirement that it checks, in one line.
    function : callable
        ``function(subject)`` raises an exception, usually AssertionError, if the requirement is not met.
    level : int
    scope : str
        One of `SCOPES`.
    needs : tuple of str
        Capabilities without which it is skipped.
    dtypes : tuple of str
        The dtypes to run in, for the scope "dtype".
    quick : bool
        Whether the quick profile includes it.
    applies : callable or None
        ``applies(case, dtype, quick)`` returns whether it runs for a case in a dtype, for the scope "case"; for the
        scope "operation", the same of an operation, by default for all.
    one_in : int
        It runs for every n-th case of the whole table, because it depends on the core more than on the backend.
    early : bool
        It runs before the rest of the suite because it checks behaviour at first use.
    every : bool
        Whether the quick profile runs it in every dtype of an operation, if only on few inputs in most.
    generated : bool
        Its inputs are generated, so that each run may take another seed. Values of the table of cases and of other
        checks are chosen: at some seeds, finite differences would meet kinks.
    """

    id: str
    title: str
    function: "Callable[[Subject], None]"
    level: int
    scope: str
    needs: tuple[str, ...]
    dtypes: tuple[str, ...]
    quick: bool
    applies: Callable[[Any, str, bool], bool] | None
    one_in: int = 1
    early: bool = False
    generated: bool = False
    every: bool = False

    @property
    def family(self) -> CheckFamily:
        """The family."""
        return BY_LETTER[self.id[0]]


def check(
    id: str,
    *,
    scope: str = "device",
    needs: tuple[str, ...] = (),
    level: int | None = None,
    dtypes: tuple[str, ...] = ("float64", "float32", "complex128", "complex64"),
    quick: bool = True,
    applies: Callable[[Any, str, bool], bool] | None = None,
    one_in: int = 1,
    early: bool = False,
    generated: bool = False,
    every: bool = False,
) -> "Callable[[Callable[[Subject], None]], Check]":
    """Return a decorator that converts a function to a `Check`; the first line of its docstring is the title."""
    if scope not in SCOPES:
        raise ValueError(f"check: expected a scope among {', '.join(SCOPES)}, got {scope!r}")

    def make(function: "Callable[[Subject], None]") -> Check:
        title = (function.__doc__ or "").partition("\n")[0].rstrip(".")
        wanted = BY_LETTER[id[0]].level if level is None else level
        drawn = generated or scope == "operation"
        return Check(id, title, function, wanted, scope, needs, dtypes, quick, applies, one_in, early, drawn, every)

    return make
