"""Deferred products: the gradient of a weight that is used many times."""

import numpy as np
import pytest
from tests.core.graph.leaves import leaf, seeded, spread

from xpgrad import Variable, grad
from xpgrad import array_api as xp
from xpgrad.array_api.shared.lazy_product import MAX_PRODUCTS, MAX_ROWS, Product, product
from xpgrad.testing.arrays import on_host, placed


def _recurrence(device, steps, rows=3):
    """Return weights, some inputs and the sum of the last state of ``h = tanh(x @ u + h @ w)``."""
    u, w = leaf((4, 5), device), leaf((5, 5), device, start=70)
    x = [placed(spread((rows, 4), start=1 + 20 * i), device) for i in range(steps)]
    h = placed(spread((rows, 5), start=9), device)
    for x_t in x:
        h = xp.tanh(xp.matmul(x_t, u) + xp.matmul(h, w * 0.3))
    return (u, w), x, h


def _by_hand(u, w, x, h0, gh):
    states = [h0]
    for x_t in x:
        states.append(np.tanh(x_t @ u + states[-1] @ (w * 0.3)))
    gu, gw = np.zeros_like(u), np.zeros_like(w)
    for x_t, before, after in zip(reversed(x), reversed(states[:-1]), reversed(states[1:]), strict=True):
        g = gh * (1 - after * after)
        gu += x_t.T @ g
        gw += 0.3 * before.T @ g
        gh = g @ (w * 0.3).T
    return gu, gw


@pytest.mark.parametrize("steps", [1, 2, MAX_PRODUCTS, 2 * MAX_PRODUCTS + 3])
def test_gradients_of_a_recurrence_agree_with_derivation_by_hand(device, steps) -> None:
    leaves, x, h = _recurrence(device, steps)
    seeded(h).backward()
    expected = _by_hand(
        *map(on_host, leaves), [on_host(x_t) for x_t in x], spread((3, 5), start=9), spread((3, 5), start=50)
    )
    for each, want in zip(leaves, expected, strict=True):
        np.testing.assert_allclose(on_host(each.grad), want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("steps", [2, MAX_PRODUCTS + 3])
def test_raw_and_recorded_gradients_of_a_recurrence_are_bit_equal(device, steps) -> None:
    raw, recorded = [], []
    for into, record in (raw, False), (recorded, True):
        leaves, _, h = _recurrence(device, steps)
        seeded(h).backward(enable_double_backprop=record)
        into += [on_host(each.grad) for each in leaves]
    for one, two in zip(raw, recorded, strict=True):
        assert np.array_equal(one, two)


def test_second_order_through_waiting_products(device) -> None:
    (u, w), _, h = _recurrence(device, 3)
    (gu,) = grad([xp.sum(h * h)], [u], enable_double_backprop=True)
    (guw,) = grad([xp.sum(gu * gu)], [w])
    step, direction = 1e-6, spread((5, 5), start=33)

    def first_order(shift):
        (a, b), _, _ = _recurrence(device, 0)
        b.array = placed(on_host(b) + shift * direction, device)
        y = placed(spread((3, 5), start=9), device)
        for i in range(3):
            x_t = placed(spread((3, 4), start=1 + 20 * i), device)
            y = xp.tanh(xp.matmul(x_t, a) + xp.matmul(y, b * 0.3))
        (ga,) = grad([xp.sum(y * y)], [a])
        return float(np.sum(on_host(ga) ** 2))

    numerical = (first_order(step) - first_order(-step)) / (2 * step)
    np.testing.assert_allclose(np.sum(on_host(guw) * direction), numerical, rtol=1e-6)


def test_products_add_up_with_dense_and_scattered_cotangents(device) -> None:
    w = leaf((4, 5), device)
    x = placed(spread((3, 4), start=30), device)
    y = xp.sum(xp.matmul(x, w)) + xp.sum(w * w) + xp.sum(w[1]) + xp.sum(xp.matmul(x, w)) + xp.sum(w[1:, 2])
    y.backward()
    expected = 2 * on_host(x).T @ np.ones((3, 5)) + 2 * on_host(w)
    expected[1] += 1
    expected[1:, 2] += 1
    np.testing.assert_allclose(on_host(w.grad), expected, rtol=1e-12)


def test_a_product_of_many_rows_or_of_another_dtype_does_not_wait() -> None:
    few, many = np.ones((MAX_ROWS, 2)), np.ones((MAX_ROWS + 1, 2))
    spec = leaf((2, 2)).node.spec
    narrow = leaf((2, 2), dtype=np.float32).node.spec
    namespace = spec.backend.xp
    assert type(product(namespace, few, few, spec)) is Product
    assert type(product(namespace, many, many, spec)) is np.ndarray
    assert type(product(namespace, few, few, narrow)) is np.ndarray


def test_gradients_of_one_product_share_no_memory_with_retained_arrays(device) -> None:
    w, x = leaf((4, 5), device), leaf((3, 4), device, start=30)
    xp.sum(xp.matmul(x, w)).backward()
    before = on_host(w.grad).copy()
    x.array = placed(np.zeros((3, 4)), device)
    assert np.array_equal(on_host(w.grad), before)


@pytest.mark.parametrize("seed", range(6))
def test_sums_of_gradients_that_lie_otherwise_are_bit_equal_raw_and_recorded(device, seed) -> None:
    random = np.random.default_rng(seed)
    a, b = (Variable(placed(random.normal(size=shape), device)) for shape in ((2, 1, 2, 1), (1, 3, 1, 1)))
    z = xp.reshape(a * b, (6, 2))
    y = xp.sin(xp.matmul(xp.matrix_transpose(z), z))
    first = grad([xp.sum(y * y)], [a, b], enable_double_backprop=True)
    seeds = [Variable(placed(random.normal(size=g.shape), device)) for g in first]
    raw, recorded = (grad(list(first), [a, b], seeds, enable_double_backprop=record) for record in (False, True))
    for one, two in zip(raw, recorded, strict=True):
        assert np.array_equal(on_host(one), on_host(two))
