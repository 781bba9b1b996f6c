"""Sweeps that raise, nest, run side by side, release the graph, and run for long."""

import gc
import sys
import weakref

import numpy as np
import pytest
from tests.core.graph.leaves import leaf, seeded, spread
from tests.core.graph.nodes import node, square, square_backward

from xpgrad import Variable, grad, primitive, using_config
from xpgrad import array_api as xp
from xpgrad.errors import GraphError
from xpgrad.testing.arrays import on_host, placed

# A sweep that raises


@pytest.fixture(params=["rule", "node"])
def raising(request):
    """The identity, as a primitive or a node, and the flag that lets its gradient raise."""
    flag = {"raise": True}

    def rule(xp, gy):
        if flag["raise"]:
            raise ArithmeticError("a rule raises")
        return gy

    def backward(self, target_input_indexes, grad_outputs):
        return rule(None, grad_outputs)

    @primitive(x=rule)
    def raising_identity(xp, x, /):
        return +x

    return (raising_identity if request.param == "rule" else lambda x: node(backward=backward).apply((x,))[0]), flag


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("retain", [False, True])
def test_failing_sweep_changes_no_gradient_and_can_be_repeated(device, recorded, retain, raising) -> None:
    x, w = leaf((3,), device), leaf((3,), device, start=9)
    x.grad = placed(spread(3, start=70), device)
    held = x.grad
    identity, flag = raising
    middle = identity(x * w)
    y = seeded(middle * w)
    seed = y.grad
    with pytest.raises(ArithmeticError, match="a rule raises"):
        y.backward(retain_grad=retain, enable_double_backprop=recorded)
    assert x.grad is held
    assert y.grad is seed
    assert w.grad is None
    assert middle.grad is None
    np.testing.assert_array_equal(on_host(held), spread(3, start=70))
    np.testing.assert_array_equal(on_host(seed), spread(3, start=50))
    flag["raise"] = False
    y.backward(retain_grad=retain, enable_double_backprop=recorded)
    np.testing.assert_allclose(on_host(x.grad), spread(3, start=70) + spread(3, start=50) * spread(3, start=9) ** 2)
    np.testing.assert_allclose(on_host(w.grad), 2 * spread(3, start=50) * spread(3) * spread(3, start=9))


def test_a_hook_that_raises_leaves_every_gradient(device) -> None:
    x, w = leaf((3,), device), leaf((3,), device)
    h = x * 2

    def hook(g):
        raise ArithmeticError("a hook raises")

    remove = h.register_hook(hook)
    y = seeded(h * w)
    with pytest.raises(ArithmeticError, match="a hook raises"):
        y.backward()
    assert x.grad is w.grad is None
    assert y.grad is not None
    remove()
    y.backward()
    assert x.grad is not None


# Sweeps in sweeps and side by side


def test_a_hook_may_sweep_the_same_graph(device) -> None:
    x = leaf((3,), device)
    h = x * x
    y = h * 3
    inner = []

    def hook(g):
        if not inner:  # the inner sweep starts at h and calls this hook in turn
            inner.append(None)
            inner[0] = grad([h], [x], [Variable(placed(spread(3, start=60), device))])[0]

    h.register_hook(hook)
    seeded(y).backward()
    np.testing.assert_allclose(on_host(inner[0]), 2 * spread(3) * spread(3, start=60))
    np.testing.assert_allclose(on_host(x.grad), 6 * spread(3) * spread(3, start=50))


# Releasing


@pytest.mark.parametrize(
    "squared",
    [lambda x: x * x, lambda x: node(forward=square, backward=square_backward).apply((x,))[0]],
    ids=["primitive", "node"],
)
def test_retain_graph_false_releases_arrays_and_a_later_sweep_raises(squared) -> None:
    x = leaf((3,))
    kept = x.array * 1
    h = Variable(kept) * x
    array = weakref.ref(h.array)
    y = squared(h)
    del h
    seeded(y).backward(retain_graph=False)
    assert array() is None
    held = x.grad.copy()
    with pytest.raises(GraphError, match="swept with retain_graph=False"):
        seeded(y).backward()
    np.testing.assert_array_equal(x.grad, held)


