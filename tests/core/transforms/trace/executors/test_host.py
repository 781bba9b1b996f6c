"""The executor ``host``: groups of calls block by block, with the results of whole arrays."""

import itertools
import operator
import random
import threading
import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.core.transforms.trace.random_programs import BACKEND, Maker, Runs, interpreted, rounding

import xpgrad
import xpgrad.functions as F
from xpgrad.transforms import value_and_grad
from xpgrad.transforms.trace.executors.host import blocks, executor, host_executor
from xpgrad.transforms.trace.executors.host.blocks import BlockedGroup, host_factory
from xpgrad.transforms.trace.executors.host.totals import Total
from xpgrad.transforms.trace.fusion import symbols
from xpgrad.transforms.trace.fusion.group import Fused
from xpgrad.transforms.trace.program import Call, Value

xp = xpgrad.array_api
RNG = np.random.default_rng(0)


def use_short_blocks(patch, elements=32, part=16, threads=2):
    patch.setattr(blocks, "SHORTEST", elements)
    patch.setattr(blocks, "LONGEST", elements)
    patch.setattr(blocks, "PART", part)
    patch.setattr(executor, "MIN_BYTES", 1)
    patch.setattr(executor, "MIN_CALLS", 1)
    patch.setattr(symbols, "SMALL", 0)
    patch.setenv("XPGRAD_NUM_THREADS", str(threads))


@pytest.fixture
def _short_blocks(monkeypatch):
    use_short_blocks(monkeypatch)


def draw(*shape, dtype="float32"):
    return np.asarray(RNG.standard_normal(shape), dtype)


def recorded(f, *args):
    """Return the program of a function, without passes that have to do with memory."""
    return xpgrad.compile(f, executor="python", without={"blocks", "buffers"}).program(*args)


def groups(program):
    return [call.function for call in executor.grouped(program).calls if isinstance(call.function, BlockedGroup)]


def bits(array):
    return array.shape, array.dtype, array.tobytes()


def check(f, *args, number=1, exact=True):
    """Compare the results in blocks with the results of the calls on whole arrays."""
    program = recorded(f, *args)
    assert len(groups(program)) >= number
    found, wanted = host_executor(program)(*args), interpreted(program, args)
    for a, b in zip(found, wanted, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if exact:
            assert bits(a) == bits(b)
        else:
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5 * max(1.0, float(np.max(np.abs(b)))))
    for a, b in itertools.combinations([*found, *args], 2):
        assert not np.shares_memory(a, b) or not any(a is x for x in found)
    return found


def formula(x):
    return xp.tanh(x * 1.5 + 0.25) * xp.exp(-x * x) + F.sigmoid(x)


def p4(x, a, b):
    return xp.sum(xp.tanh(x * a + b) * xp.exp(-x * x) + F.sigmoid(x))


def p5(x, gamma, beta, weights):
    return xp.sum(F.softmax(F.layer_normalization(x, gamma, beta), axis=1) * weights)


# Results


@pytest.mark.usefixtures("_short_blocks")
@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 31, 32, 33, 34, 63, 64, 65, 97, 1000])
def test_elementwise_calls_give_the_same_bits_for_all_sizes(size):
    found = check(
        lambda x: (formula(x), xp.where(x > 0, x, 0.5), xp.astype(x, xp.float64) * 2), draw(size), number=int(size > 1)
    )
    assert len(found) == 3


@pytest.mark.usefixtures("_short_blocks")
@pytest.mark.parametrize("shape", [(7, 5), (40, 3), (1, 100), (100, 1), (2, 3, 40), (1, 50, 8), (4, 1, 6)])
def test_elementwise_calls_give_the_same_bits_for_all_shapes(shape):
    check(formula, draw(*shape))
    check(formula, draw(*shape[::-1]).T)
    check(formula, draw(*shape)[..., ::-1])
    check(formula, np.broadcast_to(draw(*shape[:-1], 1), shape))
    check(lambda x, y: (x * y, y + x), draw(*shape), draw(*shape[::-1]).T)


@pytest.mark.usefixtures("_short_blocks")
@pytest.mark.parametrize("other", [(1024,), (1, 1024), (30, 1), (1, 1), ()])
def test_operands_are_broadcast(other):
    check(lambda x, y: xp.exp(x * y + 1) - y, draw(30, 1024), draw(*other))


