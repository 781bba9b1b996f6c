"""`odeint` against SciPy's integrators, and its gradients against closed forms."""

from typing import Any

import numpy as np
import pytest
from tests.building import array, assert_near, variable

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import grad, hvp, jvp, odeint, vmap

pytestmark = pytest.mark.exhaustive(1)

A = np.asarray([[-0.1, 2.0], [-2.0, -0.1]])
START = np.asarray([2.0, 0.0])
TIMES = np.linspace(0.0, 2.0, 4)
ADJOINTS = [{}, {"adjoint": "continuous"}]
WAYS = [*ADJOINTS, {"checkpoints": 3}, {"checkpoints": "all"}]


@pytest.fixture(params=["@numpy", "@strict:cpu"])
def device(request: Any) -> xpgrad.Device:
    """Devices of two libraries: integrations take many steps."""
    return xpgrad.get_device(request.param)


def spiral(y: Any, t: Any, a: Any) -> Any:
    """The spiral of Chen et al. (2018), with a force."""
    return xp.matmul(a, y**3) + xp.sin(t) * 0.1


def total(ys: Any) -> Any:
    return xp.sum(ys * ys)


def test_the_solution_agrees_with_scipy(device: Any) -> None:
    integrate = pytest.importorskip("scipy.integrate")
    known = integrate.solve_ivp(
        lambda t, y: A @ y**3 + np.sin(t) * 0.1, (0, 2), START, t_eval=TIMES, rtol=1e-11, atol=1e-11
    ).y.T
    y0, t, a = (array(device, x, "float64") for x in (START, TIMES, A))
    found = odeint(spiral, y0, t, a)
    assert type(found) is type(y0)
    np.testing.assert_allclose(on_host(found), known, atol=1e-6)
    np.testing.assert_allclose(on_host(odeint(spiral, y0, list(TIMES), a, rtol=1e-9, atol=1e-9)), known, atol=1e-7)
    coarse = odeint(spiral, *(array(device, x, "float32") for x in (START, TIMES, A)))
    assert Variable(coarse).dtype == Variable(array(device, 1.0, "float32")).dtype
    np.testing.assert_allclose(on_host(coarse), known, atol=5e-2)


@pytest.mark.parametrize("options", WAYS)
def test_gradients_of_closed_forms(device: Any, options: Any) -> None:
    y0, rate = variable(device, [1.0, 2.0], "float64"), variable(device, 0.7, "float64")
    times = variable(device, [0.5, 1.0, 2.0], "float64")
    ys = odeint(lambda y, t: -rate * y, y0, times, rtol=1e-9, atol=1e-9, **options)  # the rate is captured
    t = np.asarray([0.0, 0.5, 1.5])
    np.testing.assert_allclose(on_host(ys), np.exp(-0.7 * t)[:, None] * [1.0, 2.0], rtol=1e-8)
    gs = [on_host(g) for g in xpgrad.grad([xp.sum(ys)], [y0, rate, times])]
    decay = np.exp(-0.7 * t)
    np.testing.assert_allclose(gs[0], [decay.sum()] * 2, rtol=1e-7)
    np.testing.assert_allclose(gs[1], -3 * (t * decay).sum(), rtol=1e-7)
    by_time = -0.7 * 3 * decay * [0, 1, 1]
    np.testing.assert_allclose(gs[2], by_time - [by_time.sum(), 0, 0], rtol=1e-7)


@pytest.mark.parametrize("options", WAYS)
def test_second_derivatives(device: Any, options: Any) -> None:
    y0 = array(device, [0.5, 0.3], "float64")
    f = lambda y0: total(odeint(lambda y, t: y * y, y0, [0.0, 1.0], rtol=1e-8, atol=1e-8, **options)[1, ...])  # noqa: E731
    x, v = on_host(y0), np.asarray([1.0, -2.0])
    (found,) = hvp(f, (y0,), (array(device, v, "float64"),))
    # y(1) = x / (1 - x), and the second derivative of its square is 2 (1 + 2 x) / (1 - x) ** 4
    np.testing.assert_allclose(on_host(found), 2 * (1 + 2 * x) / (1 - x) ** 4 * v, rtol=1e-5)


