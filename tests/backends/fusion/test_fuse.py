"""Groups of calls: their statements compute the same results, and no group crosses a write."""

import functools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.backends.fusion.reference import check_random, fused_program
from tests.core.transforms.trace.random_programs import BACKEND

import xpgrad
import xpgrad.functions as F
from xpgrad.backend.kernels import kernel_name
from xpgrad.transforms import value_and_grad
from xpgrad.transforms.trace.executors.python import python_executor
from xpgrad.transforms.trace.program import Call, Program, Value
from xpgrad_fusion.fuse import fuse
from xpgrad_fusion.group import Fused

xp = xpgrad.array_api


def groups(program):
    fused = fuse(program, lambda statement: True, lambda group: True)
    return [call.function for call in fused.calls if isinstance(call.function, Fused)], len(fused.calls)


def program_of(f, *args):
    return xpgrad.compile(value_and_grad(f), executor="python").program(*args)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(2, 40), order=st.integers(0, 2))
def test_random_programs_by_statements_agree_with_calls(seed, count, order):
    check_random(seed, count, [order])


def formula(x):
    return xp.sum(xp.tanh(x * 1.5 + 0.25) * xp.exp(-x * x) + F.sigmoid(x))


def chain(x):
    for _ in range(300):
        x = x * 1.01 + 0.5
    return xp.sum(x)


def elements(x):
    return sum((x[7 * i] ** 2 for i in range(100)), start=0.0)


def rows(x):
    y = F.softmax(F.layer_normalization(x, np.ones(x.shape[1]), np.zeros(x.shape[1])), axis=1)
    return xp.sum(y * x)


def by_hand(x):
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    total = xp.expand_dims(xp.log(xp.sum(e, axis=1)) * xp.mean(x, axis=1), axis=1)
    return xp.sum((x - total) / (1 + xp.var(x, axis=1, keepdims=True)))


def masked(x):
    inside = (x.array > 0) & (x.array < 1)  # by operators of arrays
    return xp.sum(xp.where(inside, xp.sin(x), x))


def columns(x):
    return xp.sum(xp.exp(xp.mean(x, axis=0)))


@pytest.mark.parametrize(("f", "shape", "expected"), [
    (formula, (5000,), (1, 5000)), (formula, (50, 100), (1, 5000)), (chain, (64,), (1, 64)),
    (elements, (1000,), (1, 1)), (rows, (40, 100), (40, 100)), (by_hand, (40, 100), (40, 100)),
    (masked, (5000,), (1, 5000)),
])  # fmt: skip
def test_value_and_gradient_are_one_group(f, shape, expected):
    x = np.random.default_rng(0).standard_normal(shape)
    found, calls = groups(program_of(f, x))
    assert calls == 1
    assert [(group.rows, group.columns) for group in found] == [expected]


def test_statements_after_a_row_sum_start_a_group_unless_on_columns():
    found, _ = groups(xpgrad.compile(columns, executor="python").program(np.ones((40, 100))))
    first, second = found
    assert (first.rows, first.columns) == (40, 100)
    assert [first.levels[value] for value in first.outputs] == ["column"]
    assert [item.op for item in first.statements][-1] == "exp"
    assert (second.rows, second.columns) == (1, 100)


def test_a_row_without_columns_meets_no_column():
    def f(x, w):
        return xp.sum(xp.sum(x, axis=1) * w) + xp.sum(x * w)

    x, w = np.arange(9.0).reshape(3, 3), np.array([1.0, 10.0, 100.0])
    program = xpgrad.compile(f, executor="python").program(x, w)
    assert python_executor(fused_program(program))(x, w)[0] == f(x, w).array


def test_no_group_crosses_a_write():
    seen = np.zeros(4)
    x = Value(BACKEND.spec(seen), "x")
    before, twice, after = (Value(x.spec) for _ in range(3))
    calls = (
        Call("add", np.add, (x, seen), {}, (before,)),
        Call("multiply", np.multiply, (x, 2.0), {}, (twice,)),
        Call("x[]=", operator.setitem, (seen, ..., twice), {}, (), writes=(seen,)),
        Call("add", np.add, (x, seen), {}, (after,)),
    )
    run = python_executor(fused_program(Program("f", (x,), (before, after), calls)))
    assert [array.tolist() for array in run(np.full(4, 3.0))] == [[3.0] * 4, [9.0] * 4]


def test_numbers_that_somebody_may_change_are_read_at_each_run():
    scale = np.array(2.0)
    x = BACKEND.spec(np.ones(3))
    value, made, more = Value(x, "x"), Value(x), Value(x)
    calls = (Call("multiply", np.multiply, (value, scale), {}, (made,)), Call("exp", np.exp, (made,), {}, (more,)))
    run = python_executor(fused_program(Program("f", (value,), (more,), calls)))
    assert np.allclose(run(np.ones(3))[0], np.exp(2.0))
    scale[...] = 3.0
    assert np.allclose(run(np.ones(3))[0], np.exp(3.0))


def test_sum_to_one_element_continues_as_a_number():
    def f(x):
        return xp.sum(x[0] * x[0] + x[0])

    x = np.array([3.0])
    program = program_of(f, x)
    found, _ = groups(program)
    assert not any(item.op == "scatter" for group in found for item in group.statements)
    value, gradient = python_executor(fused_program(program))(x)
    assert (float(value), gradient.tolist()) == (12.0, [7.0])


@pytest.mark.parametrize("error", [RuntimeError, ZeroDivisionError, AssertionError])
def test_a_function_of_the_user_that_fails_on_symbols_is_left_to_the_library(error):
    def doubled(xp, x, /):
        if not isinstance(x, np.ndarray):
            raise error("this is no array")
        return x * 2.0

    xpgrad.elementwise(x=lambda xp, gy, x: gy * 2.0)(doubled)
    x = Value(BACKEND.spec(np.ones(3)), "x")
    made, more = Value(x.spec), Value(x.spec)
    kernel = functools.partial(doubled, BACKEND.xp)
    calls = (Call(kernel_name(doubled, None), kernel, (x,), {}, (made,)), Call("exp", np.exp, (made,), {}, (more,)))
    program = fused_program(Program("f", (x,), (more,), calls))
    assert [call.name for call in program.calls] == [calls[0].name, "fused"]
    assert np.allclose(python_executor(program)(np.ones(3))[0], np.exp(2.0))
