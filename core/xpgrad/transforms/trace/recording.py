"""`Recording`: the calls of an array library that a traced function has made so far."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from xpgrad.errors import TraceError
from xpgrad.transforms.trace.program import Call, Value
from xpgrad.types import Array

if TYPE_CHECKING:
    from xpgrad.transforms.trace.level import TraceLevel

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
"""The folder of this package, whose frames are not the user's."""
Line = tuple[str, int, str]


class NeedsValue(Exception):
    """A kernel's default body needed the value of an array that is being traced."""


class RecordedPart(NamedTuple):
    """Result of `Recording.apart`, with earlier values that the calls use, and why they are not all computed there."""

    result: Any
    calls: tuple[Call, ...]
    used: dict[Value, Array]
    failure: str | None


class Recording:
    """The calls made at one level.

    Attributes
    ----------
    level, calls : TraceLevel, list of Call
    strict, failure : bool, str or None
        Whether a request for a value raises; otherwise it is noted as the reason for the missing program.
    bodies : int
        Number of running default bodies of kernels: a body that requires a value is called as a whole instead.
    drawn : dict or None
        The random numbers drawn since the start of a repeatable part, by the state of their stream.
    shared : set of Value
        Arrays that calls have returned as they had got them.
    given : iterator of TracedArray or None
        The random numbers to use in place of new random numbers: the numbers of an earlier computation that is
        repeated.
    held : dict or None
        The arrays that calls have used since `hold`, by their values, except the results of these calls.
    """

    __slots__ = ("_made", "_ours", "bodies", "calls", "drawn", "failure", "given", "held", "level", "shared", "strict")

    def __init__(self, level: "TraceLevel", strict: bool) -> None:
        self.level, self.strict = level, strict
        self.calls: list[Call] = []
        self.failure: str | None = None
        self.bodies = 0
        self.drawn: dict[Any, Any] | None = None
        self.given: Iterator[Any] | None = None
        self.held: dict[Value, Array] | None = None
        self._made: set[Value] = set()
        self.shared: set[Value] = set()
        self._ours: dict[str, bool] = {}  # by file: code objects compute their hashes each time

    def add(
        self, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any],
        results: tuple[Value, ...], *, single: bool = True, writes: tuple[Value, ...] = (), draws: bool = False,
    ) -> None:  # fmt: skip
        """Record a call that has been made; the parameters are the same as for `Call`."""
        self.calls.append(Call(name, function, args, kwargs, results, single, writes, draws, self.line()))
        if self.held is not None:
            self._made.update(results)

    def hold(self, x: Any) -> None:
        """Hold the array of a traced array that was created before."""
        if self.held is not None and x.value not in self._made:
            self.held[x.value] = x.values

    def apart(self, function: Callable[[], Any]) -> "RecordedPart":
        """Return the result of `function` and its calls, which are kept out of this recording."""
        mark, before = len(self.calls), (self.held, self._made, self.drawn, self.failure, self.given)
        self.held, self._made, self.failure, self.given = {}, set(), None, None
        self.drawn = None if self.drawn is None else {}
        try:
            result = function()
            return RecordedPart(result, tuple(self.calls[mark:]), self.held, self.failure)
        finally:
            del self.calls[mark:]
            self.held, self._made, self.drawn, self.failure, self.given = before

    def line(self) -> Line | None:
        """Return file, line and function of the innermost frame outside the library and its plugins."""
        at = None if self.level.facts is None else self.level.facts.at
        if at is not None and not at.ours:  # an observer knows it
            return at.code.co_filename, at.frame.f_lineno, at.code.co_name
        frame, ours = sys._getframe(2), self._ours
        while frame is not None:
            code = frame.f_code
            file = code.co_filename
            own = ours.get(file)
            if own is None:
                plugin = str(frame.f_globals.get("__name__")).startswith("xpgrad_")
                own = ours[file] = plugin or file.startswith((ROOT, "<frozen"))
            if not own:
                return file, frame.f_lineno, code.co_name
            frame = frame.f_back  # type: ignore[assignment]  # None ends the loop
        return None

    def needs(self, what: str, remedy: str) -> None:
        """Note that the function needs a value which only a run has; within the body of a kernel raise `NeedsValue`.

        `what` names the operation and the array, and `remedy` what to write instead.
        """
        if self.bodies:
            raise NeedsValue(what)
        self.fail(what, remedy)

    def fail(self, what: str, remedy: str, *, here: bool = True) -> None:
        """Note that the calls are not the whole computation, and why; raise `TraceError` if the recording is strict.

        `here` is whether the running line is responsible.
        """
        place = self.line() if here else None
        at = "" if place is None else f" (line {place[1]} of {os.path.basename(place[0])}, in {place[2]})"
        text = f"{what}{at}; {remedy}"
        if self.strict:
            raise TraceError(f"{self.level.title}: {text}")
        self.failure = self.failure or text

    def whole(self, body: Callable[..., Any], call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls `body`, or `call` if the body requires a value, after removing its calls."""

        def either(*args: Any, **kwargs: Any) -> Any:
            mark = len(self.calls)
            self.bodies += 1
            try:
                return body(*args, **kwargs)
            except NeedsValue:
                del self.calls[mark:]
            finally:
                self.bodies -= 1
            return call(*args, **kwargs)

        return either
