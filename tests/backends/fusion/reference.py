"""The statements of a fused group in NumPy: one array for each statement, of shape (rows, columns)."""

import numpy as np

from xpgrad.transforms.trace.passes.buffers import buffers
from xpgrad_fusion.fuse import fuse
from xpgrad_fusion.group import Fused

NAMES = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atanh": "arctanh",
    "atan2": "arctan2", "bitwise_invert": "invert", "pow": "power", "round": "rint",
}  # fmt: skip
ERRORS = {"erf": "erf", "erfc": "erfc"}


def evaluate(fused, *arrays):
    """Return the outputs of a group as arrays of their shapes, computed by statements."""
    found = {}
    with np.errstate(all="ignore"):
        for statement in fused.statements:
            found[statement] = value(fused, statement, [found[item] for item in statement.operands], arrays)
    shape = {"point": (fused.rows, fused.columns), "row": (fused.rows, 1), "column": (1, fused.columns), "one": (1, 1)}
    outputs = []
    for output, result in zip(fused.outputs, fused.results, strict=True):
        level = fused.levels[output]
        made = found[result] if level == "array" else np.broadcast_to(found[result], shape[level])
        outputs.append(np.array(made.reshape(output.spec.shape)))
    return tuple(outputs)


def value(fused, statement, operands, arrays):
    """Return the array of one statement."""
    op, dtype = statement.op, np.dtype(statement.dtype)
    shape = {"point": (fused.rows, fused.columns), "row": (fused.rows, 1), "column": (1, fused.columns), "one": (1, 1)}
    if op == "load":
        return np.asarray(arrays[statement.value]).reshape(shape[statement.level])
    if op == "element":
        number, place = statement.value
        return np.asarray(arrays[number]).reshape(-1)[place].reshape(1, 1)
    if op == "constant":
        return np.full((1, 1), statement.value, dtype)
    if op == "scatter":
        size, places = statement.value
        made = np.zeros(size, dtype)
        for place, operand in zip(places, operands, strict=True):
            made[place] += operand[0, 0]
        return made
    if op in ("sum", "prod", "max", "min"):
        axis = {"row": (1,), "column": (0,), "one": (0, 1)}[statement.level]
        given = {} if op in ("max", "min") else {"dtype": dtype}
        return getattr(np, op)(operands[0], axis=axis, keepdims=True, **given)
    if op == "where":
        made = np.where(*operands)
    elif op in ("cast", "copy"):
        made = operands[0].astype(dtype)
    elif op in ERRORS:
        from scipy import special

        made = getattr(special, op)(operands[0])
    else:
        made = getattr(np, NAMES.get(op, op))(*operands)
    assert made.dtype == dtype, (statement, made.dtype)
    return np.broadcast_to(made, shape[statement.level])


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