def test_trees_complex_numbers_and_times_that_decrease(device: Any) -> None:
    ys = odeint(
        lambda y, t: {"a": y["b"], "b": -y["a"], "z": [1j * y["z"][0]]},
        {"a": variable(device, 1.0, "float64"), "b": variable(device, 0.0, "float64"),
         "z": [variable(device, 1.0, "complex128")]},
        [0.0, -0.5, -1.0],
    )  # fmt: skip
    t = np.asarray([0.0, -0.5, -1.0])
    for found, known in ((ys["a"], np.cos(t)), (ys["b"], -np.sin(t)), (ys["z"][0], np.exp(1j * t))):
        np.testing.assert_allclose(on_host(found), known, atol=1e-7)
    z = variable(device, 1.0 + 0.5j, "complex128")
    for options in WAYS:
        y = odeint(lambda y, t: (0.2 + 1j) * y * y, z, [0.0, 0.5], rtol=1e-9, atol=1e-9, **options)[1]
        (g,) = xpgrad.grad([xp.real(y)], [z])
        derivative = 1 / (1 - (0.2 + 1j) * 0.5 * (1.0 + 0.5j)) ** 2  # of z / (1 - c t z)
        np.testing.assert_allclose(on_host(g), np.conj(derivative), rtol=1e-6)


def test_one_time_gives_the_start(device: Any) -> None:
    y0 = variable(device, START, "float64")
    for options in WAYS:
        ys = odeint(lambda y, t: y, y0, [1.0], **options)
        np.testing.assert_array_equal(on_host(ys), [START])


@pytest.mark.parametrize("options", WAYS)
def test_members_of_a_batch_share_the_smallest_steps(device: Any, options: Any) -> None:
    rates = array(device, [1.0, 2.0, 5.0], "float64")

    def last(k: Any) -> Any:
        return odeint(lambda y, t: -k * y, array(device, [1.0], "float64"), [0.0, 0.5, 1.0], **options)[-1][0]

    np.testing.assert_allclose(on_host(vmap(last)(rates)), np.exp([-1.0, -2.0, -5.0]), rtol=1e-6)
    np.testing.assert_allclose(on_host(vmap(grad(last))(rates)), -np.exp([-1.0, -2.0, -5.0]), rtol=1e-5)


@pytest.mark.parametrize("adjoint", ["discrete", "continuous"])
def test_equal_times_have_equal_solutions_each_with_its_gradient(adjoint):
    def solution(y, k, t):
        return odeint(lambda y, t: -k * y, y, t, adjoint=adjoint)

    y, k, t = np.asarray([1.0, 2.0]), np.asarray(0.7), np.asarray([0.0, 0.0, 0.5, 0.5, 1.0, 1.0, 1.0])
    exact = y * np.exp(-k * t[:, None])
    np.testing.assert_allclose(solution(y, k, t), exact, rtol=1e-6)
    w = np.arange(14.0).reshape(7, 2) / 10
    gy, gk, gt = grad(lambda *args: xp.sum(w * solution(*args)), argnums=(0, 1, 2))(y, k, t)
    assert_near([gy, gk], [np.sum(w * np.exp(-k * t[:, None]), axis=0), np.sum(w * -t[:, None] * exact)], rtol=1e-6)
    slopes = np.sum(w * -k * exact, axis=1)
    assert_near([gt[1:], gt[0]], [slopes[1:], -np.sum(slopes[1:])], rtol=1e-6)


@pytest.mark.parametrize("adjoint", ["discrete", "continuous"])
def test_members_of_a_batch_may_have_times_of_their_own(adjoint):
    def total(t, k):
        return xp.sum(odeint(lambda y, t: -k * t * y, np.asarray(2.0), t, adjoint=adjoint))

    t, k = np.asarray([[0.0, 1.0, 1.5], [0.0, 0.5, 0.5]]), np.asarray([0.7, 1.3])
    y = 2 * np.exp(-k[:, None] * t**2 / 2)
    np.testing.assert_allclose(vmap(total)(t, k), np.sum(y, axis=1), rtol=1e-7)
    by_t, by_k = vmap(grad(total, (0, 1)))(t, k)
    np.testing.assert_allclose(by_t, -k[:, None] * t * y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(by_k, np.sum(-(t**2) / 2 * y, axis=1), rtol=1e-5)
    tangents = vmap(lambda t, k: jvp(lambda t: total(t, k), (t,), (np.ones(3),))[1])(t, k)
    np.testing.assert_allclose(tangents, np.sum(-k[:, None] * t * y, axis=1), rtol=1e-5)
