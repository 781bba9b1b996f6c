"""`psum`, `pmean` and `axis_index`: functions of all members of a batch."""

import numpy as np
import pytest
from tests.building import array, assert_near

from xpgrad import BatchError
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import axis_index, grad, hessian, pmean, psum, vmap

X = np.arange(6.0).reshape(3, 2) / 5 + 0.1


def test_a_sum_over_the_members(device):
    x = array(device, X, "float64")
    np.testing.assert_allclose(on_host(vmap(lambda x: x / psum(x, "i"), axis_name="i")(x)), X / X.sum(0))
    np.testing.assert_allclose(on_host(vmap(lambda x: x - pmean(x, "i"), axis_name="i")(x)), X - X.mean(0))
    np.testing.assert_allclose(on_host(vmap(lambda x: psum(x, "i"), 0, None, axis_name="i")(x)), X.sum(0))


def test_sum_of_a_shared_value(device):
    x, c = array(device, X, "float64"), array(device, 2.0, "float64")
    np.testing.assert_array_equal(on_host(vmap(lambda x, c: psum(c, "i"), (0, None), axis_name="i")(x, c)), [6.0] * 3)


def test_sums_over_an_outer_batch(device):
    x = array(device, X, "float64")
    found = vmap(lambda x: vmap(lambda y: psum(x * y, "i"))(x), axis_name="i")(x)
    np.testing.assert_allclose(on_host(found), np.broadcast_to(X.T @ X, (3, 2, 2)))


def test_gradients_go_through_all_members(device):
    x = array(device, X, "float64")

    def batched(x):
        return xp.sum(vmap(lambda x: xp.tanh(x * psum(x**2, "i")), axis_name="i")(x))

    def plain(x):
        return xp.sum(xp.tanh(x * xp.sum(x**2, axis=0)))

    assert_near([grad(batched)(x), hessian(batched)(x)], [grad(plain)(x), hessian(plain)(x)])


def test_the_position_of_a_member(device):
    x = array(device, X, "float64")

    def place(x):
        return xp.astype(axis_index("i"), x.dtype)

    np.testing.assert_allclose(on_host(vmap(lambda x: place(x) * x, axis_name="i")(x)), X * [[0], [1], [2]])
    inner = vmap(lambda x: vmap(lambda y: place(y) + 0 * y)(x), axis_name="i")(x)
    np.testing.assert_array_equal(on_host(inner), [[0, 0], [1, 1], [2, 2]])


def test_an_unknown_name_raises_with_the_active_names():
    with pytest.raises(BatchError, match="psum: no vmap with axis_name='i' is active; none is active"):
        psum(np.ones(2), "i")
    with pytest.raises(BatchError, match="the active ones are 'j'"):
        vmap(lambda x: psum(x, "i"), axis_name="j")(X)
