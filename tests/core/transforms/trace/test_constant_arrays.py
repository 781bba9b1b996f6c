"""Constant arrays as inputs of a program, at any place among the arguments: each once, and by reference."""

import numpy as np
from tests.core.transforms.trace.random_programs import BACKEND, XP, bits, spec
from tests.core.transforms.trace.small_programs import Writer

from xpgrad.transforms.trace.executors import executor_for
from xpgrad.transforms.trace.program import Call, Program, Value

X = np.linspace(0.1, 1.0, 12).reshape(3, 4)


def added(x, parts, *, more):
    return x + parts[0] + parts[1]["a"] + more[1:]


def test_arrays_become_inputs_at_any_place_among_the_arguments() -> None:
    one, two, three = X + 1, X + 2, np.arange(5.0)
    x, y = Value(spec(X)), Value(spec(X))
    call = Call("added", added, (x, [one, {"a": two}]), {"more": three}, (y,))
    program = Program("f", (x,), (y, two), (call,))
    opened, arrays = program.with_constants_as_inputs()
    assert [id(array) for array in arrays] == [id(one), id(two), id(three)]
    assert [value.spec for value in opened.inputs] == [spec(X)] * 3 + [spec(three)]
    expected, found = executor_for(program, BACKEND)(X), executor_for(opened, BACKEND)(X, *arrays)
    assert list(map(bits, found)) == list(map(bits, expected))
    three += 1.0  # a later write shows in the next run
    assert bits(executor_for(opened, BACKEND)(X, *arrays)[0]) == bits(expected[0] + 1.0)
    assert found[1] is not two


def test_small_arrays_may_stay_constants_and_programs_without_arrays_are_unchanged() -> None:
    w = Writer(X)
    (x,) = w.inputs
    program = w.program(w(np.multiply, x, X), w(XP.sum, x, axis=None, name="sum"))
    opened, arrays = program.with_constants_as_inputs(X.nbytes)
    assert len(arrays) == 1
    assert arrays[0] is X
    assert program.with_constants_as_inputs(X.nbytes + 1) == (program, ())
    assert opened.with_constants_as_inputs() == (opened, ())


def test_the_function_of_a_program_is_run_by_the_executor_python() -> None:
    w = Writer(X)
    (x,) = w.inputs
    program = w.program(w(np.sin, x))
    assert bits(program.function()(X)[0]) == bits(np.sin(X))
