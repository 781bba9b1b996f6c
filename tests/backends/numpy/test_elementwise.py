"""Gradients in blocks: the case table in blocks of a few elements, and overwriting in large sweeps."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tests.core.graph import programs
from tests.core.graph.leaves import leaf, seeded, spread
from tests.turn import part_of

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.backend.plugins import plugins
from xpgrad.plugin import run_all
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.scenario import dtypes_of
from xpgrad_conformance.table.table import assertions_of, run
from xpgrad_numpy import elementwise
from xpgrad_numpy.kernels.elementwise import tanh_x

CHECKED = {"gradient", "recorded", "aliasing"}
SIZE = 1_100_000  # computed in blocks without further ado


@pytest.fixture(autouse=True)
def _unwatched():
    """Sweeps that look for mutations run on whole arrays."""
    with xpgrad.using_config("detect_mutation", False):
        yield


@pytest.fixture
def done(monkeypatch):
    """Let all arrays be large and blocks be small; return how often gradients were computed in which way."""
    backend, counts = plugins.backend("numpy"), Counter()
    monkeypatch.setattr(backend, "blocks_from", 2)
    monkeypatch.setattr(backend, "_specs", {})
    monkeypatch.setattr(elementwise, "BLOCK", 32)
    for limit in ("BLOCKS_FROM", "LIGHT_FROM"):
        monkeypatch.setattr(elementwise, limit, 0)

    def counted(name):
        function = getattr(elementwise, name)

        def call(*args):
            result = function(*args)
            counts[name if result is not NotImplemented else "declined"] += 1
            return result

        monkeypatch.setattr(elementwise, name, call)

    counted("_by_loops")
    counted("_in_blocks")
    return counts


def test_the_case_table_holds_in_blocks(done) -> None:
    cases = part_of(CASES, 2)
    for case in cases:
        for dtype in dtypes_of(case):
            for assertion in CHECKED.intersection(assertions_of(case, dtype)):
                run(case, xpgrad.get_device("@numpy"), dtype, assertion)
    assert 10 * min(done["_by_loops"], done["_in_blocks"]) > len(cases), done


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(programs.programs())
def test_raw_sweeps_in_blocks_and_recorded_ones_are_bit_equal(done, program) -> None:
    def gradients(recorded, retain):
        leaves = [leaf(shape, start=1 + 100 * i) for i, shape in enumerate([(5, 5), (5,), (), (1, 1)])]
        values = programs.run(program, leaves)
        seeded(values[-1]).backward(retain_grad=retain, enable_double_backprop=recorded)
        return [y.grad for y in values]

    for retain in (False, True):
        for one, two in zip(gradients(False, retain), gradients(True, retain), strict=True):
            assert (one is None) == (two is None)
            assert one is None or one.tobytes() == two.tobytes()


ROWS = spread((600, 700), start=3)
OPERANDS = {
    "whole": ROWS, "row": ROWS[:1].reshape(-1), "column": ROWS[:, :1].copy(), "number": np.asarray(ROWS[0, 0]),
    "scalar": 1.5, "single": ROWS.astype(np.float32), "transposed": np.asfortranarray(ROWS),
    "strided": np.repeat(ROWS, 2, axis=1)[:, ::2], "planes": np.stack([ROWS[:100, :200]] * 3),
    "plane": ROWS[:100, :200].copy(),
}  # fmt: skip


@pytest.mark.parametrize("number", [2, 5])
def test_functions_in_threads_have_the_bits_the_dtype_and_the_layout_of_the_whole(monkeypatch, number) -> None:
    monkeypatch.setenv("XPGRAD_NUM_THREADS", str(number))
    monkeypatch.setattr(elementwise, "SHARED_FROM", 0)
    shared = Counter()
    monkeypatch.setattr(
        elementwise, "run_all", lambda task, count, *step: shared.update([count]) or run_all(task, count)
    )
    calls = [(np.tanh, (x,)) for x in OPERANDS.values()] + [(np.less, (ROWS, ROWS))]
    calls += [(np.arctan2, pair) for pair in itertools.product(OPERANDS.values(), repeat=2)]
    for function, arrays in calls:
        if not any(isinstance(x, np.ndarray) for x in arrays):
            continue
        try:
            expected = function(*arrays)
        except ValueError:  # shapes that do not broadcast
            continue
        result = elementwise.in_threads(function, arrays)
        assert (result.dtype, result.strides) == (expected.dtype, expected.strides)
        np.testing.assert_array_equal(result, expected)
    assert {ROWS.size, len(ROWS), 3} <= set(shared)


def test_large_variables_are_computed_in_threads(monkeypatch) -> None:
    monkeypatch.setenv("XPGRAD_NUM_THREADS", "2")
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match=r"^exp: overflow .*float"):
        xp.exp(leaf((SIZE,)) + 1e6)
    functions = []
    in_threads = elementwise.in_threads
    monkeypatch.setattr(elementwise, "in_threads", lambda *args: functions.append(args[0]) or in_threads(*args))
    x = leaf((SIZE,))
    assert (2.0 - xp.exp(x) * x).requires_grad
    assert functions == [np.exp, np.multiply, np.subtract]


# Visible arrays are never overwritten


def _unary(y):
    return xp.exp(xp.tanh(-y) * 1.5)


@pytest.mark.parametrize("retain_graph", [False, True])
def test_a_seed_remains_unchanged(retain_graph) -> None:
    x = leaf((SIZE,))
    y, seed = xp.tanh(x), spread((SIZE,), start=50)
    y.grad = seed
    y.backward(retain_graph=retain_graph)
    np.testing.assert_array_equal(seed, spread((SIZE,), start=50))
    assert not np.shares_memory(x.grad, seed)


def test_a_gradient_that_two_functions_get_is_not_overwritten_by_the_first() -> None:
    x1, x2 = leaf((SIZE,)), leaf((SIZE,), start=9)
    seed = spread((SIZE,), start=50)
    y = (_unary(x1) + _unary(x2)) * 2.0
    y.grad = seed
    y.backward()
    for x in (x1, x2):
        alone = Variable(x.array)
        z = _unary(alone) * 2.0
        z.grad = seed
        z.backward()
        np.testing.assert_array_equal(x.grad, alone.grad)
    assert not np.shares_memory(x1.grad, x2.grad)


def test_gradients_that_hooks_or_variables_keep_are_not_overwritten() -> None:
    x, seen = leaf((SIZE,)), []
    h = x * 3.0
    k = xp.exp(h)
    k.register_hook(lambda g: seen.append(g))
    y = seeded(xp.tanh(k))
    seed = y.grad
    y.backward(retain_grad=True)
    gk = tanh_x(seed, k.array, y.array)
    np.testing.assert_array_equal(seen[0].array, gk)
    np.testing.assert_array_equal(k.grad, gk)
    np.testing.assert_array_equal(h.grad, gk * k.array)
    np.testing.assert_array_equal(x.grad, gk * k.array * 3.0)


def test_array_owned_by_a_rule_is_not_overwritten() -> None:
    constant = spread((SIZE,), start=7)

    @xpgrad.elementwise(x=lambda xp, gy: constant)
    def careless(xp, x, /):
        return x + 0.0

    x = leaf((SIZE,))
    seeded(careless(-xp.tanh(x))).backward()
    np.testing.assert_array_equal(constant, spread((SIZE,), start=7))


@pytest.mark.parametrize("times", [1, 2])
def test_arrays_that_the_graph_keeps_are_not_overwritten(times) -> None:
    x = leaf((SIZE,))
    y = _unary(x) * x + F.sigmoid(x) * xp.tanh(x)
    before = x.array.copy()
    for _ in range(times):
        seeded(y).backward()
    np.testing.assert_array_equal(x.array, before)
    again = leaf((SIZE,))
    seeded(_unary(again) * again + F.sigmoid(again) * xp.tanh(again)).backward(enable_double_backprop=True)
    total = again.grad if times == 1 else again.grad + again.grad
    np.testing.assert_array_equal(x.grad, total)


@pytest.mark.parametrize("recorded", [False, True])
def test_gradients_of_a_sum_of_products_own_their_memory(recorded) -> None:
    x1, x2, w = leaf((SIZE,)), leaf((SIZE,), start=9), spread((SIZE,), start=7)
    before = x2.array.copy()
    h = -x1
    y = xp.sum(h * w + x1 * x2 + xp.exp(x2) * xp.tanh(x2))
    y.backward(retain_grad=True, enable_double_backprop=recorded)
    assert not any(np.shares_memory(g, a) for g in (h.grad, x1.grad, x2.grad) for a in (w, x1.array, x2.array))
    np.testing.assert_array_equal(h.grad, w)
    np.testing.assert_array_equal(x1.grad, x2.array - w)
    e, t = np.exp(before), np.tanh(before)
    np.testing.assert_allclose(x2.grad, (x1.array + t * e) + tanh_x(e, before, t), 0, 1e-14)
    np.testing.assert_array_equal(x2.array, before)
    alone = leaf((SIZE,))
    xp.sum(alone * w).backward(enable_double_backprop=recorded)
    assert alone.grad.tobytes() == w.tobytes()
    assert not np.shares_memory(alone.grad, w)


# Invisible arrays are reused


def test_a_chain_of_large_functions_needs_two_arrays() -> None:
    import tracemalloc

    x = leaf((SIZE,))
    y = x
    for _ in range(10):
        y = -(y * 1.25)
    seeded(y)
    tracemalloc.start()
    try:
        y.backward()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * x.array.nbytes
