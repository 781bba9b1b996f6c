"""`difference`: whether two recorded runs of one function are the same program."""

from typing import Any

from xpgrad.backend.checks import same_place
from xpgrad.backend.plugins import plugins
from xpgrad.backend.spec import Spec
from xpgrad.graph.variable import Variable
from xpgrad.transforms.trace.aliases import is_fresh
from xpgrad.transforms.trace.guards.guard import same
from xpgrad.transforms.trace.guards.objects import PLAIN
from xpgrad.transforms.trace.level import InputSource
from xpgrad.transforms.trace.program import Program, Value
from xpgrad.transforms.trace.recording import Line
from xpgrad.transforms.trace.tracing import Trace
from xpgrad.types import Array


def difference(first: Trace, second: Trace) -> str | None:
    """Return in words where two runs of a function differ, or None."""
    if [_sources(s) for s in first.sources] != [_sources(s) for s in second.sources]:
        return "it used other arrays from outside than at its first run"
    if (written := _written_inside(first, second)) is not None:
        return written
    pairs: dict[Value, Value] = {}
    for (mine, other), source, again in zip(
        zip(first.program.inputs, second.program.inputs, strict=True), first.sources, second.sources, strict=True
    ):
        if not same_place(mine.spec, other.spec):
            return f"it used an array of {other.spec!r}, and one of {mine.spec!r} at its first run"
        if source.kind == "constant" and not _same_arrays(source.holder, again.holder):
            return (
                f"an array of {mine.spec!r} from outside had other values at its second run: it was computed outside "
                "of xpgrad's functions, or drawn by another library's random numbers"
            )
        pairs[mine] = other
    if (text := _calls(first.program, second.program, pairs)) is not None:
        return text
    if [leaf.kind for leaf in first.results] != [leaf.kind for leaf in second.results]:
        return "it returned something else at its second run"
    if [(w[1:], _sources(w[0])) for w in first.writes] != [(w[1:], _sources(w[0])) for w in second.writes]:
        return "it stored arrays in other Variables than at its first run"
    objects = zip(first.results, second.results, strict=True)
    if any(a.kind == "object" and not (same(a.content, b.content) or a.content == b.content) for a, b in objects):
        return "it returned another Python value at its second run"
    if [each.effect[:3:2] for each in first.facts.sets] != [each.effect[:3:2] for each in second.facts.sets]:
        return "it set something else outside at its second run"
    kept = zip(first.facts.sets, second.facts.sets, strict=True)
    if not all(a.arrays is b.arrays and (a.arrays or same(a.value, b.value)) for a, b in kept):
        return "it set another value outside at its second run"
    if not _same(first.program.outputs, second.program.outputs, pairs):
        return "it returned other values at its second run"
    if (first.pullback is None) != (second.pullback is None):
        return "its results required a gradient at one run only"
    if first.pullback is None or second.pullback is None:
        return None
    a, b = first.pullback, second.pullback
    return _calls(a, b, dict(zip(a.inputs, b.inputs, strict=False)) | pairs)


def same_programs(first: Program, second: Program) -> bool:
    """Return whether two programs make the same calls of the same inputs."""
    inputs = list(zip(first.inputs, second.inputs, strict=False))
    if len(first.inputs) != len(second.inputs) or not all(same_place(a.spec, b.spec) for a, b in inputs):
        return False
    pairs = dict(inputs)
    return _calls(first, second, pairs) is None and _same(first.outputs, second.outputs, pairs)


def _written_inside(first: Trace, second: Trace) -> str | None:
    """Return in words that an array which a run made unrecorded is written to: the next run would find it changed."""
    pairs = zip(second.program.inputs, first.sources, second.sources, strict=True)
    inside = {value for value, a, b in pairs if a.kind == "constant" and a.holder is not b.holder}
    if not inside:
        return None
    for call in second.program.calls:
        if not inside.isdisjoint(call.writes):
            return (
                f"it wrote to an array{_at(call.line)} that it had made by its library's functions, of which a program "
                "knows nothing: make it by xpgrad's, or from the arguments"
            )
        if not inside.isdisjoint(call.operands()) and not is_fresh(call, second.program.backend):
            inside.update(call.results)
    return None


def _calls(first: Program, second: Program, pairs: dict[Value, Value]) -> str | None:
    for mine, other in zip(first.calls, second.calls, strict=False):
        at = _at(other.line)
        if mine.name != other.name:
            return f"it called {other.name}{at}, and {mine.name} at its first run"
        if not (_same(mine.args, other.args, pairs) and _same(mine.kwargs, other.kwargs, pairs)):
            return f"it called {mine.name} with other arguments{at} than at its first run"
        if len(mine.results) != len(other.results):
            return f"{mine.name}{at} returned another number of arrays than at its first run"
        for a, b in zip(mine.results, other.results, strict=True):
            if not same_place(a.spec, b.spec):
                return f"{mine.name}{at} returned {b.spec!r}, and {a.spec!r} at its first run"
            pairs[a] = b
    if len(first.calls) != len(second.calls):
        return f"it made {len(second.calls)} calls, and {len(first.calls)} at its first run"
    return None


def _at(line: Line | None) -> str:
    return "" if line is None else f" (line {line[1]}, in {line[2]})"


def _sources(source: InputSource) -> tuple[str, Any]:
    holder = source.holder
    if source.kind == "constant":
        return source.kind, None
    if isinstance(holder, Variable) and holder._node.get_variable_or_none() is not holder:  # made by a sweep
        return source.kind, (id(holder._node), id(holder._array))
    return source.kind, holder if source.kind == "number" or type(holder) is int else id(holder)


def _same(a: Any, b: Any, pairs: dict[Value, Value]) -> bool:
    """Return whether two arguments are the same: values of one place in the programs, and equal constants."""
    if isinstance(a, Value):
        return pairs.get(a) is b
    kind = type(a)
    if kind is not type(b):
        return False
    if kind in PLAIN:
        return same(a, b)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(_same(x, y, pairs) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(x, b[key], pairs) for key, x in a.items())
    if isinstance(a, slice):
        return _same((a.start, a.stop, a.step), (b.start, b.stop, b.step), pairs)
    if isinstance(a, Spec):
        return same_place(a, b)
    if kind in plugins.by_type:
        return _same_arrays(a, b)
    return a is b or bool(a == b) or callable(a)  # functions are made for each call; their names are compared


def _same_arrays(a: Array, b: Array) -> bool:
    if a is b:
        return True
    backend = plugins.backend_of(a)
    same_kind = type(a) is type(b) and same_place(backend.spec(a), backend.spec(b))
    return same_kind and backend.same_values(a, b)