@pytest.mark.usefixtures("_short_blocks")
def test_rows_may_be_in_several_axes():
    x, g = draw(3, 7, 40), draw(40)
    check(lambda x, g: F.softmax(x * g, axis=2) * 2, x, g)
    check(lambda x, g: F.softmax(x * g, axis=-1) * 2, np.asfortranarray(x), g, exact=False)
    check(lambda x, g: xp.sum(F.softmax(x, axis=2), axis=(0, 1)) * g, x, g, exact=False)
    check(lambda x, g: x * xp.sum(x * g, axis=2, keepdims=True), draw(1, 30, 40), g)


@pytest.mark.usefixtures("_short_blocks")
def test_array_may_be_given_twice():
    x = draw(100)
    program = recorded(lambda x, y: xp.exp(x * y) + x, x, draw(100))
    assert groups(program)
    assert bits(host_executor(program)(x, x)[0]) == bits(interpreted(program, (x, x))[0])


@pytest.mark.usefixtures("_short_blocks")
@pytest.mark.parametrize("size", [5, 16, 31, 100, 1000])
def test_gradients_of_a_formula(size):
    x, a, b = draw(size), np.float32(1.5).reshape(()), np.float32(0.25).reshape(())
    check(value_and_grad(p4, (0, 1, 2)), x, a, b, exact=False)
    check(value_and_grad(lambda x: p4(x, 1.5, 0.25)), x.reshape(1, size), exact=False)
    check(
        value_and_grad(lambda x: xp.sum(formula(x), axis=(0, 1), keepdims=True)[0, 0]), x.reshape(1, size), exact=False
    )


@pytest.mark.usefixtures("_short_blocks")
@pytest.mark.parametrize("rows", [2, 15, 33])
@pytest.mark.parametrize("columns", [3, 16, 300])
def test_gradients_of_rows(rows, columns):
    args = draw(rows, columns), draw(columns), draw(columns), draw(rows, columns)
    check(value_and_grad(p5, (0, 1, 2)), *args, exact=False)


REDUCED = {
    "mean": lambda x: xp.mean(x * x),
    "mean of rows": lambda x: x - xp.mean(x, axis=1, keepdims=True),
    "mean of columns": lambda x: xp.mean(x * 2, axis=0) + 1,
    "var": lambda x: xp.var(x, axis=1) * 2,
    "max": lambda x: (xp.max(x * x), xp.max(x, axis=1, keepdims=True) * x),
    "min": lambda x: xp.min(x + 1, axis=0),
    "prod": lambda x: xp.prod(x * 0.5 + 1),
    "norm": lambda x: x / xp.sqrt(xp.sum(x * x, axis=1, keepdims=True)),
    "logsumexp": lambda x: F.logsumexp(x * 2, axis=1),
    "log softmax": lambda x: F.log_softmax(x, axis=1) * x,
    "row sums": lambda x: xp.sum(xp.sum(x * x, axis=1) ** 2),
    "integers": lambda x: xp.sum(xp.astype(x > 0, xp.int32) * 3),
    "relu": lambda x: xp.mean(F.relu(x) * xp.where(x > 1, x, 0.5)),
}


@pytest.mark.usefixtures("_short_blocks")
@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("rows", [2, 17])
def test_reductions(name, rows):
    check(REDUCED[name], draw(rows, 40), exact=False)
    gradient = value_and_grad(
        lambda x: sum(xp.sum(y) for y in (lambda r: r if isinstance(r, tuple) else (r,))(REDUCED[name](x)))
    )
    if name != "integers":
        check(gradient, draw(rows, 40), exact=False)


@pytest.mark.usefixtures("_short_blocks")
@pytest.mark.parametrize("name", ["mean", "max", "relu"])
def test_special_values(name):
    x = draw(9, 40)
    x.flat[::7] = np.inf
    x.flat[3::11] = -0.0
    with np.errstate(all="ignore"):
        check(REDUCED[name], x, exact=False)
        x.flat[50] = np.nan
        check(REDUCED[name], x, exact=False)


