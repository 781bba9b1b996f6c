"""Faults planted in groups and in the executors that compute them, one at a time: the checks of results find each."""

import functools
import operator
import re

import numpy as np
import pytest
from tests.backends.c_executor import probes, table
from tests.backends.c_executor.groups_to_compile import has_compiler, multiply_add, needs_compiler
from tests.backends.fusion import test_fuse
from tests.backends.fusion.reference import check_random, fused_program
from tests.core.transforms.trace.executors.near import assert_near
from tests.core.transforms.trace.random_programs import BACKEND, interpreted

from xpgrad.backend.threads import run_all
from xpgrad.transforms.trace.aliases import Aliases
from xpgrad.transforms.trace.executors.python import python_executor
from xpgrad.transforms.trace.passes import PASSES, equal_calls
from xpgrad.transforms.trace.program import Call, Program, Value
from xpgrad_c import functions, generator, groups, library, reductions
from xpgrad_c.compiler import Compiler
from xpgrad_c.executor import wait
from xpgrad_c.groups import CompiledGroups
from xpgrad_fusion.fuse import FusedGrouping
from xpgrad_fusion.space import Space

pytestmark = pytest.mark.exhaustive(1)

XP = BACKEND.namespace


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    probes.cut_chunks(monkeypatch.setattr)


@pytest.fixture(autouse=True)
def _filled(monkeypatch):
    """Fill new arrays with bytes of 0xFF, since in freed memory the right results of an earlier run could be left."""

    def filled(self, spec):
        array = np.empty(spec.shape, spec.dtype)
        array.reshape(-1).view(np.uint8).fill(0xFF)
        return array

    monkeypatch.setattr(type(BACKEND), "empty", filled)
    monkeypatch.setattr(type(BACKEND.programs), "allocator", lambda self, spec: functools.partial(filled, self, spec))


# What finds faults


def by_c(*names):
    for name in names:
        probes.check_c(name)


def by_statements(name):
    """Compare the statements of a probe with its calls."""
    program, arrays = probes.program_of(name)
    for y, wanted in zip(python_executor(fused_program(program))(*arrays), interpreted(program, arrays), strict=True):
        assert_near(y, wanted)


def by_random_programs():
    test_fuse.test_no_group_crosses_a_write()
    for seed in range(60):
        check_random(seed, 30)


def by_a_write_to_a_view():
    """Write to a view that a group could also compute."""
    x = Value(BACKEND.spec(np.empty((1, 4))), "x")
    twice, view, more = Value(x.spec), Value(BACKEND.spec(np.empty(4))), Value(x.spec)
    calls = (
        Call("multiply", np.multiply, (x, 2.0), {}, (twice,)),
        Call("reshape", np.reshape, (twice, (4,)), {}, (view,)),
        Call("x[]=", operator.setitem, (view, 0, 5.0), {}, (), writes=(view,)),
        Call("negative", np.negative, (twice,), {}, (more,)),
    )
    (y,) = python_executor(fused_program(Program("f", (x,), (more,), calls)))(np.arange(4.0).reshape(1, 4))
    assert_near(y, np.array([[-5.0, -2.0, -4.0, -6.0]]))


def by_two_groups():
    """Compile two groups, one after the other."""
    for group in (multiply_add(), multiply_add(constant=2.0)):
        made = CompiledGroups(BACKEND)
        call = made(group, table.refuse)
        made.start()
        assert wait(60)
        table.compare_group(group, [np.ones((5, 7), np.float32)] * 3, call.current)


# Faults


def last_left_out(task, count, step=None):
    run_all(task, max(1, count - 1), step)


LEVEL, ADD, COMBINED = Space.level, FusedGrouping._add, reductions.combined


def swapped(self, shape):
    """Take a number for each row for one for each column, and the other way round, where both fit."""
    found = LEVEL(self, shape)
    rows, columns = self.counts()
    return {"row": "column", "column": "row"}.get(found, found) if rows == columns else found


def crossing(self, call):
    if not call.writes:
        ADD(self, call)
    elif self._open is not None and any(x in self._later or x in self._open.made for x in call.operands()):
        self._after.append(call)
    else:
        self.calls.append(call)


def merging_draws(program):
    return equal_calls(program.replaced(calls=tuple(call.replaced(draws=False) for call in program.calls)))


def rewritten(pattern, text):
    """Return a generator that puts a text in the place of another."""

    def generate(fused, name, **options):
        source = generator.generate(fused, name, **options)
        changed, number = re.subn(pattern, text, source.text)
        assert number, f"there is no {pattern} in the text of groups any more"
        return generator.GroupSource(
            source.name, changed, source.chunks, ends=source.ends, scratch=source.scratch, partials=source.partials
        )

    return generate


def without_nan(op, dtype, a, b):
    return f"({a} {'>' if op == 'max' else '<'} {b}) ? {a} : {b}" if op in ("max", "min") else COMBINED(op, dtype, a, b)


TAIL = rewritten(r"stop - start < (\d+) \? stop - start : \1", r"stop - start < \1 ? 0 : \1")
ROW = rewritten(r"row < stop; row\+\+", r"row < stop - (stop % 8 != 0); row++")
NEGATIVE = functions.CFunction("0 - {0}", "-{0}")

FAULTS = {
    "numbers of rows are numbers of columns": (Space, "level", swapped, by_statements, "levels"),
    "a group crosses a write": (FusedGrouping, "_add", crossing, by_random_programs),
    "a view of what is written to is in a group": (Aliases, "is_written", lambda *_: False, by_a_write_to_a_view),
    "a draw is merged": (PASSES, "equal_calls", merging_draws, by_random_programs),
}
FAULTS_OF_C = {
    "the last chunk is left out": (library, "run_all", last_left_out, by_c, "long"),
    "the end of the columns is left out": (groups, "generate", TAIL, by_c, "long"),
    "the last row is left out": (groups, "generate", ROW, by_c, "rows"),
    "NaN is lost in a maximum": (reductions, "combined", without_nan, by_c, "extremes"),
    "the sign of zero is lost": (functions.ROWS, "negative", NEGATIVE, by_c, "zeros"),
    "another group is loaded": (Compiler, "key", lambda self, text: "0" * 64, by_two_groups),
}


def test_no_difference_is_found_without_a_fault(folder):
    rows = [*FAULTS.values(), *(FAULTS_OF_C.values() if has_compiler() else ())]
    for check, names in {(check, tuple(names)) for _, _, _, check, *names in rows}:
        check(*names)


@pytest.mark.parametrize("title", [*FAULTS, *(pytest.param(title, marks=needs_compiler) for title in FAULTS_OF_C)])
def test_a_planted_fault_is_found(title, folder, monkeypatch):
    monkeypatch.setenv("XPGRAD_NUM_THREADS", "2")
    place, name, fault, check, *names = (FAULTS | FAULTS_OF_C)[title]
    (monkeypatch.setitem if isinstance(place, dict) else monkeypatch.setattr)(place, name, fault)
    with pytest.raises((AssertionError, ValueError)):
        check(*names)
