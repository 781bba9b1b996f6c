"""Random programs of the conformance suite over given arrays, for any namespace, with third-party code between."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import xpgrad.functions as F
from xpgrad.types import Namespace
from xpgrad_conformance.generated.programs.drawn import drawn
from xpgrad_conformance.generated.programs.program import GeneratedProgram, Step, on_numpy, unused

Made = Callable[[Any], Any]
"""``made(values)`` returns an array of the library, which the program captures."""
PLACES = 1, 0, 1
"""Indices along an axis of two elements or more, a captured array."""
FOREIGN = frozenset({"negative_steps", "index_assignment", "complex128", "fft.rfft", "eye"})
"""Facts, dtypes and functions that a program for other libraries does without."""
POSITIONS = re.compile(r"v\d+ = xp\.arg\w+\(v(\d+), axis=(-?\d+)")
GATHERED = re.compile(r"xp\.take\(v(\d+), v(\d+), axis=(-?\d+)\)|v(\d+)\[[^\]]*\bv\d+[^\]]*\]")
"""Steps whose values are positions along an axis, and steps that gather elements at positions."""


Changed = Callable[[int, Any, Any], Any]
"""``changed(kind, value, other)`` returns the replacement of a value."""
CHANGES: tuple[Callable[[Any, Any, Made], Any], ...] = (
    lambda a, b, made: F.softmax(a, axis=-1) + F.logsumexp(a, axis=-1)[..., None] if a.ndim else a,
    lambda a, b, made: F.elu(a) - F.softplus(a),
    lambda a, b, made: a * made(np.cos(np.arange(1.0, 1.0 + a.size)).reshape(a.shape)),
    lambda a, b, made: a + a * made(0.01),
)
"""Functions that only xpgrad supports, and captured arrays."""


class Program:
    """A program of the conformance suite over given floating-point arrays, its leaves.

    Parameters
    ----------
    rng : numpy.random.Generator
    shapes : sequence of shapes
        Of the leaves.
    most : int
        Maximum number of steps.
    changes : int
        Maximum number of changes.
    without : set of str
        Facts, dtypes and functions that the program does without.
    dtype : str
    """

    def __init__(
        self,
        rng: np.random.Generator,
        shapes: Sequence[tuple[int, ...]],
        *,
        most: int = 8,
        changes: int = 2,
        without: frozenset[str] = frozenset(),
        dtype: str = "float64",
    ) -> None:
        missing = without | {"data_dependent_shapes"}
        hosts = dict[int, Any](enumerate(rng.uniform(-2, 2, shape).astype(dtype) for shape in shapes))
        captured = {len(shapes): np.asarray(PLACES)}
        outputs, floats = list[int](), list[int]()
        while not outputs:
            program = drawn(rng, dtype, lambda *facts: not missing.intersection(facts), hosts | captured, (2, most + 2))
            values = on_numpy(program, hosts | captured)
            floats = [n for n, x in values.items() if x.dtype.kind == "f"]
            outputs = [n for n in unused(program) if n in floats][-2:] if _stays_inside(program, values) else []
        made = replace(program, outputs=tuple(outputs)).needed
        self.captured = {n: x for n, x in captured.items() if n in made.inputs}
        places = set(rng.permutation(len(made.steps))[:changes].tolist())
        steps = list[Step]()
        for place, step in enumerate(made.steps):
            used = sorted(step.operands.intersection(floats))
            if used and place in places:
                earlier = [n for n in (*range(len(shapes)), *(each.number for each in steps)) if n in floats]
                value, other = int(rng.choice(used)), int(rng.choice(earlier))
                steps.append(Step(value, f"v{value} = changed({rng.integers(1000)}, v{value}, v{other})"))
            steps.append(step)
        self.made = replace(made, steps=tuple(steps))

    def __repr__(self) -> str:
        steps = "; ".join(step.text for step in self.made.steps)
        return f"<{type(self).__name__} {steps}; returns {self.made.outputs}>"

    def run(self, xp: Namespace, leaves: Sequence[Any], made: Made, changed: Changed | None = None) -> list[Any]:
        """Return the outputs, the last one first; by default, values are not changed."""
        inputs = {**dict(enumerate(leaves)), **{n: made(x) for n, x in self.captured.items()}}
        values = self.made.run(xp, inputs, changed=changed or (lambda kind, value, other: value))
        return [values[n] for n in reversed(self.made.outputs)]

    def loss(self, xp: Namespace, leaves: Sequence[Any], made: Made, changed: Changed | None = None) -> Any:
        """Return one number that depends on the outputs, as a 0-d array."""
        ys = self.run(xp, leaves, made, changed)
        return sum((xp.sum(xp.sin(y * (i + 1))) for i, y in enumerate(ys[1:], 1)), start=xp.sum(ys[0] * ys[0] * 0.5))


def _stays_inside(program: GeneratedProgram, values: dict[int, Any]) -> bool:
    """Return whether no index that a program computes can be outside of its axis, whatever the leaves contain."""
    lengths = dict[int, int]()
    for step in program.steps:
        if made := POSITIONS.match(step.text):
            lengths[step.number] = values[int(made[1])].shape[int(made[2])]
        for found in GATHERED.finditer(step.text):
            shape = values[int(found[1] or found[4])].shape
            least = shape[int(found[3])] if found[1] else min(shape)
            computed = [n for n in step.operands - set(program.inputs) if values[n].dtype.kind == "i"]
            if any(lengths.get(n, least + 1) > least for n in computed):
                return False
    return True


def ours(made: Made) -> Changed:
    """Return the changes by `CHANGES`."""
    return lambda kind, value, other: CHANGES[kind % len(CHANGES)](value, other, made)
