"""`Enclosed`: the results of a transformation are connected to its inputs."""

import gc
import weakref

import numpy as np
import pytest
from tests.building import array, variable
from tests.threads import at_once

import xpgrad
from xpgrad import Variable, no_backprop_mode
from xpgrad import array_api as xp
from xpgrad.backend.plugins import plugins
from xpgrad.errors import GraphError
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import vmap
from xpgrad.transforms.batch.backend import over

X = np.arange(6.0).reshape(3, 2) / 5 + 0.1


def test_gradients_within_add_to_gradients_of_captured_variables(device):
    w = variable(device, [1.0, 2.0], "float64")
    w.grad = array(device, [10.0, 10.0], "float64")
    x = array(device, X, "float64")

    def step(x):
        xp.sum(x * w).backward()
        return x

    vmap(step)(x)
    np.testing.assert_allclose(on_host(w.grad), 10 + X.sum(0))


def test_a_backward_computation_within_continues_outside():
    w = Variable(np.asarray([1.0, 2.0]))
    v = w * w
    with pytest.raises(GraphError, match="vmap: a backward computation within the function reaches a Variable"):
        vmap(lambda x: xp.sum(x * v).backward())(X)


def test_results_are_connected_only_where_a_graph_is_recorded():
    w = Variable(np.asarray([1.0, 2.0]))

    def within(x):
        with no_backprop_mode():
            return x * w

    assert not vmap(within)(Variable(X)).requires_grad
    with no_backprop_mode():
        assert type(vmap(lambda x: x * w)(X)) is np.ndarray
        assert not vmap(lambda x: x * w)(Variable(X)).requires_grad
    assert vmap(lambda x: x * w)(X).creator_node.label == "vmap"
    assert type(vmap(lambda x: x * w.array)(X)) is np.ndarray


@pytest.mark.usefixtures("few_objects")
def test_the_graph_within_is_freed():
    w = Variable(np.asarray([1.0, 2.0]))
    seen = []

    def f(x):
        y = xp.tanh(x * w)
        seen.append(weakref.ref(y.node))
        return y * y

    xp.sum(vmap(f)(X)).backward()
    gc.collect()
    assert seen[0]() is None
    y = xp.sum(vmap(f)(X))
    y.backward(retain_graph=False)
    gc.collect()
    assert seen[1]() is None
    with pytest.raises(GraphError):
        y.backward()


def test_two_threads_sweep_one_graph():
    w = Variable(np.asarray([1.0, 2.0]))
    y = xp.sum(vmap(lambda x: xp.tanh(x * w))(X))
    (expected,) = xpgrad.grad([y], [w])
    for (g,) in at_once(*[lambda: xpgrad.grad([y], [w])] * 8):
        np.testing.assert_array_equal(g.array, expected.array)


def test_threads_that_are_first_get_one_backend():
    assert len(set(at_once(*[lambda: over(plugins.host, 90)] * 8))) == 1
