"""Programs by `c`: near their calls, equal for any number of threads, and with separate memory."""

import gc
import itertools
import tracemalloc

import numpy as np
import pytest
from tests.backends.c_executor import probes
from tests.backends.c_executor.groups_to_compile import needs_compiler
from tests.backends.fusion.reference import apart

import xpgrad
from xpgrad import Parameter
from xpgrad import array_api as xp
from xpgrad.transforms import value_and_grad
from xpgrad_c import executor as c_executors

pytestmark = [pytest.mark.exhaustive(1), needs_compiler]


@pytest.fixture
def _chunks(monkeypatch):
    """Groups of C have several chunks, which threads share, also on small arrays."""
    probes.cut_chunks(monkeypatch.setattr)


@pytest.fixture
def _any_group(monkeypatch, shared_folder):
    monkeypatch.setattr(c_executors, "worth", lambda fused: True)


@pytest.mark.usefixtures("shared_folder")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_roots_keep_the_signs_of_zeros_and_have_none_of_minus_infinity(dtype):
    x = np.full(100, -0.0, dtype)
    x[::3] = -np.inf
    f = xpgrad.compile(lambda x: (x**0.5, x**0.5 * 2 + 1, x * 2 + 1 + x), executor="c")
    with np.errstate(invalid="ignore"):
        for _ in range(4):
            found = f(x)
            assert c_executors.wait()
        expected = f.function(xpgrad.Variable(x))
    np.testing.assert_array_equal(found[0], expected[0].array)
    assert np.signbit(found[0][1::3]).all()


@pytest.mark.usefixtures("shared_folder", "_chunks")
@pytest.mark.parametrize("name", probes.PROBES)
def test_c_agrees_with_calls_for_any_number_of_threads(name):
    probes.check_c(name)
    probes.check_threads_c(name)


def largest_error(found, exact):
    return max(abs(float(a) - b) for a, b in zip(np.ravel(found), exact, strict=True))


@pytest.mark.parametrize("axis", [None, 1, 0])
@pytest.mark.parametrize("shape", [(1, 300_001), (3, 100_003), (20_011, 16)])
def test_sums_are_as_accurate_as_numpy_s(shape, axis, monkeypatch, shared_folder):
    """Of large blocks; a few units in the last place more are allowed where NumPy's error is small by chance."""
    monkeypatch.setattr(c_executors, "worth", lambda fused: True)
    x = np.random.default_rng(1).uniform(0, 1, shape).astype(np.float32)
    f = xpgrad.compile(lambda x: xp.sum(x * np.float32(1.5) + np.float32(0.25), axis=axis), executor="c")
    for _ in range(3):
        f(x)
    assert c_executors.wait(60)
    found, terms = f(x), x * np.float32(1.5) + np.float32(0.25)
    expected = np.sum(terms, axis=axis)
    exact = np.ravel(np.sum(terms.astype(np.float64), axis=axis))
    allowed = 2 * np.spacing(np.max(np.abs(exact)).astype(np.float32))
    assert largest_error(found, exact) <= largest_error(expected, exact) + allowed


def step_of(w):
    """Return a training step that computes a loss, moves `w`, and takes elements by numbers."""

    def step(x, places):
        loss, gradient = value_and_grad(lambda w: xp.sum(xp.tanh(w * x) ** 2 + xp.take(w, places)))(w)
        w.array = (w - 0.01 * gradient).array
        return loss, gradient, w * 2

    return step


@pytest.mark.usefixtures("_any_group")
def test_an_error_in_the_middle_leaves_the_state_unchanged():
    w = Parameter(np.linspace(-1, 1, 37))
    step, places = xpgrad.compile(step_of(w), executor="c"), np.arange(37)
    x = np.linspace(0, 2, 37)
    for _ in range(2):
        step(x, places)
    assert c_executors.wait(60)
    step(x, places)
    before = w.array.copy()
    with pytest.raises(IndexError):
        step(x, places + 1)
    np.testing.assert_array_equal(w.array, before)
    other = Parameter(before)
    expected, found = step_of(other)(xpgrad.Variable(x), places), step(x, places)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(getattr(a, "array", a), b.array, rtol=1e-12)
    np.testing.assert_allclose(w.array, other.array, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.usefixtures("_any_group")
def test_compiled_steps_are_flat_in_memory():
    w = Parameter(np.linspace(-1, 1, 37))
    step, places = xpgrad.compile(step_of(w), executor="c"), np.arange(37)
    x = np.linspace(0, 2, 37)

    def steps(number):
        for _ in range(number):
            step(x, places)

    steps(3)
    assert c_executors.wait(60)
    tracemalloc.start()
    try:
        held = []
        for _ in range(4):  # a leak grows each time, but allocations of other threads do not
            steps(700)
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
        grown = [after - before for before, after in itertools.pairwise(held)]
        assert min(grown) < 7_000, (grown, tracemalloc.take_snapshot().statistics("lineno")[:6])
    finally:
        tracemalloc.stop()


@pytest.mark.usefixtures("_any_group")
def test_results_have_separate_memory():
    f, arrays = probes.PROBES["twice"]
    compiled, runs = xpgrad.compile(f, executor="c"), []
    for _ in range(3):
        compiled(*arrays)
    assert c_executors.wait(60)
    for _ in range(3):
        runs.append(compiled(*arrays))
    apart([y for results in runs for y in results], [arrays[0]])
    expected = [np.array(y) for y in runs[0]]
    for results in runs[1:]:
        for y in results:
            y[...] = np.nan
    for y, wanted in zip(runs[0], expected, strict=True):
        np.testing.assert_array_equal(y, wanted)
