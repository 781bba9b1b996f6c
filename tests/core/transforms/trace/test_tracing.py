"""Runs of a compiled function compared with eager runs: results and stored Variables, to the bit."""

import types

import numpy as np
import pytest
from tests.core.transforms.trace.compiled_cases import assert_same
from tests.devices import device_or_skip

import xpgrad
from xpgrad import CompileWarning, Variable, compile
from xpgrad.transforms.trees import flatten

SPACE = types.SimpleNamespace


def array(x):
    return x.array if isinstance(x, Variable) else x


def compare(make, run, steps=4):
    """Run a function that `make` makes eagerly and compiled, step by step, and return how the compiled one ran."""
    found = []
    for compiled in (False, True):
        xpgrad.random.seed(3)
        state = make()
        f = compile(state.f, exact=True) if compiled else state.f
        found.append([flatten(run(state, f, i)) for i in range(steps)])
    for i, (mine, other) in enumerate(zip(*found, strict=True)):
        assert_same(mine[0], other[0], f"step {i}")
    return f.cache_info()


def copied(*variables):
    return [(x.array.copy(), None if x.grad is None else np.copy(x.grad)) for x in variables]


def weighted(body, **options):
    """Return a factory of functions of x with a weight w, from ``body(w, x)``."""

    def make():
        w = Variable(np.asarray([1.0, 0.5, -2.0]))
        for name, value in options.items():
            getattr(w, name)(value)
        return SPACE(w=w, f=lambda x: body(w, x))

    return make


def step(state, f, i):
    result = f(Variable(np.arange(3.0) + i, requires_grad=False))
    return [array(x).copy() for x in flatten(result)[0]], copied(state.w)


def loss_of(w, x):
    return ((w * x) ** 2).sum()


def descent(change):
    def body(w, x):
        w.cleargrad()
        loss = loss_of(w, x)
        loss.backward()
        change(w)
        return loss

    return body


def moved(w):
    w.array = w.array - 0.1 * w.grad


def moved_in_place(w):
    w.array -= 0.1 * w.grad


def moved_by_index(w):
    w.array[...] = w.array - 0.1 * w.grad


def accumulated(w, x):
    loss = loss_of(w, x)
    loss.backward()
    return loss


def gradient_set(w, x):
    w.grad = x.array * 2
    w.grad = w.grad + 1
    return w.grad


def retained(w, x):
    w.cleargrad()
    h = w * x
    (h**2).sum().backward(retain_grad=True)
    return h.grad, h.grad_var


def of_second_order(w, x):
    w.cleargrad()
    loss = ((w * x) ** 3).sum()
    loss.backward(enable_double_backprop=True)
    g = w.grad_var
    w.cleargrad()
    (g**2).sum().backward()
    return g


def scaled_loss(w, x):
    w.cleargrad()
    loss = loss_of(w, x)
    loss.backward(loss_scale=8.0)
    return loss


def unchained(w, x):
    w.cleargrad()
    h = w * x
    h.unchain()
    loss = ((h * w) ** 2).sum()
    loss.backward()
    loss.unchain_backward()
    return loss


def added(w, x):
    other = xpgrad.array_api.zeros(3, dtype=w.dtype)
    w.cleargrad()
    loss_of(w, x).backward()
    other.grad = np.ones(3)
    other.addgrad(w)
    other.copydata(w)
    return other.array, other.grad


JOURNAL = {
    "descent": descent(moved),
    "descent in place": descent(moved_in_place),
    "descent by index": descent(moved_by_index),
    "accumulated": accumulated,
    "a gradient that is set": gradient_set,
    "retain_grad": retained,
    "enable_double_backprop": of_second_order,
    "loss_scale": scaled_loss,
    "unchain": unchained,
    "addgrad and copydata": added,
}


@pytest.mark.parametrize("body", JOURNAL.values(), ids=JOURNAL)
def test_captured_variables_store_the_eager_values(body):
    assert compare(weighted(body), step, 6).hits >= 2


@pytest.mark.parametrize("body", [descent(moved), accumulated])
def test_hooks_of_captured_variables_are_called_in_sweeps_within(body):
    assert compare(weighted(body, register_hook=lambda g: g * 2), step, 5).hits


def test_hooks_of_captured_variables_are_called_once_in_sweeps_outside():
    def run(state, f, i):
        state.w.cleargrad()
        y = f(Variable(np.arange(3.0) + i, requires_grad=False))
        y.backward()
        return copied(state.w)

    assert compare(weighted(loss_of, register_hook=lambda g: g * 2), run).hits


def with_no_backprop(w, x):
    with xpgrad.no_backprop_mode():
        h = w * x
    return (h * w).sum()


def with_checkpoint(w, x):
    return xpgrad.transforms.checkpoint(lambda x: xpgrad.array_api.sin(w * x) ** 2)(x).sum()


