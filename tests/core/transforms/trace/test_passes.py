"""Passes: a program gives the same bits with and without each pass, for any shared memory."""

import itertools
import random
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.core.transforms.trace import small_programs
from tests.core.transforms.trace.random_programs import BACKEND, Maker, Runs, bits, interpreted
from tests.core.transforms.trace.small_programs import Writer

import xpgrad
from xpgrad.transforms.trace import source
from xpgrad.transforms.trace.executors import executor_for
from xpgrad.transforms.trace.layouts import Layouts
from xpgrad.transforms.trace.lifetimes import peak_of
from xpgrad.transforms.trace.passes import PASSES, apply_passes
from xpgrad.transforms.trace.passes.blocks import blocks
from xpgrad.transforms.trace.passes.buffers import buffers
from xpgrad.transforms.trace.passes.recompute import recompute
from xpgrad_numpy import elementwise

PASSES_OFF = [(), *((name,) for name in PASSES), tuple(PASSES)]


def titled(off):
    return "all off" if len(off) > 1 else f"{off[0]} off" if off else "all on"


@pytest.fixture(autouse=True)
def _small_arrays_count(monkeypatch):
    monkeypatch.setattr(sys.modules[buffers.__module__], "MIN_ELEMENTS", 2)
    monkeypatch.setattr(sys.modules[blocks.__module__], "MIN_BYTES", 1)
    monkeypatch.setattr(sys.modules[recompute.__module__], "MIN_BYTES", 1)
    monkeypatch.setattr(sys.modules[recompute.__module__], "MIN_ROOM", 1)
    monkeypatch.setattr(sys.modules[recompute.__module__], "MIN_GAIN", 0.0)
    monkeypatch.setattr(elementwise, "BLOCK", 24)
    monkeypatch.setattr(source, "KEPT_BYTES", 1)


def check(seed, off=(), count=30):
    """Compare the results and writes of a random program with its sequential calls."""
    maker = Maker(random.Random(seed).randrange, 1 + seed % 3)
    program = maker.program(count)
    run = executor_for(apply_passes(program, off, exact=True), BACKEND, "python")
    runs = Runs(maker, program)
    for order in (0, 1, 2, 0):
        try:
            wanted, _, _ = runs.run(lambda *arrays: interpreted(program, arrays), order)
        except ValueError:  # a view that can be written to in one layout only
            continue
        found, results, inputs = runs.run(run, order)
        assert found == wanted, (seed, order)
        for a, b in itertools.combinations([*results, *inputs, *maker.captured], 2):
            assert not (any(a is x or b is x for x in results) and np.shares_memory(a, b)), seed


def check_small(name):
    """Compare a program of a few calls with its sequential calls."""
    with np.errstate(all="ignore"):
        program, inputs = small_programs.PROGRAMS[name]()
        run = executor_for(apply_passes(program, exact=True), BACKEND, "python")
        for _ in range(2):
            assert list(map(bits, run(*inputs))) == list(map(bits, interpreted(program, inputs))), name


@pytest.mark.parametrize("name", small_programs.PROGRAMS)
def test_small_programs_give_the_same_bits(name):
    check_small(name)


@pytest.mark.parametrize("off", PASSES_OFF, ids=titled)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(0, 80))
@example(seed=17150, count=65)  # results of one group in two layouts
@pytest.mark.exhaustive(1)
def test_random_programs_give_the_same_bits(seed, count, off):
    check(seed, off, count)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), lines=st.integers(2, 12))
def test_random_programs_in_short_functions_give_the_same_bits(seed, lines):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "MAX_LINES", lines)
        check(seed, (), 60)


def test_a_copy_of_a_new_array_is_that_array_unless_both_are_outputs():
    w = Writer(np.ones((2, 3)))
    y = w(np.sin, *w.inputs)
    z = w(BACKEND.copy, y)
    for outputs, private, count in (((z,), 0, 1), ((y, z), 0, 1), ((z, y), 1, 2)):
        program = apply_passes(w.program(*outputs).replaced(private=private), exact=True)
        assert len(program.calls) == count
        first, *others = executor_for(program, BACKEND, "python")(np.ones((2, 3)))
        first[...] = 7.0
        assert all(np.array_equal(other, np.sin(np.ones((2, 3)))) for other in others)


def gated(weights, x):
    h = x
    for w in weights:
        z = h @ w
        h = z * (1.0 / (1.0 + xpgrad.array_api.exp(-z)))
    return xpgrad.array_api.sum(h * h)


def test_cheap_results_are_not_kept_for_the_backward_half():
    rng = np.random.default_rng(0)
    weights, x = [rng.standard_normal((8, 8)) for _ in range(6)], rng.standard_normal((64, 8))
    f = xpgrad.transforms.value_and_grad(gated)
    one, other = xpgrad.compile(f, exact=True), xpgrad.compile(f, exact=True, without={"recompute"})
    wanted = f(weights, x)
    for _ in range(3):
        value, gradients = one(weights, x)
        assert bits(value) == bits(wanted[0])
        assert list(map(bits, gradients)) == list(map(bits, wanted[1]))
    peaks = [made.program(weights, x).peak_bytes for made in (one, other)]
    assert peaks[0] < 0.7 * peaks[1]


@pytest.mark.parametrize("count", [300, 301])
def test_long_sums_of_products_are_grouped_as_a_whole(count):
    def total(x):
        s = x * 0.5
        for i in range(count):
            s = s + x * (0.01 * i)
        return s

    program = xpgrad.compile(lambda x, y: (total(x), total(y)), executor="python").program(np.ones(64), np.ones(64))
    assert [call.name for call in program.calls] == ["in_blocks"] * 3


def test_expensive_calls_are_computed_once():
    def f(weights, x):
        for w in weights:
            x = xpgrad.array_api.sin(x @ w)
        return xpgrad.array_api.sum(x)

    weights = [np.ones((8, 8))] * 6
    program = xpgrad.compile(xpgrad.transforms.value_and_grad(f), exact=True).program(weights, np.ones((64, 8)))
    assert str(program).count(" sin(") == 6


def test_random_programs_contain_repeated_computations():
    def chain(seed):
        choose, w = random.Random(seed).randrange, Writer(np.ones((8, 8)), np.ones((8, 8)))
        known = list(w.inputs)
        for _ in range(40):
            function = [np.add, np.multiply, np.matmul, np.tanh][choose(4)]
            operands = [
                known[-1 - choose(min(len(known), 3 + 20 * choose(2)))] for _ in range(1 + (function is not np.tanh))
            ]
            known.append(w(function, *operands))
        return w, w.program(known[-1], known[choose(len(known))])

    changed = 0
    for seed in range(40):
        w, program = chain(seed)
        inputs = [np.random.default_rng(seed).standard_normal((8, 8)) for _ in w.inputs]
        with np.errstate(all="ignore"):
            found = recompute(program)
            changed += found is not program
            assert peak_of(found)[0] <= peak_of(program)[0]
            assert list(map(bits, interpreted(found, inputs))) == list(map(bits, interpreted(program, inputs))), seed
    assert changed >= 5


def test_symbols_of_layouts_do_not_grow_with_the_number_of_paths_to_a_value():
    def fibonacci(a, b):
        for _ in range(20):
            a, b = b, a + b
        return b

    program = xpgrad.compile(fibonacci, executor="python", without=set(PASSES)).program(
        np.ones((2, 3)), np.ones((2, 3))
    )
    layouts = Layouts(program.backend)
    for call in program.calls:
        assert layouts.elementwise(call)
        layouts.add(call)
    assert len(repr(layouts.of(program.outputs[0]))) < 100
