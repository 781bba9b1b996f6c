"""Where a graph ends because a number was taken out of a Variable: ``float(v)``, ``v.item()``, ``math.sin(v)``.

A Python number is not part of a graph, so no gradient flows through it. The Variable interface warns about it with
`GraphEndWarning`, as `backward` does if it starts behind the end of a graph; a transform, which knows the inputs of the
derivative, decides when its function has returned. Where a derivative decides the next step, as in an optimiser, the
warning is an error: see `rejecting`.
"""

import itertools
import linecache
import opcode
import os
import re
import sys
import warnings
import weakref
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from types import FrameType
from typing import TYPE_CHECKING, Any

from xpgrad.backend.levels import live
from xpgrad.config import NO_GRAD, config, switches
from xpgrad.errors import GradientError, GraphEndWarning

if TYPE_CHECKING:
    from xpgrad.graph.node import VariableNode

MAX_PLACES = 3  # in one error
_HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_INSTALLED = os.path.dirname(os.__file__) + os.sep, "<frozen"
_BINARY_OP = opcode.opmap["BINARY_OP"]
_REMAINDERS = 6, 19  # arguments of BINARY_OP for % and %=
# Expressions are compiled when they are first used.
_QUESTION = r"(\w+\.)?(isnan|isinf|isfinite|isclose)\("
_ELEMENT = r"\]\s*(//|\*\*|<<|>>|[-+*/@%&|^])?=(?!=)"
_MATHEMATICS = r"\bc?math\.(exp|expm1|log|log1p|log2|log10|sqrt|a?(?:sin|cos|tan)h?|atan2|hypot|pow)\("


class UserLine:
    """A line of the user's program that took a number out of a Variable.

    Attributes
    ----------
    key : tuple
        File name and number of the line.
    text : str
        The part of the expression on that line.
    library : str or None
        File and line of the library that took the number, if the user's line called a library.
    """

    def __init__(self, frame: FrameType, taker: FrameType) -> None:
        self.key = frame.f_code.co_filename, frame.f_lineno
        self.text = _expression(frame)
        self.line = linecache.getline(*self.key, frame.f_globals).strip()
        code = taker.f_code
        self.library = None if taker is frame else f"{code.co_filename}:{taker.f_lineno}"
        self.module = str(frame.f_globals.get("__name__", "<unknown>"))
        self._registry = frame.f_globals.setdefault("__warningregistry__", {})

    def __str__(self) -> str:
        file, line = self.key
        through = "" if self.library is None else f", in {self.library}"
        return f"{file}:{line}: `{self.text}`{through}" if self.text else f"{file}:{line}{through}"

    def advice(self) -> str:
        """Return the remedy."""
        found = re.search(_MATHEMATICS, self.text)
        if found is not None:
            return f"apply a function of arrays, such as xpgrad.array_api.{found[1]}, to the Variable"
        if re.search(_ELEMENT, self.line) is not None:
            return "collect the Variables in a list and stack it (xpgrad.array_api.stack)"
        if self.library is not None:
            return "differentiate a root by xpgrad.transforms.custom_root, an integral by a sum over its nodes"
        return "compute with the Variable itself"

    def warn(self) -> None:
        """Warn that a number was taken, once for each line."""
        self.warn_of(
            f"a number was taken out of a Variable that requires a gradient, and no gradient flows through it: "
            f"{self.advice()}; float(v.array) says that it is meant, config.warn_graph_end = False is silent"
        )

    def warn_of(self, text: str) -> None:
        """Give a `GraphEndWarning` with this text, once for each line."""
        file, line = self.key
        warnings.warn_explicit(text, GraphEndWarning, file, line, self.module, self._registry)


def rejecting(name: str) -> dict[ContextVar[Any], Any]:
    """Return, for `called_with`, the values that turn the next transform's warning into an error about `name`."""
    return {_rejecting: name}


def rejected(name: str, places: Iterable[UserLine]) -> GradientError:
    """Return the error in place of warnings of these places."""
    lines = "".join(f"\n  {place}; {place.advice()}" for place in itertools.islice(places, MAX_PLACES))
    return GradientError(
        f"{name}: a number was taken out of a Variable that requires a gradient, so the derivative would be wrong; "
        f"float(v.array) says that it is meant, config.warn_graph_end = False accepts it:{lines}"
    )


