"""Models that read and replace arrays of their own run as programs, with the results and gradients of eager runs."""

import contextlib
import copy
import threading
import types
import warnings

import numpy as np
import pytest
from tests.building import assert_near

import xpgrad
from xpgrad import CompileWarning, Link, Variable, compile, grad
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad import links as L
from xpgrad.transforms.trees import flatten

X = np.linspace(-1, 1, 12).reshape(4, 3)


class Stateful(xpgrad.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.input = L.Linear(3, 3, initialW=np.eye(3) * 0.5 + 0.1, initial_bias=np.ones(3))
            self.recurrent = L.Linear(3, 3, initialW=np.eye(3) * 0.3 - 0.1, initial_bias=np.ones(3))
        self.h, self.pair, self.state, self.average = None, None, {"h": None}, np.zeros(3)

    def reset(self):
        self.h = self.pair = self.state["h"] = None


class Recurrent(Stateful):
    def forward(self, x):
        h = self.input(x)
        self.h = F.tanh(h if self.h is None else h + self.recurrent(self.h))
        return self.h


class Averaging(Stateful):
    def forward(self, x):
        y = self.input(x)
        self.average = 0.9 * self.average + 0.1 * F.mean(y, axis=0).array
        return y - self.average


class OfItems(Stateful):
    def forward(self, x):
        h = self.input(x)
        self.state["h"] = h if self.state["h"] is None else h * self.state["h"]
        return F.sum(self.state["h"])


class OfPairs(Stateful):
    def forward(self, x):
        a, b = (x * 0, x * 0) if self.pair is None else self.pair
        self.pair = F.tanh(a + self.input(x)), b * 0.5 + x
        return a + self.pair[0] * self.pair[1]


class Unchanged(Stateful):
    def forward(self, x):
        if self.h is None:
            self.h = x * 1
        return self.recurrent(self.h) + x


MODELS = Recurrent, Averaging, OfItems, OfPairs, Unchanged


def values(tree):
    return [x.array if isinstance(x, Variable) else x for x in flatten(tree)[0]]


def trained(model, f, *, given):
    """Return results, states and gradients of calls, between which the state is reset, replaced and cut."""
    found, total = [], 0.0
    for i in range(9):
        x = X * (i + 1) / 3
        y = f(given(x))
        found.append(values([y, model.h, model.pair, model.state, model.average]))
        if given is Variable:
            total = total + F.sum(y * y)
        if given is Variable and i % 3 == 2:
            model.cleargrads()
            total.backward()
            found.append([p.grad for p in model.params() if p.grad is not None])
            total = 0.0
            for x in flatten([model.h, model.pair, model.state])[0]:
                if isinstance(x, Variable):
                    x.unchain()
        if i == 4:
            model.reset()
        if i == 6:
            model.average = model.average + 1
    return found


@pytest.mark.parametrize("given", [Variable, lambda x: x], ids=["variables", "arrays"])
@pytest.mark.parametrize("kind", MODELS)
def test_a_state_and_its_gradients_are_those_of_an_eager_run(kind, given):
    model, other = kind(), kind()
    expected, compiled = trained(model, model, given=given), compile(other)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        found = trained(other, compiled, given=given)
    for a, b in zip(flatten(found)[0], flatten(expected)[0], strict=True):
        assert (a is None) is (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)  # the parameters are float32
    assert compiled.cache_info().hits >= 1


def test_the_second_derivative_leaves_what_a_call_keeps():
    model = Recurrent()

    def found(f):
        model.reset()
        for i in range(5):
            f(X * i)
        v, h = Variable(X), model.h
        (g,) = grad([F.sum(f(v) * F.sum(model.h))], [v], enable_double_backprop=True)
        kept = model.h
        (second,) = grad([F.sum(g * g)], [v])
        assert model.h is kept
        assert kept is not h
        return second.array

    np.testing.assert_allclose(found(compile(model)), found(model), rtol=1e-5)


def test_a_step_goes_on_from_the_state_of_the_last_one():
    def trained(step_of):
        model = L.LSTM(3, 2, lateral_init=0.3, upward_init=0.4)
        optimizer = xpgrad.optimizers.Adam(alpha=0.05).setup(model)

        def loss(x):
            total = F.sum((model(x) - 1) ** 2) + F.sum((model(x * 2) - 1) ** 2)
            model.h.unchain()
            model.c.unchain()
            return total

        step = step_of(optimizer, loss)
        for i in range(12):
            step(X.astype("f4") * i / 5)
        return [p.array for p in model.params()]

    expected = trained(lambda optimizer, loss: lambda x: optimizer.update(loss, x))
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        found = trained(lambda optimizer, loss: optimizer.compile(loss))
    assert_near(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("start", [lambda w: w * 1, lambda w: None], ids=["a Variable", "None"])
def test_a_function_that_sweeps_into_its_last_call_runs_without_a_program_and_says_so_a_few_times(start):
    def swept(wrap):
        w, found = Variable(X), []
        kept = {"h": start(w)}

        def f(x):
            w.cleargrad()
            kept["h"] = w * x if kept["h"] is None else kept["h"] * x
            kept["loss"] = F.sum(kept["h"])
            kept["loss"].backward()
            return w.grad_var

        call = wrap(f)
        for i in range(8):
            call(X + i)
            found.append(w.grad)
        return found

    with pytest.warns(CompileWarning, match="without a program") as said:
        found = swept(compile)
    assert len(said) < 6
    np.testing.assert_allclose(found, swept(lambda f: f), rtol=1e-12)


def assigned(mean, x):
    mean[...] = 0.5 * mean + x.array


def added(mean, x):
    mean *= 0.5
    mean += x.array


@pytest.mark.parametrize("write", [assigned, added])
@pytest.mark.parametrize("size", [3, 300_000], ids=["small", "large"])
def test_elements_that_were_written_are_restored_before_a_call_is_repeated(size, write):
    mean, w = np.zeros(size), Variable(np.ones(size))
    outside = w * 1

    def f(x):
        write(mean, x)
        F.sum(outside * x).backward()  # cannot be recorded: the call is repeated without a level

    compiled = compile(f)
    if size > 3:
        with pytest.raises(xpgrad.TraceError, match="computed outside"):
            compiled(np.ones(size))
        return
    with pytest.warns(CompileWarning, match="computed outside"):
        compiled(np.ones(size))
    np.testing.assert_array_equal(mean, 1.0)


def test_a_call_that_fails_leaves_the_state():
    model = Recurrent()

    def f(x, fail):
        y = model(x)
        if fail:
            raise ValueError("as it happens")
        return y

    compiled = compile(f)
    for _ in range(4):
        compiled(X, False)
    before = model.h
    with pytest.raises(ValueError, match="as it happens"):
        compiled(X, True)
    assert model.h is before


def test_what_another_call_reads_is_the_state_that_the_last_one_left():
    model = Recurrent()
    forward, shown = compile(model), compile(lambda x: x + model.h)
    expected, other = [], Recurrent()
    for i in range(6):
        other(X * i)
        expected.append(X + other.h.array)
        forward(X * i)
        many = "4 values of the Variable from outside, the attribute 'h' of a Recurrent, have needed a program each"
        with pytest.warns(CompileWarning, match=many) if i == 3 else contextlib.nullcontext():
            found = values([shown(X)])[0]
        np.testing.assert_allclose(found, expected[-1], rtol=1e-6)


def test_a_copy_of_a_model_that_a_call_makes_has_new_arrays_each_time():
    model = L.Linear(3, 2)
    compiled = compile(lambda x: copy.deepcopy(model)(x))
    with pytest.warns(CompileWarning, match="a Variable from outside was copied"):
        found = [compiled(X.astype("f4")) for _ in range(3)]
    np.testing.assert_allclose(values(found), [model(X.astype("f4")).array] * 3)


def test_a_failed_call_leaves_no_array_of_its_own_outside():
    state, fails = {"n": np.zeros(3)}, [True]

    @compile
    def step(x):
        state["n"] = state["n"] + xp.sum(x)
        if fails[0]:
            raise KeyboardInterrupt
        return state["n"] * x

    with pytest.raises(KeyboardInterrupt):
        step(np.ones(3))
    fails[0] = False
    for count in range(1, 5):
        np.testing.assert_array_equal(getattr(state["n"], "array", state["n"]), 3.0 * (count - 1) * np.ones(3))
        np.testing.assert_array_equal(step(np.ones(3)), 3.0 * count * np.ones(3))


def test_a_compiled_method_in_a_compiled_function():
    class Doubled(Link):
        by = 2.0

        @compile
        def forward(self, x):
            return x * self.by

    link = Doubled()
    f = compile(lambda x: link(x) + link.forward(x))
    for by in 2.0, 5.0:
        link.by = by
        for _ in range(4):
            np.testing.assert_array_equal(f(np.ones(2)), 2.0 * by * np.ones(2))
    assert f.cache_info().hits == 4


REPEATED = (
    *("o.n += 1", "o.n += 2; o.n -= 1", "o.n += 0.1; o.n += 0.2", "a[0] += x.shape[0]", "d[x.shape] += 1", "g += 1"),
    *("net.n += 1", "a += [g]", "a += iter(d)", "d.update(n=g)", "vars(o).update({'n': g})"),
)
DEPENDENT = (
    *("o.n += 1; a.append(o.n)", "g = d[x.shape]; d[4, 3] = g + 1", "o.n += 1; g += len(vars(o)) + o.n", "k.n += 1"),
    *("a[0] += 1; g = a[-1] > 4", "o.n += 1; g = vars(o)['n'] > 4", "Wrapping.c += 1; g = k.c > 4"),
    *("o.n += 1; g = sum(vars(o).values()) > 4", "g += 1; a[0] = globals()['g']", "net.m = net.m or 0; net.m += 1"),
    "with lock: o.n += 1",
)
"""A program would have to know what is there, or to enter a lock."""


@pytest.mark.parametrize("statement", [*REPEATED, *DEPENDENT])
def test_numbers_and_containers_outside_change_at_each_run(statement):
    class Wrapping:
        c = 0

        def __setattr__(self, name, value):
            object.__setattr__(self, name, value % 4)

    found = []
    for compiled in (False, True):
        o, k, net = types.SimpleNamespace(n=0), Wrapping(), Link()
        space = {"o": o, "a": [0], "d": {(4, 3): 0}, "g": 0, "k": k, "net": net, "lock": threading.Lock()}
        space["Wrapping"], Wrapping.c, k.n, net.n, net.m = Wrapping, 0, 0, 0, None
        exec(f"def f(x):\n    global a, g\n    {statement}\n    return x * 2\n", space)
        f = compile(space["f"]) if compiled else space["f"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CompileWarning)
            for call in range(8):
                if call == 5:
                    o.n = space["d"][4, 3] = space["g"] = 10
                f(X if compiled else Variable(X))
                found.append(repr([o, space["a"], space["d"], space["g"], k.n, net.n, net.m]))
    assert found[8:] == found[:8]
    assert bool(f.cache_info().hits) == (statement in REPEATED)
