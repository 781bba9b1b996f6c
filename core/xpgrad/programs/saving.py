"""`save`: a program as JSON and arrays."""

import json
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.errors import SerializationError
from xpgrad.graph.variable import Variable
from xpgrad.programs.encoding import Encoder
from xpgrad.programs.names import name_of
from xpgrad.serializers.dictionary import on_host
from xpgrad.serializers.files import File, written
from xpgrad.transforms.trace.program import Call, Program, values_in

FORMAT, VERSION = "xpgrad program", 1
WORDS = {"variable": "output", "array": "output", "argument": "argument", "object": "is"}
"""What each kind of leaves of a result is called in a file."""


def save(program: Program, file: File, weights: bool = False) -> None:
    """Save a program of a compiled function to a file; see `Program.save`."""
    trace = program.origin
    if trace is None:
        raise SerializationError(
            "program.save: expected a program of a compiled function, f.program(*args), got one that has been changed"
        )
    recorded, backend = trace.program, trace.program.backend
    if backend is None:
        raise SerializationError("program.save: expected a program with arrays, got none")
    if trace.writes or trace.facts.sets:
        raise SerializationError(
            "program.save: it stores values in Variables or in attributes from outside, which a file does not have; "
            "compile a function that returns them"
        )
    encoder = Encoder(backend)
    used = {value for call in recorded.calls for value in call.operands()}.union(values_in(recorded.outputs))
    pairs = [(v, s) for v, s in zip(recorded.inputs, trace.sources, strict=True) if v in used]
    for value in (*(v for v, _ in pairs), *(v for call in recorded.calls for v in call.results)):
        encoder.numbers[value] = len(encoder.numbers)
    saved: dict[str, Any] = {}
    inputs: list[dict[str, Any]] = []
    names: set[str] = set()
    for i, (value, source) in enumerate(pairs):
        entry: dict[str, Any] = {"spec": encoder.spec(value.spec), "leaf": None, "weight": None}
        if source.kind == "argument":
            entry["leaf"] = source.holder
        elif source.kind in ("array", "constant"):
            holder = source.holder
            name = (holder.name if isinstance(holder, Variable) else None) or "array"
            entry["weight"] = f"{name} {i}" if name in names else name
            names.add(entry["weight"])
            if weights:
                saved[f"weight_{i}"] = on_host(holder)
        else:
            raise SerializationError(
                f"program.save: it reads a {source.kind} from outside; pass it as an array among the arguments"
            )
        inputs.append(entry)
    calls = [_call(call, encoder) for call in recorded.calls]
    statics, count = trace.statics, len(list(trace.arguments.paths()))
    arguments = trace.arguments.build([["is", statics[i]] if i in statics else ["array", i] for i in range(count)])
    leaves = [[WORDS[leaf.kind], leaf.content] for leaf in trace.results]
    described = {
        "format": FORMAT, "version": VERSION, "library": backend.name, "name": recorded.name, "inputs": inputs,
        "calls": calls, "outputs": [encoder.encode(item, "an output") for item in recorded.outputs],
        "arguments": encoder.encode(arguments, "the arguments"),
        "results": encoder.encode(trace.structure.children[0].build(leaves), "the results"),
    }  # fmt: skip
    host: Any = plugins.host
    arrays = saved | {f"array_{i}": on_host(x) for i, x in enumerate(encoder.arrays)}
    text = json.dumps(described, allow_nan=False).encode()
    arrays["program"] = host.namespace.asarray([*text], dtype=host.namespace.uint8)
    with written(file) as opened:
        host.archives().write_npz(opened, arrays, True)


def _call(call: Call, encoder: Encoder) -> dict[str, Any]:
    where = call.name if call.line is None else f"{call.name} (line {call.line[1]}, in {call.line[2]})"
    found = name_of(call.function, call.name, encoder.backend)
    if found is None or not call.pure:
        raise SerializationError(
            f"program.save: {where} is no function of the standard and no kernel of xpgrad, or draws or writes, so "
            "that a file cannot name it; leave this part outside of the compiled function"
        )
    return {
        "function": list(found), "name": call.name, "args": encoder.encode(list(call.args), where),
        "kwargs": encoder.encode(call.kwargs, where), "single": call.single,
        "results": [encoder.spec(value.spec) for value in call.results],
    }  # fmt: skip
