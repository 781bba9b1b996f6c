"""Generated whole programs: steps of Python over a namespace, and their inputs."""

import re
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from xpgrad.types import Namespace
from xpgrad_conformance.oracle import host as numpy_namespace

VALUE = re.compile(r"\bv(\d+)\b")
FUNCTION = re.compile(r"\bxp\.([a-z_0-9]+(?:\.[a-z_0-9]+)?)\(")


class Step(NamedTuple):
    """One step: the number of the value that it makes, and the lines of Python that make it.

    The lines refer to ``xp`` and to earlier values, ``v0``, ``v1``; the last line, or all, assign to ``v<number>``.
    """

    number: int
    text: str

    @property
    def operands(self) -> set[int]:
        """The numbers of the values that it uses."""
        return {int(each) for each in VALUE.findall(self.text)} - {self.number}

    @property
    def functions(self) -> set[str]:
        """The names of the functions of the namespace that it calls."""
        return set(FUNCTION.findall(self.text))

    def renamed(self, old: int, new: int) -> "Step":
        """Return the step with one value in place of another."""
        return self._replace(text=re.sub(rf"\bv{old}\b", f"v{new}", self.text))


@dataclass(frozen=True, eq=False)
class GeneratedProgram:
    """A program over a namespace.

    Attributes
    ----------
    inputs : dict from number to host array
    steps : tuple of Step
    outputs : tuple of int
        The numbers of the values to compare, and to differentiate if possible.
    order : int
        1: gradients, computed by an unrecorded sweep; 2: also second derivatives.
    """

    inputs: dict[int, Any]
    steps: tuple[Step, ...] = ()
    outputs: tuple[int, ...] = ()
    order: int = 2

    def run(self, xp: Namespace, inputs: dict[int, Any], **others: Any) -> dict[int, Any]:
        """Return all values by number, computed over a namespace from its arrays; steps may use `others` by name."""
        names = {"xp": xp, **others, **{f"v{number}": x for number, x in inputs.items()}}
        for step in self.steps:
            exec(compiled(step.text), names)
        return {number: names[f"v{number}"] for number in (*inputs, *(step.number for step in self.steps))}

    @property
    def needed(self) -> "GeneratedProgram":
        """The program without the steps and inputs that no output needs."""
        wanted, steps = set(self.outputs), list[Step]()
        for step in reversed(self.steps):
            if step.number in wanted:
                steps.insert(0, step)
                wanted |= step.operands
        return replace(self, inputs={n: x for n, x in self.inputs.items() if n in wanted}, steps=tuple(steps))


_code: dict[str, CodeType] = {}


def compiled(text: str) -> CodeType:
    """Return the code of lines of Python; the code of common lines is cached."""
    found = _code.get(text)
    if found is None:
        if len(_code) > 1000:
            _code.clear()
        found = _code[text] = compile(text, "<program>", "exec")
    return found


def on_numpy(program: GeneratedProgram, inputs: dict[int, Any]) -> dict[int, Any]:
    """Return all values of a program over NumPy's arrays."""
    with np.errstate(all="ignore"):
        return {n: np.asarray(v) for n, v in program.run(numpy_namespace, inputs).items()}


def widened(inputs: dict[int, Any]) -> dict[int, Any]:
    """Return inputs in float64 and complex128; integers and booleans unchanged."""
    return {n: np.asarray(x, wide_dtype(x)) for n, x in inputs.items()}


def wide_dtype(x: Any) -> Any:
    """Return the widest dtype of the kind of a host array, if it is floating-point."""
    return {"f": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype)


def unused(program: GeneratedProgram) -> tuple[int, ...]:
    """Return the numbers of the values that no step uses."""
    used = {number for step in program.steps for number in step.operands}
    return tuple(step.number for step in program.steps if step.number not in used)
