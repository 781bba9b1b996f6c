"""Groups by their statements in NumPy: one array for each, of shape (rows, columns); and checks of results."""

import itertools
import random

import numpy as np
from tests.core.transforms.trace.random_programs import Maker, Runs, interpreted

from xpgrad.transforms.trace.executors.python import python_executor
from xpgrad.transforms.trace.passes import apply_passes
from xpgrad.transforms.trace.passes.buffers import buffers
from xpgrad_fusion.fuse import fuse
from xpgrad_fusion.group import Fused
from xpgrad_fusion.statements import REDUCTIONS

NAMES = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh",
    "atan2": "arctan2", "bitwise_invert": "invert", "pow": "power",
}  # fmt: skip
SPACES = {"point": (True, True), "row": (True, False), "column": (False, True), "one": (False, False)}
"""Which axes, of the rows and of the columns, the array of a statement has."""


def function(op):
    """Return NumPy's or SciPy's function of this name in the standard."""
    if op in ("erf", "erfc"):
        from scipy import special

        return getattr(special, op)
    return getattr(np, NAMES.get(op, op))


def evaluate(fused, *arrays):
    """Return the outputs of a group as arrays of their shapes, computed by statements."""
    found = {}
    with np.errstate(all="ignore"):
        for statement in fused.statements:
            found[statement] = value(fused, statement, [found[item] for item in statement.operands], arrays)
    outputs = []
    for output, result in zip(fused.outputs, fused.results, strict=True):
        level = fused.levels[output]
        made = found[result] if level == "array" else np.broadcast_to(found[result], space(fused, level))
        outputs.append(np.array(made.reshape(output.spec.shape)))
    return tuple(outputs)


def space(fused, level):
    """Return the shape of the arrays of statements at a level."""
    return tuple(n if whole else 1 for n, whole in zip((fused.rows, fused.columns), SPACES[level], strict=True))


def value(fused, statement, operands, arrays):
    """Return the array of one statement."""
    op, dtype = statement.op, np.dtype(statement.dtype)
    if op == "load":
        return np.asarray(arrays[statement.value]).reshape(space(fused, statement.level))
    if op == "element":
        number, place = statement.value
        return np.asarray(arrays[number]).reshape(-1)[place].reshape(1, 1)
    if op == "constant":
        return np.full((1, 1), statement.value, dtype)
    if op == "scatter":
        size, places = statement.value
        made = np.zeros(size, dtype)
        np.add.at(made, list(places), [operand[0, 0] for operand in operands])
        return made
    if op in REDUCTIONS:
        axis = {"row": (1,), "column": (0,), "one": (0, 1)}[statement.level]
        wide = operands[0].astype("float64" if dtype == "float32" else dtype)
        return function(op)(wide, axis=axis, keepdims=True).astype(dtype)
    made = operands[0].astype(dtype) if op in ("cast", "copy") else function(op)(*operands)
    assert made.dtype == dtype, (statement, made.dtype)
    return np.broadcast_to(made, space(fused, statement.level))


def fused_program(program, accepts=lambda statement: True, worth=lambda fused: True):
    """Return a program whose groups are evaluated by their statements."""
    found = fuse(program, accepts, worth)
    calls = [
        call.replaced(function=Reference(call.function)) if isinstance(call.function, Fused) else call
        for call in found.calls
    ]
    return buffers(found.replaced(calls=tuple(calls)))


class Reference:
    """A group as a function of arrays, computed from its statements."""

    def __init__(self, fused):
        self.fused = fused

    def __call__(self, *arrays):
        return evaluate(self.fused, *arrays)


def check_random(seed, count, orders=(0, 1, 2)):
    """Compare a random program in groups with its calls: results, writes, random numbers, and ownership of memory."""
    maker = Maker(random.Random(seed).randrange, 1 + seed % 3)
    program = maker.program(count)
    runs, kept = Runs(maker, program), []

    def keeping(function):
        def run(*inputs):
            results = function(*inputs)
            kept.append([np.array(array) for array in (*results, *inputs, *maker.captured)])
            return results

        return run

    run = python_executor(fused_program(apply_passes(program)))
    for order in orders:
        try:
            runs.run(keeping(lambda *arrays: interpreted(program, arrays)), order)
        except ValueError:  # a view that can be written to in one layout only
            continue
        _, results, inputs = runs.run(keeping(run), order)
        for wanted, found in zip(*kept[-2:], strict=True):
            near(found, wanted)
        apart(results, [*inputs, *maker.captured])


def near(found, wanted):
    """Raise AssertionError unless arrays of a random program, in which numbers grow and cancel, are nearly equal."""
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    with np.errstate(all="ignore"):
        size = np.max(np.abs(wanted), initial=0.0, where=np.isfinite(wanted))
        assert np.allclose(found, wanted, rtol=0, atol=1e-3 * size, equal_nan=True), (found, wanted)


def apart(results, inputs):
    """Raise AssertionError if results share memory with each other, or with inputs."""
    for a, b in itertools.combinations([*results, *inputs], 2):
        assert not (any(a is y for y in results) and np.shares_memory(a, b)), "results share memory"
