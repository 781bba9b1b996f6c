"""Programs with one fused group each, for tests of compiling and calling C."""

import shutil

import numpy as np
import pytest

import xpgrad
from xpgrad.transforms.trace.calls import Call, Value
from xpgrad.transforms.trace.program import Program
from xpgrad_fusion.group import Fused
from xpgrad_fusion.statements import Statement

BACKEND = xpgrad.get_device("@numpy").backend


def has_compiler():
    """Return whether a C compiler is installed."""
    return any(map(shutil.which, ("cc", "gcc", "clang")))


needs_compiler = pytest.mark.skipif(not has_compiler(), reason="no C compiler is installed")


def load(number, level="point"):
    return Statement("load", (), "float32", level, number)


def multiply_add(shape=(5, 7), constant=1.0):
    """Return the group that computes ``x * y + z + constant`` of float32 arrays."""
    x, y, z, product, total, out = (Value(BACKEND.spec(np.empty(shape, np.float32)), name) for name in "xyzpto")
    loads = tuple(map(load, range(3)))
    multiplied = Statement("multiply", loads[:2], "float32", "point")
    added = Statement("add", (multiplied, loads[2]), "float32", "point")
    number = Statement("constant", (), "float32", "one", constant)
    more = Statement("add", (added, number), "float32", "point")
    calls = (
        Call("multiply", np.multiply, (x, y), {}, (product,)),
        Call("add", np.add, (product, z), {}, (total,)),
        Call("add", np.add, (total, np.float32(constant)), {}, (out,)),
    )
    levels = dict.fromkeys((x, y, z, product, total, out), "point")
    statements = (*loads, multiplied, added, number, more)
    size = int(np.prod(shape))
    return Fused(1, size, (x, y, z), (out,), levels, statements, (more,), calls)


def sum_of_all(size, dtype="float64"):
    """Return the group that computes the sum of an array."""
    x, out = Value(BACKEND.spec(np.empty(size, dtype)), "x"), Value(BACKEND.spec(np.empty((), dtype)), "y")
    loaded = Statement("load", (), dtype, "point", 0)
    total = Statement("sum", (loaded,), dtype, "one")
    call = Call("sum", lambda array: np.asarray(np.sum(array)), (x,), {}, (out,))
    return Fused(1, size, (x,), (out,), {x: "point", out: "one"}, (loaded, total), (total,), (call,))


def program_of(*groups):
    """Return the program that calls groups in sequence, each with separate inputs."""
    inputs = tuple(value for group in groups for value in group.inputs)
    outputs = tuple(value for group in groups for value in group.outputs)
    return Program("f", inputs, outputs, tuple(group.as_call() for group in groups))


def arrays_for(group, seed=0):
    """Return random arrays for the inputs of a group."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(value.spec.shape).astype(value.spec.dtype) for value in group.inputs]