def test_an_array_is_freed_after_its_last_use() -> None:
    x = leaf((3,))
    h = x + 1.0
    array = weakref.ref(h.array)
    y = h * 2.0
    del h
    assert array() is None
    seeded(y).backward()
    np.testing.assert_array_equal(x.grad, 2 * spread(3, start=50))


def test_results_of_a_sweep_are_freed_with_it(device) -> None:
    x = leaf((3,), device)
    h = x * x
    y = h * x
    node = weakref.ref(h.node)
    gc.disable()
    try:
        seeded(y).backward(enable_double_backprop=True)
        x.cleargrad()
        del h, y
        assert node() is None
    finally:
        gc.enable()


# Long graphs and long runs, without the collector


@pytest.fixture
def _no_collector(few_objects):
    gc.disable()
    yield
    gc.enable()


def growth(step) -> float:
    """Return how many objects more there are after each step: Variables, nodes, functions and their containers.

    Memory blocks would include Python's free lists, which take a thousand steps to fill.
    """
    for _ in range(10):
        step()
    before = len(gc.get_objects())
    for _ in range(100):
        step()
    return (len(gc.get_objects()) - before) / 100


@pytest.mark.parametrize(
    "operation",
    [lambda y, x: y * 2.0, lambda y, x: 1.0 - y, lambda y, x: y * x, lambda y, x: xp.tanh(y), lambda y, x: xp.sum(y)],
    ids=["constant", "reflected", "binary", "unary", "reduction"],
)
@pytest.mark.usefixtures("_no_collector")
def test_an_operation_leaves_two_objects_that_the_collector_tracks(operation) -> None:
    x, graph = Variable(np.array(1.0)), [Variable(np.array(1.0))]

    def step():
        graph[0] = operation(graph[0], x)

    with using_config("detect_mutation", False):
        assert growth(step) == pytest.approx(2, abs=0.1)


@pytest.mark.slow
@pytest.mark.usefixtures("_no_collector")
def test_a_million_operations_are_built_swept_and_freed() -> None:
    x = Variable(np.array(1.0))
    before = sys.getallocatedblocks()
    y = x
    for _ in range(1_000_000):
        y = y * 1.0000001
    y.backward()
    assert float(x.grad) == pytest.approx(1.0000001**1_000_000)
    assert sys.getallocatedblocks() - before > 2_000_000
    del y
    assert sys.getallocatedblocks() - before < 10_000  # free lists


@pytest.mark.usefixtures("_no_collector")
def test_a_deep_graph_between_two_values_needs_no_recursion() -> None:
    x = Variable(np.array(1.0))
    y = x
    for _ in range(50_000):
        y = -y
    (g,) = grad([y], [x], enable_double_backprop=True)
    assert float(g.array) == 1
    y.unchain_backward()
    assert y.creator is None


@pytest.mark.exhaustive(1)
@pytest.mark.parametrize("penalized", [False, True])
@pytest.mark.usefixtures("_no_collector")
def test_training_steps_keep_memory_flat(device, penalized) -> None:
    w, x = leaf((4,), device), leaf((3, 4), device, start=9)

    def step():
        w.cleargrad()
        x.cleargrad()
        y = xp.sum(xp.tanh(w * x)[1:])
        y.backward(enable_double_backprop=penalized)
        if penalized:
            y = xp.sum(x.grad_var * x.grad_var) + y
            w.cleargrad()
            x.cleargrad()
            y.backward()

    assert growth(step) < 0.5


def test_release_by_a_hook_during_a_sweep_raises(device):
    x = Variable(placed(np.array([0.3, -1.2]), device))
    y = xp.where(x > 0, x * 2.0, x)
    y.name = "y"
    z = y.sum()
    remove = y.register_hook(lambda gy: z.backward(retain_graph=False) if remove() is None else None)
    with pytest.raises(GraphError, match="retain_graph=False"):
        z.backward()
    assert on_host(x.grad).tolist() == [2.0, 1.0]  # stored by the hook's sweep


def test_a_hook_may_unchain_functions_ahead_of_a_sweep(device):
    x = Variable(placed(np.array([0.3, -1.2]), device))
    y = x * 2.0
    z = y.sum()
    function = y.creator_node
    y.register_hook(lambda gy: function.unchain())
    z.backward()
    assert x.grad is None