@settings(max_examples=150, deadline=None)
@example(seed=16033, count=27, elements=2)  # sums that nearly cancel, in float32
@example(seed=19021, count=3, elements=2)  # an integer without axes
@example(seed=1098671, count=48, elements=2)  # sums of 36 numbers in float32 that nearly cancel
@example(seed=1_000_842, count=1_000_842 % 60, elements=2)  # an output with more axes than the space of its group
@example(seed=43168859, count=44, elements=2)  # a write through a view that exists in one layout only
@given(seed=st.integers(0, 2**32), count=st.integers(0, 60), elements=st.integers(2, 4))
def test_random_programs(seed, count, elements):
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        use_short_blocks(patch, elements, 2)
        maker = Maker(random.Random(seed).randrange, 1 + seed % 3)
        program = maker.program(count)
        run = host_executor(program)
        runs = Runs(maker, program)
        for order in (0, 1, 0):
            try:
                _, expected, _ = runs.run(lambda *arrays: interpreted(program, arrays), order)
            except ValueError:  # a view that can be written to in one layout only
                continue
            _, results, inputs = runs.run(run, order)
            _, (atol,), _ = runs.run(lambda *arrays: (rounding(program, arrays),), order)
            for a, b in zip(results, expected, strict=True):
                assert (a.shape, a.dtype) == (b.shape, b.dtype)
                np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9 + atol)
            for a, b in itertools.combinations([*results, *inputs, *maker.captured], 2):
                assert not (any(a is x or b is x for x in results) and np.shares_memory(a, b)), seed


# Sums


def totals(program, args, monkeypatch, elements, threads):
    monkeypatch.setattr(blocks, "SHORTEST", elements)
    monkeypatch.setattr(blocks, "LONGEST", elements)
    monkeypatch.setenv("XPGRAD_NUM_THREADS", str(threads))
    return [bits(item) for item in host_executor(program)(*args)]


@pytest.mark.parametrize("case", ["flat", "rows"])
def test_sums_are_the_same_for_any_blocks_and_threads(case, monkeypatch):
    use_short_blocks(monkeypatch, part=64)
    if case == "flat":
        f, args = value_and_grad(p4, (0, 1, 2)), (draw(10_007), np.asarray(np.float32(2)), np.asarray(np.float32(1)))
    else:
        f, args = value_and_grad(p5, (0, 1, 2)), (draw(203, 24), draw(24), draw(24), draw(203, 24))
    program = recorded(f, *args)
    assert groups(program)
    found = [totals(program, args, monkeypatch, n, k) for n in (64, 100, 192, 1024, 10**6) for k in (1, 2, 3)]
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("shape", [(1_000_003,), (3000, 301)])
def test_sums_are_as_accurate_as_sums_of_numpy(shape, monkeypatch):
    monkeypatch.setenv("XPGRAD_NUM_THREADS", "2")
    ours, theirs = [], []
    for seed in range(5):
        x = np.random.default_rng(seed).random(shape, np.float32)
        for axis in (None,) if len(shape) == 1 else (None, 0):
            program = recorded(lambda x, axis=axis: xp.sum(x * 0.5, axis=axis), x)
            assert groups(program)
            exact = np.sum(x.astype(np.float64) * 0.5, axis=axis)
            ours.append(np.max(np.abs(host_executor(program)(x)[0] - exact) / exact))
            theirs.append(np.max(np.abs(np.sum(x * np.float32(0.5), axis=axis) - exact) / exact))
    assert max(ours) <= max(theirs)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 13])
def test_total_does_not_depend_on_the_order_of_parts(count):
    parts = [str(i) for i in range(count)]
    found = set()
    for order in [
        range(count),
        reversed(range(count)),
        *(random.Random(i).sample(range(count), count) for i in range(5)),
    ]:
        total = Total(count, lambda a, b: f"({a} {b})")
        for i in order:
            total.add(i, parts[i])
        found.add(total.result)
    assert len(found) == 1
    assert found.pop().replace("(", "").replace(")", "").split() == parts


@pytest.mark.usefixtures("_short_blocks")
def test_sums_of_half_precision_agree_with_whole_arrays():
    x = draw(1000, dtype="float16")
    program = recorded(lambda x: xp.sum(x * 2), x)
    assert bits(host_executor(program)(x)[0]) == bits(interpreted(program, (x,))[0])


# Running


def values(*shapes):
    return [Value(BACKEND.spec_for(shape, np.dtype("float32"), "cpu")) for shape in shapes]


def elementwise_group(function, size):
    """Return the group ``function(x) * 2``."""
    x, y, z = values((size,), (size,), (size,))
    calls = Call("abs", function, (x,), {}, (y,)), Call("multiply", np.multiply, (y, y), {}, (z,))
    return Fused(1, size, (x,), (z,), dict.fromkeys((x, y, z), "point"), (), (), calls)


