"""A seeded fault as data: how it is planted in a correct backend, and which families must kill it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.faults.bed import Bed


@dataclass(frozen=True)
class Fault:
    """One way in which a backend can be wrong.

    Attributes
    ----------
    id : str
        Permanent, in words: ``sum-drops-keepdims``.
    title : str
        What is wrong.
    families : str
        Letters of the families of which each must kill it.
    plant : callable
        ``plant(bed)`` changes the correct backend.
    cases : tuple of str
        The cases of the table that the checks of the table run; fewer than a real run has, so a kill here is a kill
        there.
    lazy : bool
        Its bed computes lazily.
    """

    id: str
    title: str
    families: str
    plant: Callable[[Bed], None]
    cases: tuple[str, ...] = ()
    lazy: bool = False


@dataclass(frozen=True)
class Freedom:
    """One thing that a correct backend may do, and that no check may hold against it.

    Attributes
    ----------
    id, title : str
    plant : callable
    lazy : bool
    """

    id: str
    title: str
    plant: Callable[[Bed], None]
    lazy: bool = False


def fault(
    id: str, title: str, families: str, cases: tuple[str, ...] = (), *, lazy: bool = False
) -> Callable[[Callable[[Bed], None]], Fault]:
    """Return a decorator that makes a `Fault` of the function that plants it."""
    return lambda plant: Fault(id, title, families, plant, cases, lazy)


def freedom(id: str, title: str, *, lazy: bool = False) -> Callable[[Callable[[Bed], None]], Freedom]:
    """Return a decorator that makes a `Freedom` of the function that plants it."""
    return lambda plant: Freedom(id, title, plant, lazy)


def faults_in(names: dict[str, Any]) -> tuple[Fault, ...]:
    """Return the faults among the names of a module, in the order in which they were written."""
    return tuple(value for value in names.values() if isinstance(value, Fault))
