"""`checkpoint` and `F.forget`: the gradients of a plain call, with less memory."""

import functools
import gc
import itertools
import random
import weakref

import numpy as np
import pytest
from tests.building import array, assert_near, values, variable
from tests.core.transforms.references import orders as orders_of
from tests.threads import in_thread

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import GraphError
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import checkpoint, custom_vjp, hvp

assert_same = functools.partial(assert_near, rtol=1e-12, atol=1e-14)
orders = functools.partial(orders_of, xp.sum)


@pytest.fixture
def x(device):
    return variable(device, [0.1, 0.2, 0.3], "float64")


@pytest.fixture
def w(device):
    return variable(device, [1.0, 2.0, 3.0], "float64")


def test_captured_variables_get_gradients(x, w):
    h = x * w  # in the graph, and an ancestor of the input

    def f(a):
        return xp.sin(a * (w * 2)) * h * x

    assert_same(orders(lambda: checkpoint(f)(x), [x, w, h]), orders(lambda: f(x), [x, w, h]))
    constant = x.array
    assert_same(orders(lambda: checkpoint(f)(constant), [w, h]), orders(lambda: f(Variable(constant)), [w, h]))


def test_a_captured_variable_may_be_returned(x, w):
    f = lambda a: (w, a, w * a)  # noqa: E731
    joined = lambda ys: ys[0] * ys[1] + ys[2]  # noqa: E731
    assert_same(orders(lambda: joined(checkpoint(f)(x)), [x, w]), orders(lambda: joined(f(x)), [x, w]))


def test_trees_keywords_and_other_things(device, x):
    def f(p, *, scale, flag):
        assert flag == "flag"
        assert isinstance(p["x"], Variable)
        found = {"y": p["x"] * scale, "unused": p["x"] ** 3, "n": xp.argmax(p["x"])}
        return {**found, "none": None, "text": flag, "count": p["count"], "words": p["words"]}

    count, words = array(device, [1, 2], "int32"), np.asarray(["a", "b"])
    out = checkpoint(f)({"x": x, "count": count, "words": words}, scale=x, flag="flag")
    assert (out["none"], out["text"], values(out["n"])) == (None, "flag", 2)
    assert out["count"] is count
    assert out["words"] is words
    assert out["unused"].requires_grad
    xp.sum(out["y"]).backward()
    np.testing.assert_allclose(on_host(x.grad), [0.2, 0.4, 0.6])


def test_a_gradient_that_came_through_a_checkpoint_may_be_captured_by_the_next(x):
    (g,) = xpgrad.grad([xp.sum(checkpoint(lambda a: a**3)(x))], [x], enable_double_backprop=True)
    y = xp.sum(checkpoint(lambda a: a * g)(x))
    found = xpgrad.grad([y], [x, g])
    assert_near([found[0], found[1]], [9 * on_host(x) ** 2, x])


@pytest.mark.parametrize("nested", [False, True])
def test_random_numbers_are_replayed(device, x, nested):
    f = lambda a: F.dropout(a * a) * 2  # noqa: E731
    g = checkpoint(checkpoint(f)) if nested else checkpoint(f)
    found = []
    for each in (f, g):
        with xpgrad.using_device(device):
            xpgrad.random.seed(5)
            y = xp.sum(each(x) * each(x))
            found.append((on_host(y), on_host(xpgrad.grad([y], [x])[0]), on_host(xpgrad.random.uniform((3,)))))
    assert_near(*found, rtol=1e-14)


def test_the_configuration_of_the_first_run_is_replayed(x):
    seen = []

    def f(a):
        seen.append((xpgrad.config.train, xpgrad.config.in_recomputing))
        return F.dropout(a)

    with xpgrad.using_config("train", False):
        y = checkpoint(f)(x)
    xp.sum(y).backward()
    assert seen == [(False, False), (False, True)]
    assert values(x.grad) == [1.0, 1.0, 1.0]


def test_what_the_user_does_not_record_has_no_tangent_either(x):
    def f(x):
        with xpgrad.no_backprop_mode():
            factor = xp.sin(x)
        return xp.sum(x * x * factor)

    once, again = (hvp(g, (x.array,), (x.array,))[0] for g in (f, checkpoint(f)))
    np.testing.assert_allclose(on_host(again), on_host(once))


def test_another_thread_may_sweep(x):
    xpgrad.random.seed(3, x.device)
    y = xp.sum(checkpoint(lambda a: F.dropout(a) * a)(x))
    in_thread(y.backward)
    expected = np.where(on_host(x.grad) == 0, 0, 4 * on_host(x))
    np.testing.assert_allclose(on_host(x.grad), expected)


def test_an_exception_in_either_run_leaves_the_state_unchanged(device, x):
    calls = []

    def f(a):
        calls.append(1)
        if len(calls) in (1, 3):
            raise KeyError("mine")
        return F.dropout(a)

    with pytest.raises(KeyError, match="mine"):
        checkpoint(f)(x)
    y = xp.sum(checkpoint(f)(x))
    state = xpgrad.random.get_state(device)
    with pytest.raises(KeyError, match="mine"):
        y.backward()
    assert x.grad is None
    assert xpgrad.random.get_state(device) == state
    y.backward()
    assert x.grad is not None


