"""Levels: the active transformations of a thread, each with its own array type.

A transformation such as `compile` calls a function with arrays that record the operations on them. While it is active,
it is the innermost level of its thread, and functions first lift their operands to it: `Level.enter`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from xpgrad.backend.device import Device
from xpgrad.config import LIFTED, at_level, called_with, switches
from xpgrad.errors import EscapedArray, TraceError
from xpgrad.types import Array


class Level(ABC):
    """One active transformation of one thread.

    Parameters
    ----------
    title : str
        Name in messages: ``compile``.

    Attributes
    ----------
    outer : Level or None
        The transformation within which it is active.
    depth : int
        1 for the outermost level.
    live : bool
        Whether its function is still running.
    transformation : str
        Prefix of the names of its backends: ``trace``.
    """

    transformation: ClassVar[str] = ""

    def __init__(self, title: str) -> None:
        self.title = title
        self.outer: Level | None = switches().level
        self.depth: int = 1 if self.outer is None else self.outer.depth + 1
        self.live = False
        self._running: list[None] = []
        self.made: dict[int, Callable[[], object]] = {}  # Variables without an array that its function has made

    @property
    def tangents(self) -> Any:
        """For levels in forward mode, the object that splits Variables into primals and tangents; None for others."""
        return None

    def __repr__(self) -> str:
        return f"<{self.title}, level {self.depth}{'' if self.live else ', ended'}>"

    @abstractmethod
    def holds(self, array: Array) -> bool:
        """Return whether `array` is of this level."""

    @abstractmethod
    def enter(self, array: Array) -> Array:
        """Return an array of a lower level as one of this level."""

    @abstractmethod
    def enter_variable(self, x: Any) -> Any:
        """Return a Variable over an array of a lower level as one over an array of this level."""

    @abstractmethod
    def device(self, device: Device) -> Device:
        """Return the device of this level over a device of a lower level."""

    def note_sweep(self, nodes: Iterable[Any]) -> None:  # noqa: B027 - only some transformations note it
        """Note the nodes where a backward computation starts."""

    def check_sweep(  # noqa: B027 - only some transformations cannot continue
        self, outputs: Iterable[Any], inputs: Iterable[Any] | None = None
    ) -> None:
        """Raise if a backward computation from `outputs` would continue in the graph of a lower level.

        Parameters
        ----------
        outputs, inputs : iterable of Variable
            Start of the sweep, and the Variables whose gradients are requested; None for all.
        """

    def origins(self, node: Any) -> Iterable[Any]:
        """Return the nodes of the level below that a root within represents, if the two graphs are separate."""
        return ()

    def check_cut(self, x: Any) -> None:  # noqa: B027 - only some transformations cannot do so
        """Raise if the graph of a lower level would have to be cut at `x`."""

    def note_outside(self, what: str, remedy: str) -> None:  # noqa: B027 - only some transformations note it
        """Note an action of the function that cannot be part of the transformation, with a remedy."""

    def refuse(self, text: str) -> None:
        """Raise an error with this text, as the function has called what is impossible in a transformation."""
        raise TraceError(text)

    def shown(self, array: Array) -> Array:
        """Return the array that users get for a Variable's array: a constant."""
        return array

    def note_number(self, array: Array) -> None:  # noqa: B027 - only some transformations note it
        """Note that a number is taken out of a Variable over `array`."""

    def note_snapshot(self) -> None:
        """Note that the function may repeat the random numbers that it draws from now on, here and in levels around."""
        if self.outer is not None:
            self.outer.note_snapshot()

    def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Return ``function(*args, **kwargs)``, called with this as the innermost level, which may be active.

        The level ends with the outermost of these calls.
        """
        self._running.append(None)
        self.live = True
        live.add(self)
        try:
            return called_with(at_level(self), function, *args, **kwargs)
        finally:
            self._running.pop()
            if not self._running:
                self.live = False
                live.discard(self)

    def check(self) -> None:
        """Raise `EscapedArray` if the level has ended."""
        if not self.live:
            raise EscapedArray(
                f"{self.title}: an array of a call that has ended was used; return it from the function, or keep "
                "x.array of a returned Variable"
            )


live: set[Level] = set()
"""The levels of all threads whose functions are running: where there is none, nothing else has to be asked."""


def innermost() -> Level | None:
    """Return the level to which arrays must be lifted now in this thread, or None."""
    if not live:
        return None
    now = switches()
    return now.level if now.mode & LIFTED else None


def at_level_of(spec: Any) -> dict[Any, Any]:
    """Return, for `called_with`, the switches with the level of an array of `spec` as the innermost level."""
    level, depth = innermost(), getattr(spec.backend, "depth", 0)
    if level is None or level.depth == depth:
        return {}
    while level is not None and level.depth > depth:
        level = level.outer
    return at_level(level)


def lifted_spec(spec: Any) -> Any:
    """Return the spec of an array of `spec` that is lifted to the innermost level, if any."""
    level = innermost()
    if level is None or level.depth == getattr(spec.backend, "depth", 0):
        return spec
    device = level.device(spec.backend.device_for(spec.device))
    return device.backend.spec_for(spec.shape, spec.dtype, device.handle)


def check_outside(operation: str, remedy: str) -> None:
    """Raise if a transformation is active in which an operation is impossible; a compiled function runs eagerly."""
    level = innermost()
    if level is not None:
        what = f"{operation}: expected a call outside of transformations, got one in {level.title}"
        level.refuse(f"{what}; {remedy}")


def shown(array: Array) -> Array:
    """Return the array that users get for a Variable's array, in the innermost level."""
    level = innermost()
    return array if level is None else level.shown(array)


def note_number(array: Array) -> None:
    """Note, at all levels of this thread, that a number is taken out of a Variable over `array`."""
    level = switches().level
    while level is not None:
        level.note_number(array)
        level = level.outer


def around() -> Level | None:
    """Return the innermost level of this thread, including within a function whose operands were lifted."""
    return switches().level if live else None


def innermost_backend(backend: Any) -> Any:
    """Return the backend of the innermost level over `backend`, or `backend` outside any level."""
    level = innermost()
    return backend if level is None else level.device(backend.default_device).backend


def entered(array: Array) -> Array:
    """Lift `array` to the innermost level, if any."""
    level = innermost()
    return array if level is None or level.holds(array) else level.enter(array)
