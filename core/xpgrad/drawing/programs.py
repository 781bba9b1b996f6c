"""Programs of `compile` as pictures, and HTML of programs and compiled functions for notebooks."""

import importlib.util
from typing import Any

from xpgrad.drawing.boxes import Arrow, Box
from xpgrad.drawing.dot import DotSource
from xpgrad.drawing.page import facts, folded, framed, preformatted, table, titled, whole
from xpgrad.drawing.picture import Picture
from xpgrad.transforms.trace.calls import Value
from xpgrad.transforms.trace.groups import within
from xpgrad.transforms.trace.names import named
from xpgrad.transforms.trace.program import Program
from xpgrad.transforms.trace.text import counted, line_text, text_of
from xpgrad.utils.quantities import bytes_text

MAX_LINES = 500
MAX_KINDS = 20
MAX_INNER = 8


def picture(program: Program) -> Picture:
    """Return a program as a picture: inputs, calls with their results, and outputs.

    A call that computes several functions together lists these. A dashed arrow leads from a call that writes to an
    array to the next call that reads this array.
    """
    names = named(program)
    boxes = [Box((names[value], repr(value.spec)), "input") for value in program.inputs]
    arrows: dict[Arrow, None] = {}
    maker = {value: i for i, value in enumerate(program.inputs)}
    writer: dict[Value, int] = {}
    for call in program.calls:
        own = len(boxes)
        inner = [each.name for each in within(call)]
        lines = [call.name, *inner[:MAX_INNER], *([f"and {len(inner) - MAX_INNER} more"] * (len(inner) > MAX_INNER))]
        lines += [f"{names[value]}: {value.spec!r}" for value in call.results]
        lines += filter(None, (line_text(call),))
        boxes.append(Box(tuple(lines), "function"))
        for value in call.operands():
            arrows[Arrow(maker[value], own)] = None
            if value in writer and writer[value] != maker[value]:
                arrows[Arrow(writer[value], own, dashed=True)] = None
        maker.update(dict.fromkeys(call.results, own))
        writer.update((value, own) for value in call.writes if isinstance(value, Value))
    for i, item in enumerate(program.outputs):
        if isinstance(item, Value):
            arrows[Arrow(maker[item], len(boxes))] = None
        boxes.append(Box((f"output {i}", *([names[item]] if isinstance(item, Value) else ["constant"])), "output"))
    return Picture(tuple(boxes), tuple(arrows), program.name)


def graphviz(program: Program) -> Any:
    """Return a program as a `graphviz.Source` if that package is installed, else its DOT text."""
    drawn = picture(program)
    return DotSource(drawn.to_dot()) if importlib.util.find_spec("graphviz") is None else drawn.to_graphviz()


def html(shown: Any) -> str:
    """Return the HTML of a program or of a compiled function for notebooks."""
    return _program_html(shown) if isinstance(shown, Program) else _compiled_html(shown)


def _program_html(program: Program) -> str:
    lines = text_of(program).splitlines()
    text = "\n".join([*lines[:MAX_LINES], *([f"and {len(lines) - MAX_LINES:,} more lines"] * (len(lines) > MAX_LINES))])
    found = {
        "calls": f"{len(program.calls):,}",
        "executor": program.executor or None,
        "results": bytes_text(program.nbytes),
        "at most at a time": bytes_text(program.peak_bytes),
    }
    drawn = picture(program).collapsed()
    return whole(
        titled(f"program {program.name}"),
        facts(found),
        folded("picture", framed(drawn.to_svg("own"), drawn.notes), opened=True),
        folded("calls", preformatted(text)),
    )


def _compiled_html(compiled: Any) -> str:
    info, rows, drawn = compiled.cache_info(), [], ""
    for kind in compiled._kinds[:MAX_KINDS]:
        program = kind.trace.program if kind.trace is not None else None
        if kind.ready is not None and kind.ready[1]._made is not None:  # asking for it would prepare it
            program = kind.ready[1]._made
        state = "without a program" if kind.eager else "recorded" if kind.ready is None else "program"
        if program is None:
            rows.append((state, "", "", "", kind.eager or ""))
            continue
        taken = ", ".join(repr(value.spec) for value in program.inputs)
        rows.append((state, taken, counted(len(program.calls)), bytes_text(program.peak_bytes), program.executor))
        drawn = drawn or _program_html(program)
    head = "kind", "inputs", "calls", "at most at a time", "executor, or why not"
    return whole(
        titled(f"compiled {getattr(compiled.function, '__qualname__', type(compiled.function).__qualname__)}"),
        facts({"calls with a program": f"{info.hits:,}", "others": f"{info.misses:,}"}),
        table(head, rows) if rows else "",
        folded("the program that was used last", drawn) if drawn else "",
    )
