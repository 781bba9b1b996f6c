"""Programs at random: inputs of several shapes and dtypes, and steps whose values are tame on the host."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad_conformance.generated.programs.program import GeneratedProgram, Step, on_numpy, unused, widened
from xpgrad_conformance.generated.programs.steps import GAP, MAKERS, Values

LENGTHS = 2, 3, 4
"""Lengths of axes: few, since some libraries compile for each shape."""
LONG = 33, 257, 1025, 4097, 65537
LARGEST = 64.0
"""Values of a program are at most that large."""
FACTS = {
    r"::-1": "negative_steps",
    r"xp\.fft\.": "complex128",
    r"xp\.unique_": "data_dependent_shapes",
    r"\[v\d+ >": "data_dependent_shapes",
    r"\[v\d+\]": "index_arrays",
    r"\] = ": "index_assignment",
}
"""Facts that parts of a step need, in addition to the functions that it calls."""
Has = Callable[..., bool]


def drawn(
    rng: np.random.Generator,
    dtype: str,
    has: Has,
    inputs: dict[int, Any] | None = None,
    count: tuple[int, int] = (4, 15),
) -> GeneratedProgram:
    """Return a random program.

    Parameters
    ----------
    rng : numpy.random.Generator
    dtype : str
        Dtype of most inputs: float32 or float64.
    has : callable
        ``has(*facts)`` returns whether the backend has these facts, dtypes and functions.
    inputs : dict from number to host array, optional
        By default, several arrays of random shapes and dtypes.
    count : tuple of int
        Minimum and maximum number of steps.
    """
    program = GeneratedProgram(_inputs(rng, dtype, has) if inputs is None else inputs)
    values = Values(rng)
    narrow = dict(program.inputs)
    values.wide.update(widened(program.inputs))
    weights = np.asarray([maker.weight for maker in MAKERS], float)
    steps, wanted = list[Step](), int(rng.integers(count[0], count[1] + 1))
    for _ in range(4 * wanted):
        text = MAKERS[int(rng.choice(len(MAKERS), p=weights / weights.sum()))].make(values)
        if text is None:
            continue
        step = step_of(text, len(narrow))
        if not allowed(step, has):
            continue
        made = _made(step, narrow, values.wide)
        if made is not None and has(made[0].dtype.name):
            narrow[step.number], values.wide[step.number] = made
            steps.append(step)
        if len(steps) == wanted:
            break
    program = GeneratedProgram(program.inputs, tuple(steps))
    return GeneratedProgram(program.inputs, program.steps, unused(program), int(rng.integers(1, 3))).needed


def step_of(text: str, number: int) -> Step:
    """Return a step from the text of a maker, in which OUT is its value, or which is an expression."""
    return Step(number, text.replace("OUT", f"v{number}") if "OUT" in text else f"v{number} = {text}")


def allowed(step: Step, has: Has) -> bool:
    """Return whether the backend has the functions that a step needs."""
    facts = [fact for pattern, fact in FACTS.items() if re.search(pattern, step.text)]
    return has(*facts, *step.functions)


def _made(step: Step, narrow: dict[int, Any], wide: dict[int, Any]) -> tuple[Any, Any] | None:
    """Return the value of a step in the dtypes of the inputs and in the widest; None if it is not tame."""
    try:
        own = on_numpy(GeneratedProgram({}, (step,)), narrow)[step.number]
        wider = on_numpy(GeneratedProgram({}, (step,)), wide)[step.number]
    except Exception:  # shapes that do not fit, empty arrays that have no largest element
        return None
    if own.dtype.kind not in "fcib" or wider.dtype.kind != own.dtype.kind or own.shape != wider.shape or own.ndim > 5:
        return None
    if own.dtype.kind in "fc":
        size = np.abs(wider)
        if not np.all(np.isfinite(wider)) or np.any(size > LARGEST):
            return None
        if np.any(np.abs(own - wider) > GAP / 16 * (1 + size)):
            return None
    elif not np.array_equal(own, wider) or np.any(np.abs(wider.astype(float)) > 1000):
        return None
    return own, wider


def _inputs(rng: np.random.Generator, dtype: str, has: Has) -> dict[int, Any]:
    a, b = (int(n) for n in rng.choice(LENGTHS, 2))
    c = int(rng.choice(LONG)) if rng.integers(12) == 0 else int(rng.choice(LENGTHS))
    if rng.integers(30) == 0 and has("empty_arrays"):
        a = 0
    shapes: list[tuple[int, ...]] = [(a, b), (b, c), (b,), (a, b, 2), (), (c,), (1, b), (2, 1, b, a)]
    found = [_floats(rng, shapes[int(i)], dtype) for i in rng.permutation(len(shapes))[: int(rng.integers(2, 5))]]
    other = "float64" if dtype == "float32" else "float32"
    if rng.integers(6) == 0 and has(other):
        found.append(_floats(rng, shapes[int(rng.integers(len(shapes)))], other))
    kind = "complex64" if dtype == "float32" else "complex128"
    if rng.integers(3) == 0 and has(kind):
        shape = shapes[int(rng.integers(3))]
        found.append((_floats(rng, shape, dtype) + 1j * _floats(rng, shape, dtype)).astype(kind))
    if rng.integers(3):
        found.append(rng.integers(0, 2, int(rng.choice([3, 4, 17]))).astype("int64" if has("int64") else "int32"))
    if rng.integers(4) == 0:
        found.append(rng.integers(-4, 5, (a, b)).astype("int32"))
    if rng.integers(3) == 0:
        found.append(rng.integers(0, 2, shapes[int(rng.integers(3))]) == 1)
    return dict(enumerate(found))


def _floats(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    return np.asarray(np.round(rng.uniform(-2, 2, shape), 2), dtype)