class Square(xpgrad.FunctionNode):
    def forward_cpu(self, inputs):
        self.retain_inputs((0,))
        return (np.square(inputs[0]),)

    def backward(self, indexes, grad_outputs):
        return (2 * self.get_retained_inputs()[0] * grad_outputs[0],)


class Cube(xpgrad.Function):
    def forward(self, inputs):
        self.retain_inputs((0,))
        y = np.empty_like(inputs[0])
        np.multiply(inputs[0], inputs[0], out=y)
        y *= inputs[0]
        return (y,)

    def backward(self, inputs, grad_outputs):
        return (3 * inputs[0] ** 2 * grad_outputs[0],)


DIFFERENTIATED = {
    "plain": loss_of,
    "no_backprop_mode": with_no_backprop,
    "checkpoint": with_checkpoint,
    "a FunctionNode": lambda w, x: Square().apply((w * x,))[0].sum(),
    "a Function": lambda w, x: Cube()(w * x).sum(),
    "two results": lambda w, x: (w * x, w + x),
}


@pytest.mark.parametrize("body", DIFFERENTIATED.values(), ids=DIFFERENTIATED)
def test_gradients_through_the_node_agree_with_eager(body):
    def run(state, f, i):
        state.w.cleargrad()
        x = Variable(np.arange(3.0) + i)
        results = flatten(f(x))[0]
        for y in results:
            y.grad = np.ones(y.shape)
        xpgrad.backward(results)
        return [y.array.copy() for y in results], copied(state.w, x)

    assert compare(weighted(body), run).hits


def test_gradients_of_a_compiled_function_to_the_third_order_agree_with_eager():
    def summed(f):
        return lambda x: xpgrad.transforms.grad(f)(x).sum()

    def f(x):
        return (xpgrad.array_api.sin(x) * x**3).sum()

    x = np.asarray([0.5, -1.0, 2.0])
    compiled = compile(f, exact=True)
    for _ in range(3):
        for mine, other in (
            (f, compiled),
            (summed(f), summed(compiled)),
            (summed(summed(f)), summed(summed(compiled))),
        ):
            assert_same(xpgrad.transforms.grad(other)(x), xpgrad.transforms.grad(mine)(x), "the gradient")


