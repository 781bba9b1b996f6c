"""Tools for checks of memory: weak references, the number of bytes in use, and a program to measure."""

import gc
import tracemalloc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xpgrad import Variable, as_array
from xpgrad_conformance.subject import Subject

SHAPE = 64, 65


class Watch:
    """Weak references to Variables, nodes, functions and arrays that should be freed, if their types allow them."""

    def __init__(self) -> None:
        self._watched: list[tuple[str, weakref.ref[Any]]] = []

    def add(self, thing: Any, what: str) -> None:
        """Watch an object, and the array that a Variable holds."""
        try:
            self._watched.append((what, weakref.ref(thing)))
        except TypeError:  # some libraries' arrays allow no weak references
            pass
        if isinstance(thing, Variable):
            self.add(as_array(thing), f"the array of {what}")

    def assert_dead(self, when: str) -> None:
        """Raise AssertionError if any watched object still exists."""
        alive = [what for what, reference in self._watched if reference() is not None]
        assert not alive, f"{when}, {alive[0]} is still alive ({len(alive)} of {len(self._watched)} are)"


@contextmanager
def reference_counting_alone() -> Iterator[None]:
    """Context manager that disables Python's garbage collector, so that objects in reference cycles are not freed."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


class Meter:
    """The number of bytes in use, as reported by the backend or else by tracemalloc."""

    def __init__(self, s: Subject) -> None:
        self._s = s

    def now(self) -> int:
        """Return the bytes in use, after all work is done and the reference cycles of some libraries are collected."""
        gc.collect()
        self._s.backend.synchronize(self._s.device)
        given = self._s.backend.memory_used(self._s.device)
        return tracemalloc.get_traced_memory()[0] if given is None else given


@contextmanager
def metered(s: Subject) -> Iterator[Meter]:
    """Context manager that yields a `Meter`."""
    traced = s.backend.memory_used(s.device) is None and not tracemalloc.is_tracing()
    if traced:
        tracemalloc.start(1)
    try:
        yield Meter(s)
    finally:
        if traced:
            tracemalloc.stop()


def network(s: Subject, x: Any, w: Any) -> Any:
    """Return a scalar that is computed with every common kind of function."""
    xp = s.xp
    h = xp.tanh(xp.matmul(x, w) * 0.25 + 0.5)
    h = xp.exp(h - xp.max(h, axis=1, keepdims=True))
    h = h / xp.sum(h, axis=1, keepdims=True)
    h = xp.concat([h, h[1:, ...] * 2.0]) if s.has("concat") else h
    return xp.sum(xp.permute_dims(h, (1, 0)) * 1.5)


def operands(s: Subject, shape: tuple[int, int] = SHAPE) -> tuple[Variable, Variable]:
    """Return two Variables that `network` takes."""
    rows, columns = shape
    return s.variable(s.values(shape)), s.variable(s.values((columns, rows)), s.wide)
