"""Passes that reassociate: results are equal up to rounding with and without each, and calls are merged if possible."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.building import assert_near
from tests.core.transforms.trace.random_programs import BACKEND, XP, Maker, Runs, interpreted
from tests.core.transforms.trace.small_programs import Writer
from tests.devices import device_or_skip

import xpgrad
import xpgrad.array_api as xp
from xpgrad.transforms import grad, value_and_grad
from xpgrad.transforms.trace.executors import executor_for
from xpgrad.transforms.trace.order import in_order
from xpgrad.transforms.trace.passes import PASSES, REASSOCIATING, apply_passes, products, sums
from xpgrad.transforms.trace.program import Call, Value
from xpgrad_numpy.kernels import KERNELS

pytestmark = pytest.mark.exhaustive(1)

RNG = np.random.default_rng(0)
OFF = [(), *((name,) for name in sorted(REASSOCIATING))]
STEPS, ROWS, WIDTH = 12, 2, 3


def close(found, wanted):
    """Whether arrays are equal to rounding."""
    return all(
        a.shape == b.shape
        and a.dtype == b.dtype
        and np.allclose(a, b, rtol=1e-10 if a.dtype == np.float64 else 1e-4, atol=1e-12, equal_nan=True)
        for a, b in zip(found, wanted, strict=True)
    )


def ran(program, inputs, off=()):
    """Return the results of a program after the passes."""
    return executor_for(apply_passes(program, off), BACKEND, "python")(*inputs)


def names(program):
    return Counter(call.name for call in program.calls)


# Random programs


@pytest.mark.parametrize("off", OFF, ids=lambda off: f"{off[0]} off" if off else "all on")
@settings(max_examples=40, deadline=None)
@example(seed=37069, count=58)  # a negation of a negation that is written to between them
@given(seed=st.integers(0, 2**32), count=st.integers(0, 80))
def test_random_programs_give_the_same_to_rounding(seed, count, off):
    maker = Maker(random.Random(seed).randrange, 1 + seed % 3)
    program = maker.program(count)
    run, runs = executor_for(apply_passes(program, off), BACKEND, "python"), Runs(maker, program)
    for order in (0, 1, 2):
        try:
            _, wanted, _ = runs.run(lambda *arrays: interpreted(program, arrays), order)
        except ValueError:  # a view that can be written to in one layout only
            continue
        wanted = [array.copy() for array in wanted]
        assert close(runs.run(run, order)[1], wanted), (seed, order)


class Network:
    """Makes a random program of products, items, sums and elementwise functions of matrices."""

    def __init__(self, seed):
        self.choose = random.Random(seed).randrange
        arrays = [
            RNG.standard_normal((STEPS, ROWS, WIDTH)),
            RNG.standard_normal((WIDTH, WIDTH)),
            RNG.standard_normal((WIDTH, WIDTH)),
            RNG.standard_normal((ROWS, WIDTH)),
        ]
        self.writer = Writer(*arrays)
        self.whole, *self.factors, first = self.writer.inputs
        self.known = [first]
        self.totals = {(WIDTH,): [], (WIDTH, WIDTH): []}

    def pick(self, items, last=0):
        return items[-1 - self.choose(min(last or len(items), len(items)))]

    def step(self):
        w, kind, x = self.writer, self.choose(9), self.pick(self.known, 4)
        if kind < 2:
            index = self.choose(STEPS)
            item = w(XP.getitem, self.whole, index=index - STEPS * (index % 3 == 0), name="getitem")
            self.known.append(item)
            if kind:
                self.known.append(w(XP.matmul, item, self.factors[0]))
        elif kind == 2:
            self.known.append(w(XP.matmul, x, self.pick(self.factors)))
        elif kind == 3:
            factor = self.pick(self.factors)
            self.known.append(w(KERNELS["matmul.x1"], x, factor, x.spec, name="matmul.x1"))
        elif kind == 4:
            self.known.append(w(np.tanh, w(np.add, x, self.pick(self.known, 6))))
        elif kind == 5:
            self.add(w(XP.sum_to, x, (WIDTH,), name="sum_to"))
        elif kind == 6:
            self.add(w(XP.matmul, w(XP.matrix_transpose, x), self.pick(self.known, 6)))
        elif kind == 7 and len(self.known) > 2:
            many = [self.pick(self.known) for _ in range(2 + self.choose(4))]
            whole = w(XP.concat, many, axis=0)
            self.add(w(XP.sum_to, whole, (WIDTH,), name="sum_to"))
        else:
            self.known.append(w(np.multiply, x, self.pick([0.5, 1.0])))

    def add(self, value):
        totals = self.totals[value.spec.shape]
        if totals and self.choose(8):
            value = self.writer(np.add, totals.pop(), value)
        totals.append(value)

    def program(self, count):
        for _ in range(count):
            self.step()
        outputs = [
            self.known[-1],
            *(self.pick(self.known) for _ in range(2)),
            *self.totals[WIDTH,],
            *self.totals[WIDTH, WIDTH],
        ]
        return self.writer.program(*outputs), [self.writer.arrays[x] for x in self.writer.inputs]


@pytest.mark.parametrize("off", OFF, ids=lambda off: f"{off[0]} off" if off else "all on")
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(0, 150), small=st.booleans())
def test_random_networks_give_the_same_to_rounding(seed, count, small, off):
    program, inputs = Network(seed).program(count)
    with pytest.MonkeyPatch.context() as patch:
        for change in (products, sums) if small else ():
            patch.setitem(change.__globals__, "MAX_BYTES", 300)
        assert close(ran(program, inputs, off), interpreted(program, inputs)), seed


def test_random_networks_contain_calls_that_the_passes_change():
    fewer = Counter()
    for seed in range(20):
        program, _ = Network(seed).program(120)
        for name in REASSOCIATING:
            fewer[name] += PASSES[name](program) is not program
    assert all(fewer[name] >= 3 for name in REASSOCIATING), fewer


# Merged calls


def recurrent(u, w, b, x, h):
    for t in range(STEPS):
        h = xp.tanh(x[t] @ u + h @ w + b)
    return xp.sum(h * h)


def weights():
    return [
        RNG.standard_normal(s) for s in ((WIDTH, WIDTH), (WIDTH, WIDTH), (WIDTH,), (STEPS, ROWS, WIDTH), (ROWS, WIDTH))
    ]


@pytest.mark.parametrize("device", ["@numpy", "@torch:cpu"])
def test_a_recurrent_network_multiplies_all_its_inputs_in_one_call(device: str):
    f, args = value_and_grad(recurrent, (0, 1, 2, 3)), [device_or_skip(device).send(x) for x in weights()]
    step, exact = xpgrad.compile(f, executor="python"), xpgrad.compile(f, exact=True)
    wanted, gradients = f(*args)
    for _ in range(3):
        value, found = step(*args)
        assert_near((value, found), (wanted, gradients), rtol=1e-12)
    fused, plain = names(step.program(*args)), names(exact.program(*args))
    before, after = (each["matmul"] + each["matmul.x1"] for each in (plain, fused))
    assert before - after >= 2 * STEPS - 3  # x[t] @ u, and the gradients of x
    assert plain["getitem"] == STEPS
    assert fused["getitem"] == 2  # x[t], concatenated again, is a slice of x
    assert plain["sum_to"] == STEPS
    assert fused["sum_to"] == 1


def test_exact_programs_are_unchanged():
    args = weights()
    exact = xpgrad.compile(recurrent, exact=True)
    for _ in range(3):
        assert exact(*args).tobytes() == recurrent(*map(xpgrad.Variable, args)).array.tobytes()
    without = xpgrad.compile(recurrent, executor="python", without=REASSOCIATING)
    assert names(exact.program(*args)) == names(without.program(*args))


def test_a_product_with_ones_is_its_other_operand_for_any_layout():
    def f(x):
        return xp.ones((3, 4)) * x + 1.0

    x = RNG.standard_normal((3, 8))[:, ::2]
    compiled, exact = xpgrad.compile(f, executor="python"), xpgrad.compile(f, exact=True)
    for _ in range(3):
        assert np.array_equal(compiled(x), x + 1.0)
    assert names(compiled.program(x)) == {"add": 1}
    assert names(exact.program(x)) == {"multiply": 1, "add": 1}


def test_products_that_need_each_other_stay():
    def power(x, u):
        for _ in range(8):
            x = x @ u
        return x

    x, u = RNG.standard_normal((ROWS, WIDTH)), RNG.standard_normal((WIDTH, WIDTH))
    assert names(xpgrad.compile(power).program(x, u)) == {"matmul": 8}


def test_large_products_stay():
    def layers(xs, u):
        return [x @ u for x in xs]

    u = np.ones((3, 3))
    for rows, count in ((products.__globals__["MAX_ROWS"] + 1, 8), (4, 1)):
        xs = [np.ones((rows, 3)) for _ in range(8)]
        assert names(xpgrad.compile(layers, executor="python").program(xs, u))["matmul"] == count


def test_sums_of_products_written_by_the_user_are_merged():
    def gram(many, others):
        total = many[0].mT @ others[0]
        for a, b in zip(many[1:], others[1:], strict=True):
            total = total + a.mT @ b
        return total

    many, others = ([RNG.standard_normal((4, n)) for _ in range(9)] for n in (3, 5))
    compiled = xpgrad.compile(gram, executor="python")
    for _ in range(3):
        assert close([compiled(many, others)], [sum(a.T @ b for a, b in zip(many, others, strict=True))])
    assert names(compiled.program(many, others))["matmul"] == 1


def test_the_gradient_of_a_gradient_agrees_with_eager():
    def f(u, x):
        return xp.sum(sum(xp.tanh(x[t] @ u) for t in range(STEPS)) ** 2)

    def g(u, x):
        return xp.sum(grad(f)(u, x) ** 2)

    u, x = RNG.standard_normal((WIDTH, WIDTH)), RNG.standard_normal((STEPS, ROWS, WIDTH))
    compiled = xpgrad.compile(grad(g), executor="python")
    for _ in range(3):
        assert close([compiled(u, x)], [grad(g)(u, x)])


def test_programs_that_write_to_arrays_stay():
    def f(x, u):
        found = [x[t] @ u for t in range(STEPS)]
        total = xp.zeros((ROWS, WIDTH)).array
        for y in found:
            total[...] = total + y.array
        return total

    x, u = RNG.standard_normal((STEPS, ROWS, WIDTH)), RNG.standard_normal((WIDTH, WIDTH))
    compiled = xpgrad.compile(f, executor="python")
    assert names(compiled.program(x, u))["matmul"] == STEPS


# The order of calls


def test_calls_follow_their_operands_and_draws_keep_their_order():
    spec = BACKEND.spec(np.ones(2))
    a, b, c, d, e = (Value(spec, name) for name in "abcde")
    early = Call("early", abs, (c,), {}, (d,), draws=True)
    other = Call("other", abs, (), {}, (b,), draws=True)
    late = Call("late", abs, (a,), {}, (c,))
    last = Call("last", abs, (b, d), {}, (e,))
    assert [call.name for call in in_order([early, last, other, late], [a])] == ["late", "early", "other", "last"]
    assert [call.name for call in in_order([late, early, other, last], [a])] == ["late", "early", "other", "last"]
