"""The smallest program that fails, as Python."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad_conformance.generated.programs.compared import Comparison
from xpgrad_conformance.generated.programs.program import GeneratedProgram, on_numpy
from xpgrad_conformance.generated.sample import Argument
from xpgrad_conformance.generated.shrinking import commented, header, lines_of, smallest
from xpgrad_conformance.subject import Subject

MAX_TRIALS = 400
"""Trials for a smaller program."""


def shrunk(program: GeneratedProgram, failing: Callable[[GeneratedProgram], bool]) -> GeneratedProgram:
    """Return a smaller program for which `failing` is true: fewer outputs and steps, shorter axes, simpler inputs."""
    steps = _fewer_outputs, _inner_outputs, _cut_steps, _fewer_steps, _shorter, _cut_steps, _simpler_inputs
    return smallest(program, steps, failing, MAX_TRIALS)


def _fewer_outputs(program: GeneratedProgram) -> Iterator[GeneratedProgram]:
    if program.order > 1:
        yield replace(program, order=1)
    if len(program.outputs) > 1:
        for output in program.outputs:
            yield replace(program, outputs=(output,)).needed


def _inner_outputs(program: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """Yield programs that end earlier."""
    for step in program.steps[:-1]:
        yield replace(program, outputs=(step.number,)).needed


def _cut_steps(program: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """Yield programs in which the value of a step is an input."""
    values = on_numpy(program, program.inputs)
    for step in reversed(program.steps):
        if step.number not in program.outputs:
            left = tuple(each for each in program.steps if each is not step)
            yield replace(program, inputs={**program.inputs, step.number: values[step.number]}, steps=left).needed


def _fewer_steps(program: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """Yield programs in which a step's operand takes the place of its value."""
    for place, step in enumerate(program.steps):
        for operand in sorted(step.operands):
            later = [each.renamed(step.number, operand) for each in program.steps[place + 1 :]]
            outputs = tuple(operand if n == step.number else n for n in program.outputs)
            if not set(outputs) & set(program.inputs):
                yield replace(program, steps=(*program.steps[:place], *later), outputs=outputs).needed


def _shorter(program: GeneratedProgram) -> Iterator[GeneratedProgram]:
    """Yield programs whose inputs have shorter axes."""
    for n in sorted({n for x in program.inputs.values() for n in x.shape}, reverse=True):
        for part in (1, 2, n // 2, n - n // 4, n - n // 16, n - 1):
            if 0 < part < n:
                yield replace(program, inputs={k: _cut(x, n, part) for k, x in program.inputs.items()})
                for k, x in program.inputs.items():
                    if n in x.shape:
                        yield replace(program, inputs={**program.inputs, k: _cut(x, n, part)})


def _cut(x: Any, n: int, part: int) -> Any:
    return x[tuple(slice(part) if length == n else slice(None) for length in x.shape)]


def _simpler_inputs(program: GeneratedProgram) -> Iterator[GeneratedProgram]:
    for k, x in program.inputs.items():
        rounded = (np.round(x), np.round(x, 1)) if x.dtype.kind in "fc" else ()
        for made in (np.ones_like(x), *rounded):
            simpler = np.asarray(made, x.dtype)
            if simpler.tobytes() != x.tobytes() and not (simpler == 1).all() <= (x == 1).all():
                yield replace(program, inputs={**program.inputs, k: simpler})


def program_text(s: Subject, program: GeneratedProgram, wrong: str) -> str:
    """Return a program as executable Python that shows the error."""
    lines = header(s.device.name)
    for n, x in program.inputs.items():
        lines += lines_of(f"v{n}", Argument(x), s.device.name)
    lines += [line for step in program.steps for line in step.text.splitlines()]
    if wrong.startswith(("the ", "raises ")):
        lines += _sweep_lines(s, program, wrong)
    else:
        lines += [f"print({', '.join(f'v{n}' for n in program.outputs)})"]
    return "\n".join([*lines, commented(wrong)])


def _sweep_lines(s: Subject, program: GeneratedProgram, wrong: str) -> list[str]:
    """Return the lines that compute gradients, with the wrong gradients if any."""
    sweeps, lines = Comparison(s, program).reference, list[str]()
    if not sweeps.cotangents:
        return [f"print({', '.join(f'v{n}' for n in program.outputs)})"]
    narrow = on_numpy(program, program.inputs)
    xs, ys = (", ".join(f"v{n}" for n in numbers) for numbers in (sweeps.xs, sweeps.numbers))
    lines += _given("g", s, sweeps.cotangents, [narrow[n].dtype.name for n in sweeps.numbers])
    gs = ", ".join(f"g{i}" for i in range(len(sweeps.numbers)))
    record = ", enable_double_backprop=True" if program.order > 1 else ""
    lines += [f"gxs = xpgrad.grad([{ys}], [{xs}], [{gs}]{record})"]
    if sweeps.directions and not wrong.startswith("the gradient"):
        lines += _given("d", s, sweeps.directions, [program.inputs[n].dtype.name for n in sweeps.moving])
        ds = ", ".join(f"d{i}" for i in range(len(sweeps.directions)))
        lines += ["gxs = [gx for gx in gxs if gx is not None and gx.requires_grad]"]
        lines += [f"gxs = xpgrad.grad(gxs, [{xs}], [{ds}])"]
    return [*lines, "print(gxs)"]


def _given(letter: str, s: Subject, made: list[tuple[Any, str]], dtypes: list[str]) -> list[str]:
    """Return the lines that make cotangents or directions."""
    lines = list[str]()
    for i, (dtype, (host, text)) in enumerate(zip(dtypes, made, strict=True)):
        text = text if host.dtype == dtype else f"{text}.astype({dtype!r})"
        lines += lines_of(f"{letter}{i}", Argument(host.astype(dtype), (), "contiguous", text), s.device.name)
    return lines