class _Running:
    """Base of records that functions taking numbers find in their thread while a user's function is called."""

    __slots__ = ("__weakref__",)

    def entered(self) -> dict[ContextVar[Any], Any]:
        """Return, for `called_with`, the context values that make this record visible."""
        return {_running: (*_running.get(), weakref.ref(self)), _rejecting: ""}


class _Line:
    """Numbers taken on one line of the user's code."""

    __slots__ = ("place", "seen", "taken")

    def __init__(self, place: UserLine) -> None:
        self.place = place
        self.taken: set[VariableNode] = set()
        self.seen: weakref.WeakSet[VariableNode] = weakref.WeakSet()


class NumberWatch(_Running):
    """Record of the numbers taken, while a user's function runs, out of Variables that depend on its arguments.

    Parameters
    ----------
    roots : iterable of VariableNode
        The arguments.
    recorded : bool
        Whether gradients by other Variables than the roots can be computed later.

    Attributes
    ----------
    rejecting : str
        Beginning of the error that replaces a warning; empty for a warning.
    """

    __slots__ = ("_lines", "recorded", "rejecting", "roots")

    def __init__(self, roots: Iterable["VariableNode"], recorded: bool) -> None:
        self.roots, self.recorded, self.rejecting = frozenset(roots), recorded, _rejecting.get()
        self._lines: dict[tuple[str, int], _Line] = {}

    def __bool__(self) -> bool:
        return bool(self._lines) and any(line.taken for line in self._lines.values())

    def note(self, node: "VariableNode", place: UserLine) -> bool:
        """Note that `place` took the value of `node`; return whether a value taken there depends on the roots."""
        line = self._lines.get(place.key)
        if line is None:
            line = self._lines[place.key] = _Line(place)
        if len(line.taken) < len(self.roots):
            line.taken.update(self._roots_of([node], line.seen))
        return bool(line.taken)

    def roots_of(self, nodes: Iterable["VariableNode"]) -> set["VariableNode"]:
        """Return the roots that `nodes` depend on."""
        return self._roots_of(nodes, set())

    def places(self, roots: Iterable["VariableNode"]) -> list[UserLine]:
        """Return the places where a value was taken that depends on any of these roots."""
        wanted = set(roots)
        return [line.place for line in self._lines.values() if line.taken & wanted]

    def _roots_of(self, nodes: Iterable["VariableNode"], seen: Any) -> set["VariableNode"]:
        return {each for node in _ancestors(nodes, seen, self.roots) for each in node.lineage() if each in self.roots}

    def warn(self) -> None:
        """Warn about all values that were taken, except values that an outer watch has noted as well.

        Raises
        ------
        GradientError
            The watch is `rejecting`.
        """
        if self.rejecting and config.warn_graph_end and self:
            raise rejected(self.rejecting, self.places(self.roots))
        outer = [watch for watch in _active(NumberWatch) if watch is not self]
        for key, line in self._lines.items():
            noted = any(key in watch._lines and watch._lines[key].taken for watch in outer)
            if config.warn_graph_end and line.taken and not noted:
                line.place.warn()

    def refuse(
        self, outputs: Iterable["VariableNode"], group: Iterable["VariableNode"], what: str, remedy: str
    ) -> None:
        """Raise if `outputs` depend on no root in `group` and numbers were taken out of these roots.

        Parameters
        ----------
        outputs, group : iterable of VariableNode
        what, remedy : str
            The error begins with "`what` does not depend on ..." and adds `remedy` to its advice.
        """
        places = self.places(group)
        if places and not self.roots_of(outputs) & set(group):
            lines = "".join(f"\n  {place}; {place.advice()}" for place in places[:MAX_PLACES])
            raise GradientError(
                f"{what}, because a number was taken out of a Variable that does, and Python's numbers have no gradient"
                f"{remedy}:{lines}"
            )


class Standing(_Running):
    """Copies of Variables that a user's function gets in their place, without an edge of the graph between the two."""

    __slots__ = ("originals",)

    def __init__(self, originals: dict["VariableNode", "VariableNode"]) -> None:
        self.originals = originals


