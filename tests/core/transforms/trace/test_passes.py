"""Passes: a program gives the same bits with and without each, whatever shares memory with what."""

import itertools
import random
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.transforms.trace import small_programs
from tests.core.transforms.trace.random_programs import BACKEND, Maker, Runs, bits, interpreted

import xpgrad
from xpgrad.transforms.trace import source
from xpgrad.transforms.trace.executors import executor_for
from xpgrad.transforms.trace.layouts import Layouts
from xpgrad.transforms.trace.passes import PASSES, apply_passes
from xpgrad.transforms.trace.passes.blocks import blocks
from xpgrad.transforms.trace.passes.buffers import buffers
from xpgrad_numpy import elementwise

PASSES_OFF = [(), *((name,) for name in PASSES), tuple(PASSES)]


def titled(off):
    return "all off" if len(off) > 1 else f"{off[0]} off" if off else "all on"


@pytest.fixture(autouse=True)
def _small_arrays_count(monkeypatch):
    monkeypatch.setattr(sys.modules[buffers.__module__], "MIN_ELEMENTS", 2)
    monkeypatch.setattr(sys.modules[blocks.__module__], "MIN_BYTES", 1)
    monkeypatch.setattr(elementwise, "BLOCK", 24)
    monkeypatch.setattr(source, "KEPT_BYTES", 1)


def check(seed, off=(), count=30):
    """Compare all that a random program gives and writes with what its calls give one after the other."""
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
    """Compare what a program of a few calls gives with what its calls give one after the other."""
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
def test_random_programs_give_the_same_bits(seed, count, off):
    check(seed, off, count)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32), lines=st.integers(2, 12))
def test_random_programs_in_short_functions_give_the_same_bits(seed, lines):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "MAX_LINES", lines)
        check(seed, (), 60)


def test_symbols_of_layouts_do_not_grow_with_the_number_of_paths_to_a_value():
    def fibonacci(a, b):
        for _ in range(20):
            a, b = b, a + b
        return b

    program = xpgrad.compile(fibonacci, without=set(PASSES)).program(np.ones((2, 3)), np.ones((2, 3)))
    layouts = Layouts(program.backend)
    for call in program.calls:
        assert layouts.elementwise(call)
        layouts.add(call)
    assert len(repr(layouts.of(program.outputs[0]))) < 100
