"""Derivatives along curves beside nested `jvp` and closed forms."""

import math

import numpy as np
import pytest
from tests.building import array, assert_near, values

import xpgrad
from xpgrad import Variable, special
from xpgrad import array_api as xp
from xpgrad.errors import StructureError
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import custom_vjp, grad, jet, jvp, vmap
from xpgrad.transforms.series.jet import _nested
from xpgrad.transforms.series.terms import SeriesArithmetic

POINT = np.asarray([0.3, 0.7, 1.2])
CURVE = [np.asarray(x) for x in ([1.0, 2.0, -1.0], [0.5, 0.0, 1.0], [0.0, 1.0, 2.0], [1.0, -1.0, 0.5])]
W = np.arange(9.0).reshape(3, 3) / 10 + np.eye(3)

FUNCTIONS = {
    "linear": lambda x: W @ x - 2 * x[::-1],
    "exp": xp.exp,
    "sin": xp.sin,
    "tanh": xp.tanh,
    "expit": special.expit,
    "sqrt": xp.sqrt,
    "log": xp.log,
    "erf": special.erf,
    "gamma": special.gamma,
    "square": lambda x: x**2,
    "cube": lambda x: x**3,
    "sixth power": lambda x: x**6,
    "root of a cube": lambda x: x**1.5,
    "power": lambda x: x**x,
    "quotient": lambda x: xp.sin(x) / (1 + x * x),
    "quotient of a constant": lambda x: 1 / (1 + x),
    "network": lambda x: xp.tanh(x @ W) @ xp.exp(x),
    "kinks": lambda x: xp.maximum(x, 0.5) ** 2 + xp.abs(-x) + xp.where(x > 0.5, x**2, xp.exp(x)),
    "maximum": lambda x: xp.max(x) * x,
    "softmax": special.softmax,
    "logsumexp": special.logsumexp,
    "deviation": xp.std,
    "norm": xp.linalg.vector_norm,
    "concatenation": lambda x: xp.concat([x, x**2])[1:5] ** 2,
    "sort": lambda x: xp.sort(-x) ** 2,
    "cumulative product": xp.cumulative_prod,
    "solve": lambda x: xp.linalg.solve(W * x, x),
    "inverse": lambda x: xp.linalg.inv(W * x),
    "determinant": lambda x: xp.linalg.det(W * x),
    "cholesky": lambda x: xp.linalg.cholesky(W @ W.T + xp.sum(x**2) * np.eye(3)),
    "eigenvalues": lambda x: xp.linalg.eigvalsh((W + W.T) * xp.sum(x) + x * np.eye(3)),
    "spectrum": lambda x: xp.abs(xp.fft.fft(x)) ** 2,
    "assignment": lambda x: _assigned(x),
}


def _assigned(x):
    y = x * x
    y[0] = xp.sin(x[1])
    return y * y


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_nested_jvp(name):
    y, derivatives = jet(FUNCTIONS[name], (POINT,), (CURVE,))
    expected = _nested(FUNCTIONS[name], (POINT,), [[d] for d in CURVE], len(CURVE))
    assert_near([y, *derivatives], expected, rtol=1e-9, atol=1e-9)


def test_closed_forms_of_high_order_on_every_backend(device):
    x, one = array(device, [0.3, 0.8], "float64"), array(device, [1.0, 1.0], "float64")
    zero, host = 0 * one, np.asarray([0.3, 0.8])
    _, found = jet(lambda x: xp.exp(2 * x), (x,), ([one, *[zero] * 7],))
    _, waves = jet(xp.sin, (x,), ([one, *[zero] * 7],))
    _, quotients = jet(lambda x: 1 / x, (x,), ([one, *[zero] * 7],))
    for k in range(1, 9):
        np.testing.assert_allclose(values(found[k - 1]), 2**k * np.exp(2 * host), rtol=1e-12)
        np.testing.assert_allclose(values(waves[k - 1]), np.sin(host + k * np.pi / 2), rtol=1e-12)
        np.testing.assert_allclose(values(quotients[k - 1]), (-1) ** k * math.factorial(k) * host ** (-1.0 - k))


