"""The Python source of a program: one line a call, in functions of at most 1,000 lines."""

import itertools
import linecache
import math
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.programs import programs_of
from xpgrad.transforms.trace.aliases import FRESH_OPERATORS, to_copy
from xpgrad.transforms.trace.calls import Call, CallSequence, Value, values_in
from xpgrad.transforms.trace.groups import BlockGroup, calls_in
from xpgrad.transforms.trace.keys import function_key
from xpgrad.transforms.trace.names import Names, function_name, named
from xpgrad.transforms.trace.scalars import Scalars
from xpgrad.transforms.trace.text import constant_text, line_text

Part = tuple[list[Call], list[str]]  # calls in a row, and their lines
MAX_LINES = 980
"""Lines of one function, with a few left for its head and end: Python takes seconds to compile very long ones."""
KEPT_BYTES, OWN_BYTES = 2**10, 2**7
"""Arrays that are not needed any more are dropped together, once they have this many bytes, with some for each itself:
the memory of a few small arrays stays in the cache."""


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """Source text, the name of the function in it to call, and the functions and constants that are its globals."""

    text: str
    name: str
    objects: dict[str, Any]


class SourceWriter:
    """Writes the lines of a program."""

    def __init__(self, program: CallSequence) -> None:
        self.program = program
        self.backend: Backend | None = program.backend
        self.values = named(calls_in(program))
        self.blocks: list[str] = []
        self._into: dict[Value, str] = {}
        self.names = Names(self.values.values())
        self.scalars = Scalars(program)
        self.main = self.names.new(function_name(program.name))
        self.objects: dict[str, Any] = {}
        self.comments: list[str] = []
        self._functions: dict[Any, str] = {}
        self._constants: dict[int, str] = {}
        self._number = 0

    def helper(self, name: str) -> str:
        """Return the name of a method of the backend, ``restore`` or ``copy``, or of its programs, ``in_blocks``."""
        assert self.backend is not None
        self.objects[name] = getattr(programs_of(self.backend) if name == "in_blocks" else self.backend, name)
        return name

    def function(self, call: Call, memory: str | None) -> str:
        """Return the name of a call's function, or of its variant that writes to memory."""
        function: Any = call.function
        key = function_key(function)
        if memory or key in FRESH_OPERATORS:  # faster than the functions that they call
            assert self.backend is not None
            programs = programs_of(self.backend)
            function = programs.writer(function) or programs.into(function) or function
            key = function_key(function)
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = self.names.new(function_name(call.name))
            self.objects[found] = function  # and keeps it, so that its id stays its own
        return found

    def constant(self, item: Any) -> str:
        """Return the name of a constant."""
        found = self._constants.get(id(item))
        if found is None:
            name = None if self.backend is None else dtype_name(self.backend, item)
            if name is None:
                name, self._number = f"k{self._number}", self._number + 1
            found = self._constants[id(item)] = self.names.new(name)
            self.objects[found] = item  # and keeps it, so that its id stays its own
            if found != name or name[0] == "k":
                self.comments.append(f"# {found} = {constant_text(item, str)}")
        return found

    def argument(self, item: Any) -> str:
        """Return an argument as source."""
        if isinstance(item, Value):
            return self.values[item]
        kind = type(item)
        if kind is tuple or kind is list:
            if not values_in(item) and not is_literal(item):
                return self.constant(item)
            items = ", ".join(map(self.argument, item))
            return f"[{items}]" if kind is list else f"({items}{',' if len(item) == 1 else ''})"
        if kind is dict and values_in(item):
            return f"{{{', '.join(f'{key!r}: {self.argument(part)}' for key, part in item.items())}}}"
        if kind is slice and values_in(item):
            self.objects["slice"] = slice
            return f"slice({self.argument(item.start)}, {self.argument(item.stop)}, {self.argument(item.step)})"
        return literal(item) or self.constant(item)

    def call(self, call: Call) -> Iterator[str]:
        """Yield the lines of a call, without indentation."""
        if call in self.scalars.operations:
            yield self.operation(call)
            return
        if isinstance(call.function, BlockGroup):
            yield self.group(call.function)
            return
        given = [self.argument(item) for item in call.args]
        given += [f"{key}={self.argument(item)}" for key, item in call.kwargs.items()]
        memory = self.memory(call)
        text = f"{self.function(call, memory)}({', '.join([*given, f'out={memory}'] if memory else given)})"
        if memory in self._into.values():  # where arrays are not contiguous, results get the layouts of the calls
            text = f"{text} if {memory} is not None else {self.function(call, None)}({', '.join(given)})"
        scalars = [value for value in call.results if self.may_be_scalar(value)]
        results = ", ".join(self.values[value] for value in call.results)
        if call.single and len(call.results) == 1:
            yield f"{results} = {self.helper('restore')}({text})" if scalars else f"{results} = {text}"
            return
        yield f"{results}{',' if len(call.results) == 1 else ''} = {text}" if results else text
        for value in scalars:
            yield f"{self.values[value]} = {self.helper('restore')}({self.values[value]})"

    def memory(self, call: Call) -> str | None:
        """Return the name of the array whose memory takes the result of a call, or None."""
        into = self._into.get(call.results[0]) if len(call.results) == 1 else None
        if into and self.backend is not None and programs_of(self.backend).writer(call.function) is not None:
            return into
        return None if call.out is None else self.values[call.out]

    def group(self, group: BlockGroup) -> str:
        """Return the line that calls a group, and write the function that computes a block."""
        name = self.names.new("block")
        inputs = [self.values[value] for value in group.inputs]
        into = [self.names.new(f"into_{self.values[value]}") for value in group.outputs]
        self._into = dict(zip(group.outputs, into, strict=True))
        lines = [line for call in group.calls for line in self.lines(call)]
        self._into = {}
        results = ", ".join(self.values[value] for value in group.outputs)
        results += "," if len(group.outputs) == 1 else ""
        self.blocks.append(function_text(name, [*inputs, *into], [*lines, f"return ({results})"]))
        specs = self.constant(tuple(value.spec for value in group.outputs))
        given = f"({', '.join(inputs)}{',' if len(inputs) == 1 else ''})"
        return f"{results} = {self.helper('in_blocks')}({name}, {given}, {specs})"

    def lines(self, call: Call) -> Iterator[str]:
        """Yield the lines of a call in a group, with a line that drops values that are no longer needed."""
        yield from self.call(call)
        if call.frees:
            yield f"del {', '.join(self.values[value] for value in call.frees)}"

    def operation(self, call: Call) -> str:
        """Return the line of a call that is an expression of scalars."""
        expression, operands = self.scalars.operations[call]
        result = call.results[0]
        text = expression.format(*map(self.argument, operands))
        if result not in self.scalars.values:
            text = f"{self.helper('restore')}({text})"
        return f"{self.values[result]} = {text}"

    def may_be_scalar(self, value: Value) -> bool:
        """Return whether the library may return a scalar where this array is expected."""
        return not value.spec.shape and bool(value.spec.backend.scalar_types)

    def output(self, item: Any, copied: bool) -> str:
        """Return an output as source, copied if it may share memory with arrays of others."""
        text = self.values[item] if isinstance(item, Value) else self.constant(item)
        return f"{self.helper('copy')}({text})" if copied else text