@pytest.mark.usefixtures("_short_blocks")
def test_error_in_a_block_is_raised_and_the_next_run_is_right():
    bad = []

    def function(x):
        if x.size > 2 and bad and 70 in x:
            raise OSError("bad block")
        return np.abs(x)

    fused = elementwise_group(function, 100)
    run = host_factory(fused, fused)
    assert isinstance(run, BlockedGroup)
    x = np.arange(100, dtype=np.float32)
    before = x.copy()
    assert bits(run(x)[0]) == bits(x * x)
    bad.append(True)
    with pytest.raises(OSError, match="bad block"):
        run(x)
    bad.clear()
    assert bits(run(x)[0]) == bits(x * x)
    assert bits(x) == bits(before)


@pytest.mark.usefixtures("_short_blocks")
def test_call_that_needs_whole_arrays_gets_them():
    fused = elementwise_group(lambda x: x[:1] if x.size < 50 else x, 100)
    x = draw(100)
    assert bits(host_factory(fused, fused)(x)[0]) == bits(x * x)


def test_group_with_single_elements_is_left_to_its_calls():
    x, y, z = values((100,), (), (100,))
    calls = (
        Call("getitem", operator.getitem, (x, 3), {}, (y,)),
        Call("multiply", np.multiply, (x, y), {}, (z,)),
    )
    fused = Fused(1, 100, (x,), (z,), {x: "array", y: "one", z: "point"}, (), (), calls)
    assert host_factory(fused, fused) is fused


@pytest.mark.usefixtures("_short_blocks")
@pytest.mark.parametrize("shape", [(40,), (30, 40), (30, 1), (1, 1)])
def test_constant_arrays_are_split_like_inputs(shape):
    x, y, z = values((30, 40), (30, 40), (30, 40))
    constant = draw(*shape)
    calls = Call("multiply", np.multiply, (x, constant), {}, (y,)), Call("add", np.add, (y, x), {}, (z,))
    fused = Fused(30, 40, (x,), (z,), dict.fromkeys((x, y, z), "point"), (), (), calls)
    array = draw(30, 40)
    run = host_factory(fused, fused)
    assert isinstance(run, BlockedGroup)
    assert bits(run(array)[0]) == bits(array * constant + array)


@pytest.mark.usefixtures("_short_blocks")
def test_threads_may_run_one_program_concurrently():
    args = draw(50, 24), draw(24), draw(24), draw(50, 24)
    program = recorded(value_and_grad(p5, (0, 1, 2)), *args)
    run = host_executor(program)
    wanted = list(map(bits, run(*args)))
    found = []

    def work():
        for _ in range(20):
            found.append(list(map(bits, run(*args))) == wanted)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80


@pytest.mark.usefixtures("_short_blocks")
def test_floating_point_errors_follow_the_settings_of_the_caller():
    x = np.zeros(1000, np.float32)
    program = recorded(lambda x: xp.log(x) * 2, np.ones(1000, np.float32))
    run = host_executor(program)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        run(x)
    with np.errstate(divide="ignore"):
        assert np.all(run(x)[0] == -np.inf)


@pytest.mark.usefixtures("_short_blocks")
def test_buffers_of_numpy_are_as_before():
    args = draw(50, 300), draw(300), draw(300), draw(50, 300)
    before = np.getbufsize()
    check(value_and_grad(p5, (0, 1, 2)), *args, exact=False)
    assert np.getbufsize() == before


@pytest.mark.parametrize("threads", [1, 2])
def test_memory_of_a_run_is_bounded_by_results_and_blocks(monkeypatch, threads):
    monkeypatch.setenv("XPGRAD_NUM_THREADS", str(threads))
    x = draw(2**21)
    program = recorded(value_and_grad(lambda x: xp.sum(formula(x))), x)
    assert len(groups(program)) == 1
    run = host_executor(program)
    run(x)
    tracemalloc.start()
    run(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.35 * x.nbytes
    wanted = interpreted(program, (x,))
    assert peak < 0.3 * sum(value.nbytes for call in program.calls for value in call.results)
    assert bits(run(x)[1]) == bits(wanted[1])


def test_small_arrays_are_not_cut():
    program = recorded(lambda x: formula(x), draw(1000))
    assert not groups(program)
    assert "fused" not in host_executor.__name__
    assert len(executor.grouped(program).calls) == len(program.calls)


@pytest.mark.usefixtures("_short_blocks")
def test_programs_with_more_lines_than_one_function():
    from xpgrad.transforms.trace import source

    def many(x):
        y = x
        for i in range(60):
            y = y * 1.01 + x * i
        return y

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "MAX_LINES", 10)
        check(many, draw(100))