def test_products_grow_with_the_square_of_the_order(monkeypatch):
    calls, times = [], SeriesArithmetic.times
    monkeypatch.setattr(SeriesArithmetic, "times", lambda *args: calls.append(1) or times(*args))
    counts = []
    for order in (8, 16, 32):
        calls.clear()
        jet(lambda x: xp.exp(xp.tanh(x) * x), (POINT,), ([POINT] * order,))
        counts.append(len(calls))
    assert counts[2] < 5 * counts[1] < 25 * counts[0]


def _second(x):
    return xp.sum(jet(lambda x: xp.sin(xp.tanh(W @ x) * x) / x, (x,), ([np.ones(3), x * x],))[1][1])


def _second_nested(x):
    return xp.sum(_nested(lambda x: xp.sin(xp.tanh(W @ x) * x) / x, (x,), [[np.ones(3)], [x * x]], 2)[2])


def test_derivatives_are_differentiable_in_reverse_forward_and_batches():
    np.testing.assert_allclose(grad(_second)(POINT), grad(_second_nested)(POINT), rtol=1e-9)
    squares = [grad(lambda x, f=f: xp.sum(grad(f)(x) ** 2))(POINT) for f in (_second, _second_nested)]
    np.testing.assert_allclose(*squares, rtol=1e-9)
    np.testing.assert_allclose(jvp(_second, (POINT,), (POINT,))[1], grad(_second)(POINT) @ POINT, rtol=1e-9)
    rows = np.stack([POINT, POINT + 1])
    np.testing.assert_allclose(vmap(_second)(rows), [on_host(_second(row)) for row in rows], rtol=1e-9)


def test_jets_within_jets():
    inner = lambda x: jet(lambda x: xp.exp(x) * x, (x,), ([x, x],))[1][1]  # noqa: E731
    got = jet(inner, (POINT,), (CURVE[:2],))[1]
    expected = _nested(
        lambda x: _nested(lambda x: xp.exp(x) * x, (x,), [[x], [x]], 2)[2], (POINT,), [[d] for d in CURVE[:2]], 2
    )
    np.testing.assert_allclose(got[1], expected[2], rtol=1e-10)


def test_functions_of_the_users_are_differentiated_by_nested_jvp():
    twice = custom_vjp(lambda x: 2 * x)
    twice.defvjp(lambda x: (2 * x, None), lambda _, gy: (3 * gy,))  # not its own, so that it is seen
    y, (first, second) = jet(lambda x: twice(x) * x, (POINT,), (CURVE[:2],))
    assert_near([y, first, second], [2 * POINT**2, 5 * POINT * CURVE[0], 6 * CURVE[0] ** 2 + 5 * POINT * CURVE[1]])


def test_trees_and_several_arguments():
    f = lambda p, q: {"product": p["a"] * q, "sum": p["a"] + q}  # noqa: E731
    y, (first, second) = jet(f, ({"a": Variable(POINT)}, POINT), ([{"a": CURVE[0]}, {"a": CURVE[1]}], CURVE[:2]))
    assert isinstance(y["sum"], Variable)
    np.testing.assert_allclose(on_host(first["product"]), 2 * POINT * CURVE[0])
    assert_near([second["product"], second["sum"]], [2 * CURVE[0] ** 2 + 2 * POINT * CURVE[1], 2 * CURVE[1]])


users_sin = custom_vjp(xp.sin)
users_sin.defvjp(lambda x: (xp.sin(x), x), lambda x, gy: (gy * xp.cos(x),))


@pytest.mark.parametrize("sin", [xp.sin, users_sin])
def test_gradients_reach_what_the_function_has_from_elsewhere(sin):
    v = Variable(np.asarray(0.7))
    _, (_, second) = jet(lambda x: xp.sum(sin(v * x)), (Variable(POINT),), ([CURVE[0], 0 * POINT],))
    (g,) = xpgrad.grad([second], [v])
    a, x = CURVE[0] ** 2, POINT
    assert float(on_host(g)) == pytest.approx(-np.sum(a * (1.4 * np.sin(0.7 * x) + 0.49 * x * np.cos(0.7 * x))))


def test_no_derivative_and_wrong_numbers_of_them():
    y, found = jet(xp.exp, (POINT,), ([],))
    np.testing.assert_allclose(y, np.exp(POINT))
    assert found == []
    with pytest.raises(StructureError, match=r"expected as many derivatives of each of the 2 primals, got \[1, 2\]"):
        jet(xp.add, (POINT, POINT), (CURVE[:1], CURVE[:2]))