def is_literal(item: Any) -> bool:
    """Return whether a constant can be written in the source unchanged, at no cost when the source runs."""
    return all(map(is_literal, item)) if type(item) is tuple else literal(item) is not None


def literal(item: Any) -> str | None:
    """Return the source of a number, a string, None or an ellipsis that means exactly this; None for other objects."""
    kind = type(item)
    if item is None or kind is bool or kind is str or kind is int:
        text = repr(item)
        return text if len(text) <= 60 else None
    if kind is float:
        return repr(item) if math.isfinite(item) else None
    return "..." if item is Ellipsis else None


def dtype_name(backend: Backend, item: Any) -> str | None:
    """Return the name of a dtype of the library, and None for other objects."""
    if isinstance(item, (tuple, list, dict, slice)) or (hasattr(item, "shape") and hasattr(item, "dtype")):
        return None
    try:
        name = backend.dtype_name(item)
        known = getattr(backend.namespace, name, None)
        return name if known is not None and name.isidentifier() and (known is item or bool(known == item)) else None
    except (AttributeError, TypeError, ValueError):
        return None


def source_of(program: CallSequence) -> ProgramSource:
    """Return the source of a program."""
    writer = SourceWriter(program)
    parts = list(parts_of(writer))
    inputs = [writer.values[value] for value in program.inputs]
    copied = to_copy(program)
    outputs = [writer.output(item, needed) for item, needed in zip(program.outputs, copied, strict=True)]
    end = f"return ({', '.join(outputs)}{',' if len(outputs) == 1 else ''})"
    if len(parts) == 1:
        text = function_text(writer.main, inputs, [*parts[0][1], end])
    else:
        text = text_of_parts(writer, parts, inputs, end)
    head = [f"# {program.name}: {len(program.calls):,} calls", *writer.comments]
    text = "\n\n\n".join([*writer.blocks, text])
    return ProgramSource("\n".join([*head, "", text, ""]), writer.main, writer.objects)


