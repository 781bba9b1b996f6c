"""Names for the arrays of a program: the user's own where a line of the source gives one, else ``v1``, ``v2``."""

import ast
import itertools
import keyword
import linecache
import re
from collections.abc import Iterable

from xpgrad.transforms.trace.calls import CallSequence, Value

RESERVED = frozenset(keyword.kwlist) | {"live", "restore", "copy", "in_blocks"}
"""Names that the generated source does not give to values."""


class Names:
    """Gives out names, each once."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken: set[str] = {*RESERVED, *reserved}
        self._next: dict[str, int] = {}

    def new(self, wanted: str) -> str:
        """Return `wanted`, made a name of Python, or that with a number if it is taken."""
        name = plain = re.sub(r"\W", "_", wanted) or "value"
        if not plain.isidentifier():
            name = plain = f"_{plain}"
        while name in self._taken:
            self._next[plain] = number = self._next.get(plain, 1) + 1
            name = f"{plain}_{number}"
        self._taken.add(name)
        return name


def function_name(name: str) -> str:
    """Return the name of a function in the source: ``linalg_inv`` for ``linalg.inv``."""
    plain = {"x[]": "getitem", "x[]=": "setitem"}.get(name, name).rpartition(":")[2]
    return re.sub(r"\W+", "_", plain).strip("_") or "function"


def named(program: CallSequence) -> dict[Value, str]:
    """Return a name for each value.

    The last result of the calls in a row that come from a line like ``h = tanh(x @ w)`` is called ``h``.
    """
    functions = {function_name(call.name) for call in program.calls}
    names = Names(functions)
    targets: dict[tuple[str, int], tuple[str, ...]] = {}
    found: dict[Value, str] = {}
    for value in program.inputs:
        found[value] = names.new(value.name) if value.name else ""
    for line, calls in itertools.groupby(program.calls, key=lambda call: call.line):
        last = None
        for last in calls:
            for value in last.results:
                found[value] = names.new(value.name) if value.name else ""
        if line is None or last is None:
            continue
        if line[:2] not in targets:
            targets[line[:2]] = assigned(*line[:2])
        if len(targets[line[:2]]) == len(last.results):
            for value, name in zip(last.results, targets[line[:2]], strict=True):
                found[value] = found[value] or names.new(name)
    numbers = itertools.count(1)
    for value, name in found.items():
        while not name:
            wanted = f"v{next(numbers)}"
            name = found[value] = wanted if names.new(wanted) == wanted else ""
    return found


def assigned(file: str, line: int) -> tuple[str, ...]:
    """Return the names to which a line of a file assigns, if it is a complete assignment statement."""
    text = linecache.getline(file, line).strip()
    if "=" not in text or len(text) > 1000:
        return ()
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return ()
    match statements:
        case [ast.Assign(targets=[target, *_])] | [ast.AugAssign(target=target)] | [ast.AnnAssign(target=target)]:
            pass
        case _:
            return ()
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    found = tuple(part.id for part in parts if isinstance(part, ast.Name))
    return found if len(found) == len(parts) else ()
