"""`vjp` and `linearize`."""

import numpy as np
import pytest
from tests.building import array, place, values, variable

from xpgrad import array_api as xp
from xpgrad.errors import GradientError, StructureError
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import grad, jvp, linearize, vjp


def outputs(x, p):
    return {"y": xp.sin(x) * p["a"], "z": xp.sum(x * x)}


@pytest.fixture
def primals(device):
    return array(device, [0.3, 0.7], "float64"), {"a": array(device, [2.0, 3.0], "float64")}


def test_vjp(device, primals):
    out, pullback = vjp(outputs, *primals)
    x, a = np.array([0.3, 0.7]), np.array([2.0, 3.0])
    np.testing.assert_allclose(on_host(out["y"]), np.sin(x) * a)
    seed = {"z": array(device, 2.0, "float64"), "y": array(device, [1.0, -1.0], "float64")}
    gx, gp = pullback(seed)
    np.testing.assert_allclose(on_host(gx), np.cos(x) * a * [1, -1] + 4 * x)
    np.testing.assert_allclose(on_host(gp["a"]), np.sin(x) * [1, -1])
    assert place(gx) == place(primals[0])
    assert values(pullback(seed)[0]) == values(gx)


def test_a_pullback_of_a_variable_is_connected(device, primals):
    _, pullback = vjp(lambda x: x * x, primals[0])
    u = variable(device, [1.0, 2.0], "float64")
    (gx,) = pullback(u)
    xp.sum(gx).backward()
    np.testing.assert_allclose(on_host(u.grad), [0.6, 1.4])


def test_vjp_with_aux(device):
    out, pullback, aux = vjp(lambda x: (x * 2, "aux"), array(device, [1.0]), has_aux=True)
    assert (values(out), aux) == ([2.0], "aux")
    assert values(pullback(array(device, [3.0]))[0]) == [6.0]


def test_a_scalar_is_a_cotangent_of_a_number(device):
    _, pullback = vjp(xp.sum, array(device, [1.0, 2.0]))
    assert values(pullback(2.0)[0]) == [2.0, 2.0]


@pytest.mark.parametrize(
    ("cotangent", "error", "text"),
    [
        ([1.0], GradientError, r"vjp: cotangent at \['y'\]: expected float32 \(2,\) on .*, got float32 \(1,\)"),
        (None, StructureError, "vjp: cotangent: expected a dict, got None"),
    ],
)
def test_a_cotangent_must_fit(device, cotangent, error, text):
    _, pullback = vjp(lambda x: {"y": x}, array(device, [1.0, 2.0]))
    with pytest.raises(error, match=text):
        pullback(cotangent and {"y": array(device, cotangent)})


def test_linearize_gives_the_output_and_a_linear_map_of_tangents(device, primals):
    out, push = linearize(outputs, *primals)
    a, b = array(device, [1.0, -2.0], "float64"), array(device, [0.5, 0.25], "float64")
    zeros = array(device, [0.0, 0.0], "float64")
    expected, tangent = jvp(outputs, primals, (a, {"a": b}))
    np.testing.assert_allclose(on_host(out["y"]), on_host(expected["y"]))
    both, one, other = push(a, {"a": b}), push(a, {"a": zeros}), push(zeros, {"a": b})
    for name in "yz":
        np.testing.assert_allclose(on_host(both[name]), on_host(tangent[name]))
        np.testing.assert_allclose(on_host(both[name]), on_host(one[name]) + on_host(other[name]))


def test_a_pushforward_of_a_variable_is_connected(device):
    x, t = array(device, [0.3], "float64"), variable(device, [2.0], "float64")
    _, push = linearize(xp.sin, x)
    xp.sum(push(t)).backward()
    np.testing.assert_allclose(on_host(t.grad), np.cos([0.3]))
    f = lambda x: xp.sum(linearize(xp.sin, x)[1](array(device, [1.0], "float64")))  # noqa: E731
    np.testing.assert_allclose(on_host(grad(f)(x)), -np.sin([0.3]))


def test_a_pushforward_has_zeros_for_integers_and_constants(device):
    x = array(device, [1.0, 2.0])
    out, push = linearize(lambda x: {"n": xp.argmax(x), "one": xp.ones_like(x)}, x)
    assert (values(out["n"]), values(push(x)["n"]), values(push(x)["one"])) == (1, 0, [0.0, 0.0])


def test_a_tangent_must_fit(device):
    x = array(device, [1.0, 2.0])
    _, push = linearize(xp.sin, x)
    with pytest.raises(TypeError, match="linearize: expected a tuple of 1 tangents"):
        push(x, x)
    with pytest.raises(GradientError, match=r"linearize: tangent 0: expected float32 \(2,\)"):
        push(array(device, [1.0]))