def function_text(name: str, arguments: list[str], lines: list[str]) -> str:
    """Return the source of a function."""
    return "\n".join([f"def {name}({', '.join(arguments)}):", *(f"    {line}" for line in lines)])


def parts_of(writer: SourceWriter) -> Iterator[Part]:
    """Yield the calls in parts of at most `MAX_LINES` lines.

    A comment marks each change of the user's line, and a line drops values that are no longer needed.
    """
    calls, written, before, waiting, held = list[Call](), list[str](), "", list[Value](), 0
    for call in writer.program.calls:
        lines = list(writer.call(call))
        if written and len(written) + len(lines) >= MAX_LINES:
            yield calls, written
            calls, written, before, waiting, held = [], [], "", [], 0  # the part's own names end with it
        origin = line_text(call)
        if origin and origin != before:
            lines[0] += f"  # {origin}"
            before = origin
        waiting += call.frees
        held += sum(value.nbytes + OWN_BYTES for value in call.frees)
        if held >= KEPT_BYTES:
            lines.append(f"del {', '.join(writer.values[value] for value in waiting)}")
            waiting, held = [], 0
        calls.append(call)
        written += lines
    yield calls, written


def text_of_parts(writer: SourceWriter, parts: list[Part], inputs: list[str], end: str) -> str:
    """Return a program as several functions, and a function that calls them.

    Values that a later part needs are in the dictionary ``live``, from which the last part that needs a value removes
    it, so that it is freed when that part drops it.
    """
    program = writer.program
    outputs = [item for item in program.outputs if isinstance(item, Value)]
    needed = [{x: None for c in own for x in (*c.operands(), c.out) if x is not None} for own, _ in parts]
    needed.append(dict.fromkeys(outputs))
    last = {value: i for i, values in enumerate(needed) for value in values}
    texts, calls = [], []
    made: dict[Value, int] = dict.fromkeys(program.inputs, -1)
    for number, (own, lines) in enumerate(parts):
        results = [value for call in own for value in call.results]
        made.update(dict.fromkeys(results, number))
        taken = taking(writer, [value for value in needed[number] if made[value] < number], last, number)
        kept = [writer.values[value] for value in results if last.get(value, -1) > number]
        given = [f"live.update({', '.join(f'{name}={name}' for name in kept)})"] if kept else []
        name = writer.names.new(f"part_{number + 1}")
        texts.append(function_text(name, ["live"], [*taken, *lines, *given]))
        calls.append(f"{name}(live)")
    names = [writer.values[value] for value in program.inputs]
    start = f"live = {{{', '.join(f'{name!r}: {name}' for name in names)}}}"
    taken = taking(writer, [value for value in dict.fromkeys(outputs) if made[value] >= 0], last, len(parts))
    texts.append(function_text(writer.main, inputs, [start, *calls, *taken, end]))
    return "\n\n\n".join(texts)


def taking(writer: SourceWriter, values: list[Value], last: dict[Value, int], number: int) -> list[str]:
    """Return the lines that take values from ``live``."""
    lines = []
    for method, found in (
        ("live.pop", [writer.values[value] for value in values if last[value] == number]),
        ("live.__getitem__", [writer.values[value] for value in values if last[value] > number]),
    ):
        if found:
            lines.append(f"{', '.join(found)}, = map({method}, {tuple(found)!r})")
    return lines


_numbers = itertools.count(1)


def load(source: ProgramSource, name: str) -> Callable[..., tuple[Any, ...]]:
    """Return the function of a source, registered in `linecache` as long as the function exists."""
    file = f"<program {name} {next(_numbers)}>"
    objects = {"__name__": f"xpgrad.program of {name}", **source.objects}  # of this library, see `is_trusted`
    exec(compile(source.text, file, "exec"), objects)  # noqa: S102 - a source generated here
    run: Callable[..., tuple[Any, ...]] = objects.pop(source.name)  # else it would be a cycle
    linecache.cache[file] = len(source.text), None, source.text.splitlines(keepends=True), file
    weakref.finalize(run, linecache.cache.pop, file, None).atexit = False
    return run