def test_another_second_run_is_detected(x, w):
    calls = []

    def shape(a):
        calls.append(1)
        return a if len(calls) == 1 else a[:2]

    with pytest.raises(GraphError, match="the second run returned"):
        xp.sum(checkpoint(shape)(x) * 2).backward()
    calls.clear()

    def captured(a):
        calls.append(1)
        return a * w if len(calls) == 1 else a * 2

    with pytest.raises(GraphError, match="the second run used Variables"):
        xp.sum(checkpoint(captured)(x)).backward()


def test_without_a_graph_it_is_the_function(device, x):
    with xpgrad.no_backprop_mode():
        assert checkpoint(lambda a: a is x)(x)
    y = checkpoint(lambda a: a * 2)(array(device, [1.0]))
    assert not y.requires_grad
    assert y.creator is None


def test_hooks_of_captured_variables_see_the_whole_gradient_once(x, w):
    seen = []
    w.register_hook(lambda g: seen.append(values(g)))
    y = xp.sum(checkpoint(lambda a: a * w)(x) + w)
    y.backward()
    assert seen == [values(w.grad)]


def test_graphs_are_freed_without_the_collector(x, w):
    freed = []

    def f(a):
        y = a * w
        freed.append(weakref.ref(y.node))
        return xp.sin(y)

    gc.disable()
    try:
        z = xp.sum(checkpoint(f)(x))
        assert freed[0]() is None
        z.backward()
        assert freed[1]() is None
        gone = weakref.ref(z)
        del z
        assert gone() is None
    finally:
        gc.enable()


# F.forget


def test_forget_returns_the_result_of_the_function(x, w):
    y, z = F.forget(lambda a, b: (a * b, a + b), x, w)
    xp.sum(y * z).backward()
    np.testing.assert_allclose(on_host(x.grad), on_host(2 * x * w + w * w))
    assert isinstance(F.forget(lambda a: (a * 2,), x), Variable)
    assert F.forget(lambda a: a * 2, x.array).requires_grad


@pytest.mark.parametrize(
    ("func", "text"),
    [
        (3, "forget: func must be a callable, got int"),
        (lambda x: [x], "forget: expected a Variable or a tuple of Variables from func, got list"),
        (lambda x: (x, 3), "forget: element 1 of the tuple that func returned is not a Variable: int"),
    ],
)
def test_forget_rejects_the_same_arguments_as_chainer(x, func, text):
    with pytest.raises(TypeError, match=text):
        F.forget(func, x)


def test_checkpoint_rejects_non_functions():
    with pytest.raises(TypeError, match="checkpoint: expected a function, got int"):
        checkpoint(3)


COUNTER = itertools.count(1)
GENERATOR = np.random.default_rng(0)
FOREIGN = {
    "random": lambda a: a * random.random(),
    "np.random": lambda a: a * np.random.normal(),  # noqa: NPY002 - the global stream is the point
    "a generator": lambda a: a * float(GENERATOR.random()),
    "a little noise": lambda a: a + 1e-6 * random.random(),
    "a counter": lambda a: a * next(COUNTER),
}


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("name", FOREIGN)
def test_debug_mode_sees_that_a_second_run_computes_something_else(x, name, recorded, nested):
    f = checkpoint(FOREIGN[name])
    with xpgrad.using_config("debug", True):
        y = xp.sum(checkpoint(f)(x) if nested else f(x))
        with pytest.raises(GraphError, match=r"checkpoint of .*other values than the first.*xpgrad\.random"):
            xpgrad.grad([y], [x], enable_double_backprop=recorded)


@pytest.mark.parametrize("name", FOREIGN)
def test_debug_mode_sees_that_a_second_run_of_custom_vjp_computes_something_else(x, name):
    @custom_vjp
    def f(a):
        return a * 1

    def forward(a):
        kept = FOREIGN[name](a)
        return a * 1, kept

    f.defvjp(forward, lambda kept, gy: (kept * gy,))
    with xpgrad.using_config("debug", True):
        y = xp.sum(f(x))
        xpgrad.grad([y], [x])
        with pytest.raises(GraphError, match=r"custom_vjp of f.*other values than the first"):
            xpgrad.grad([y], [x], enable_double_backprop=True)


def test_debug_mode_takes_own_random_numbers_and_rounding_for_the_same(device, x):
    shift = itertools.count()
    with xpgrad.using_config("debug", True), xpgrad.using_device(device):
        y = xp.sum(checkpoint(lambda a: F.dropout(a * a) * (1 + 1e-15 * next(shift)))(x))
        (g,) = xpgrad.grad([y], [x], enable_double_backprop=True)
        assert xpgrad.grad([xp.sum(g)], [x])[0] is not None
