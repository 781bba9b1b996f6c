"""Programs of a few calls, each made for one thing that a pass could overlook, with the inputs that show it."""

import operator

import numpy as np
from tests.core.transforms.trace.random_programs import BACKEND, XP, spec

from xpgrad.transforms.trace.program import Call, Program, Value, substituted

RNG = np.random.default_rng(0)
PLAIN, TURNED = RNG.standard_normal((37, 41)), np.asfortranarray(RNG.standard_normal((37, 41)))
ZEROS = np.array([-0.0, 0.0, 1.0])


class Writer:
    """Writes the calls of a program, given functions of arrays: `w(np.add, x, y)` returns the result's `Value`."""

    def __init__(self, *arrays):
        self.inputs = tuple(Value(spec(array)) for array in arrays)
        self.arrays = dict(zip(self.inputs, arrays, strict=True))
        self.calls = []

    def __call__(self, function, *args, name=None, **kwargs):
        opened = substituted(args, self.arrays)
        with np.errstate(all="ignore"):
            result = BACKEND.restore(function(*opened, **kwargs))
        value = Value(spec(result))
        self.arrays[value] = result
        self.calls.append(Call(name or function.__name__, function, args, kwargs, (value,)))
        return value

    def write(self, x, key, y):
        self.calls.append(Call("x[]=", operator.setitem, (x, key, y), {}, (), writes=(x,)))

    def program(self, *outputs, name="f"):
        return Program(name, self.inputs, outputs, tuple(self.calls))


def add_of_two_layouts():
    w = Writer(PLAIN, TURNED)
    x, y = w.inputs
    total = w(np.add, w(np.sin, y), w(np.sin, x))
    return w.program(*(w(XP.sum, total, axis=axis, name="sum") for axis in (None, 0, 1))), (PLAIN, TURNED)


def a_copy_without_gaps():
    wide = RNG.standard_normal((37, 82))[:, ::2][:, :40]
    w = Writer(wide)
    copy = w(np.multiply, 1.0, *w.inputs)
    return w.program(w(XP.sum, copy, name="sum"), w(XP.matmul, copy, w(XP.matrix_transpose, copy))), (wide,)


def sums_with_zeros_of_two_signs():
    w = Writer(ZEROS)
    (x,) = w.inputs
    return w.program(w(np.add, x, 0.0), w(np.add, x, -0.0), w(np.add, x, 0)), (ZEROS,)


def an_unused_zero():
    w = Writer(ZEROS)
    x = w(np.negative, *w.inputs)
    return w.program(w(np.add, x, 0.0)), (ZEROS,)


def ones_that_are_written_to():
    w = Writer(ZEROS)
    ones = w(XP.ones, (3,), dtype=np.dtype(np.float64))
    w.write(ones, 0, 5.0)
    return w.program(w(np.multiply, ones, w(np.negative, *w.inputs))), (ZEROS,)


def infinity_times_a_complex_one():
    x = np.array([complex(np.inf, 1.0), complex(-0.0, -1.0)])
    w = Writer(x)
    y = w(np.negative, *w.inputs)
    return w.program(w(np.multiply, y, 1), w(np.multiply, y, w(XP.ones, (2,), dtype=x.dtype))), (x,)


PROGRAMS = {
    make.__name__: make
    for make in (
        add_of_two_layouts, a_copy_without_gaps, sums_with_zeros_of_two_signs, an_unused_zero,
        ones_that_are_written_to, infinity_times_a_complex_one,
    )
}  # fmt: skip