T = xpgrad.transforms
POINT = np.asarray([0.5, -1.0, 2.0])
TRANSFORMS = {
    "grad": T.grad,
    "value_and_grad": T.value_and_grad,
    "jacobian": T.jacobian,
    "hessian": T.hessian,
    "hvp": lambda f: lambda x: T.hvp(f, (x,), (POINT,)),
    "jvp": lambda f: lambda x: T.jvp(f, (x,), (POINT,)),
    "vjp": lambda f: lambda x: T.vjp(f, x)[1](xpgrad.array_api.ones(())),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_transforms_within_and_around_compile_agree_with_eager_calls(transform):
    def f(x):
        return (xpgrad.array_api.sin(x) * x**2).sum()

    within, around = compile(transform(f), exact=True), transform(compile(f, exact=True))
    for i in range(4):
        expected = transform(f)(POINT + i)
        assert_same(within(POINT + i), expected, "the result within")
        assert_same(around(POINT + i), expected, "the result around")
    assert within.cache_info().hits == 2


def loss_and_sweep(h, x):
    loss = ((h * x) ** 2).sum()
    loss.backward()
    return loss


def loss_and_grad(state, x):
    return xpgrad.grad([((state.h * x) ** 2).sum()], [state.a])


OUTER = {
    "a sweep from a captured Variable": lambda state: lambda x: loss_and_sweep(state.h, x),
    "a gradient of its root": lambda state: lambda x: loss_and_grad(state, x),
    "a cut": lambda state: lambda x: (state.h.unchain_backward(), (state.h * x).sum())[1],
}


@pytest.mark.parametrize("body", OUTER.values(), ids=OUTER)
def test_a_graph_from_outside_is_reached_without_a_program(body):
    def make():
        state = SPACE(a=Variable(np.ones(3)))
        state.f = body(state)
        return state

    def run(state, f, i):
        state.a.cleargrad()
        state.h = xpgrad.array_api.sin(state.a) * 2
        y = flatten(f(Variable(np.arange(3.0) + i, requires_grad=False)))[0]
        return [array(x) for x in y], copied(state.a), [state.h.creator is None]

    with pytest.warns(CompileWarning, match="computed outside"):
        compare(make, run)


def test_a_graph_of_an_argument_is_reached_without_a_program():
    def run(state, f, i):
        state.a.cleargrad()
        h = xpgrad.array_api.sin(state.a) * 2
        return array(f(h, Variable(np.arange(3.0) + i, requires_grad=False))), copied(state.a, h)

    with pytest.warns(CompileWarning, match="computed outside"):
        compare(lambda: SPACE(a=Variable(np.ones(3)), f=loss_and_sweep), run)


def test_a_sweep_reaches_the_graph_of_an_argument_after_runs_with_a_root():
    compiled, x = compile(loss_and_sweep), Variable(np.ones(3), requires_grad=False)
    for _ in range(3):
        compiled(Variable(np.ones(3)), x)
    a = Variable(np.ones(3))
    with pytest.warns(CompileWarning, match="computed outside"):
        compiled(a * 3, x)
    assert np.array_equal(a.grad, np.full(3, 18.0))


def test_a_parameter_that_is_initialised_within_is_a_parameter_then():
    def make():
        w = xpgrad.Parameter(0.5)

        def f(x):
            if w.array is None:
                w.initialize((3,))
            w.cleargrad()
            loss = ((w + 1) * x).sum()
            loss.backward()
            w.array = w.array - 0.1 * w.grad
            return loss

        return SPACE(w=w, f=f)

    def run(state, f, i):
        return array(f(Variable(np.arange(3.0, dtype="f4") + i, requires_grad=False))), copied(state.w)

    assert compare(make, run, 6).hits


def network():
    rng = np.random.default_rng(0)
    w1, w2 = xpgrad.Parameter(rng.normal(size=(4, 5))), xpgrad.Parameter(rng.normal(size=(5, 1)))
    gamma, beta = xpgrad.Parameter(np.ones(5)), xpgrad.Parameter(np.zeros(5))
    return [w1, w2, gamma, beta]


def loss_of_network(parameters, mean, var, x, t):
    w1, w2, gamma, beta = parameters
    for p in parameters:
        p.cleargrad()
    h = xpgrad.functions.batch_normalization(x @ w1, gamma, beta, running_mean=mean, running_var=var)
    h = xpgrad.functions.dropout(xpgrad.functions.relu(h), 0.3)
    loss = ((h @ w2 - t) ** 2).mean()
    loss.backward()
    return loss


def momentum(parameters):
    speeds = [Variable(np.zeros(p.shape), requires_grad=False) for p in parameters]

    def update():
        for p, v in zip(parameters, speeds, strict=True):
            v.array = 0.9 * v.array - 0.01 * p.grad
            p.array = p.array + v.array

    return update


def in_place(parameters):
    def update():
        for p in parameters:
            p.array -= 0.01 * p.grad

    return update


@pytest.mark.parametrize("optimizer", [momentum, in_place])
@pytest.mark.parametrize(
    "averages", [np.asarray, lambda a: Variable(a, requires_grad=False)], ids=["arrays", "Variables"]
)
def test_50_steps_of_training_agree_with_eager(optimizer, averages):
    def make():
        parameters = network()
        mean, var, update = averages(np.zeros(5)), averages(np.ones(5)), optimizer(parameters)

        def f(x, t):
            loss = loss_of_network(parameters, mean, var, x, t)
            update()
            return loss

        return SPACE(parameters=parameters, mean=mean, var=var, f=f)

    rng = np.random.default_rng(1)
    xs, ts = rng.normal(size=(50, 8, 4)), rng.normal(size=(50, 8, 1))

    def run(state, f, i):
        loss = f(Variable(xs[i], requires_grad=False), Variable(ts[i], requires_grad=False))
        return array(loss), copied(*state.parameters), np.copy(array(state.mean)), np.copy(array(state.var))

    assert compare(make, run, 50).hits >= 45


def test_random_numbers_agree_with_eager_for_one_seed():
    def run(state, f, i):
        return array(f(Variable(np.ones(10), requires_grad=False)))

    assert compare(lambda: SPACE(f=lambda x: xpgrad.functions.dropout(x, 0.5)), run, 8).hits == 6


DRAWN = {
    "an array": (np.random.default_rng, lambda rng: rng.normal(size=3)),
    "a number": (np.random.default_rng, lambda rng: float(rng.normal())),
    "a decision": (np.random.default_rng, lambda rng: 2.0 if rng.random() < 0.7 else 3.0),
    "an integer": (np.random.RandomState, lambda rng: int(rng.randint(0, 2))),
    "no seed": (lambda _: None, lambda _: float(np.random.default_rng().random() < 2)),
    "a function": (
        lambda seed: torch_or_skip().manual_seed(seed) and torch_or_skip(),
        lambda torch: 2.0 if torch.rand(()) < 0.7 else 3.0,
    ),
}


def torch_or_skip():
    return device_or_skip("@torch:cpu").backend.namespace


@pytest.mark.parametrize(("make", "draw"), DRAWN.values(), ids=DRAWN)
def test_random_numbers_of_another_library_are_drawn_at_each_call(make, draw):
    stream = make(3)
    wanted = [np.ones(3) * draw(stream) for _ in range(8)]
    stream = make(3)
    compiled = compile(lambda x: x * draw(stream))
    with pytest.warns(CompileWarning, match="xpgrad.random"):
        found = [compiled(np.ones(3)) for _ in range(8)]
    np.testing.assert_array_equal(found, wanted)