# Weak references, so that no record outlives the call that created it, even if an interruption strikes.
_running: ContextVar[tuple["weakref.ref[_Running]", ...]] = ContextVar("xpgrad_watches", default=())
_rejecting: ContextVar[str] = ContextVar("xpgrad_rejecting_ends", default="")


def rejecting_name() -> str:
    """Return the argument of the enclosing `rejecting` for the transform that begins now."""
    return _rejecting.get()


def _active(kind: type) -> list[Any]:
    return [found for each in _running.get() if isinstance(found := each(), kind)]


def taken(node: "VariableNode", *, warns: bool = True) -> None:
    """Note that a number is taken out of a Variable that requires a gradient; called from the method that converts it.

    Without `warns` the user requested the conversion, which only matters to a transform.
    """
    place, watches = place_of(), _active(NumberWatch)
    if place is None:
        return
    noted = [watch.note(node, place) for watch in watches]
    if any(noted) or not warns:
        return  # the transforms decide when they end
    unrecorded = watches and not watches[0].recorded
    if unrecorded or not config.warn_graph_end or (_active(Standing) and not _has_origin(node)):
        return
    place.warn()


def place_of() -> UserLine | None:
    """Return the line that takes a number out of a Variable now; None if it is harmless, or no graph is recorded."""
    if switches().mode & NO_GRAD or config.in_recomputing:
        return None
    taker = caller()
    return None if taker is None or _is_harmless(taker) else place_at(taker)


def warn_here(text: str) -> None:
    """Issue a `GraphEndWarning` at the running line of the user's code, unless the configuration disables it."""
    frame = caller() if config.warn_graph_end else None
    if frame is not None:
        place_at(frame).warn_of(text)


def place_at(frame: FrameType) -> UserLine:
    """Return the user's line that runs `frame`, or that called the library that runs `frame`."""
    return UserLine(_users(frame), frame)


def caller() -> FrameType | None:
    """Return the innermost caller outside the library."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return frame


def _ancestors(
    nodes: Iterable["VariableNode"], seen: Any, border: frozenset["VariableNode"] = frozenset()
) -> Iterator["VariableNode"]:
    """Yield `nodes` and their ancestors, except nodes in `seen` and nodes before `border`."""
    originals = {copy: node for each in _active(Standing) for copy, node in each.originals.items()}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node in seen or not node.requires_grad:
            continue
        seen.add(node)
        yield node
        if node in border:
            continue
        if node in originals:
            waiting.append(originals[node])
        function = node.live_creator()
        if function is not None:
            waiting.extend(each for each in function.input_nodes or () if each is not None)
            continue
        level = switches().level if live else None
        while level is not None:
            waiting.extend(level.origins(node))
            level = level.outer


def _has_origin(node: "VariableNode") -> bool:
    """Return whether a node depends on a root that is not a copy of a value without gradient."""
    copies = {copy for each in _active(Standing) for copy in each.originals}
    return any(each.creator_node is None and each not in copies for each in _ancestors([node], set()))


def _users(frame: FrameType) -> FrameType:
    """Return the nearest caller outside installed libraries, or `frame` if every caller is in a library."""
    caller: FrameType | None = frame
    while caller is not None:
        name = caller.f_code.co_filename
        if not name.startswith((_HERE, *_INSTALLED)) and "-packages" + os.sep not in name:
            return caller
        caller = caller.f_back
    return frame


def _is_harmless(frame: FrameType) -> bool:
    """Return whether the running instruction formats text by ``%``, or tests a number for NaN or infinity."""
    code, at = frame.f_code.co_code, frame.f_lasti
    if code[at] == _BINARY_OP and code[at + 1] in _REMAINDERS:
        return True
    return re.match(_QUESTION, _expression(frame)) is not None


def _expression(frame: FrameType) -> str:
    """Return the source of the running instruction, or its first line; an empty string if the source is not known."""
    positions = itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)  # one per two bytes
    start, end, column, end_column = next(positions, (None, None, None, None))
    line = linecache.getline(frame.f_code.co_filename, start or frame.f_lineno, frame.f_globals)
    if start is None or column is None:
        return line.strip()
    characters = line.encode()  # columns count bytes
    return (characters[column:end_column] if start == end else characters[column:]).decode(errors="replace").strip()
