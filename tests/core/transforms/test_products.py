"""`vjp` and `linearize`."""

import numpy as np
import pytest
from tests.building import array, place, values, variable

from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import GradientError, StructureError
from xpgrad.plugin import unchecked_vjp
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import grad, jvp, linearize, products, vjp, vmap


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


def test_a_cotangent_of_another_transformation_is_named():
    _, pullback = vjp(lambda x: x * x, np.ones(3))
    with pytest.raises(GradientError, match=r"got float64 \(3,\) on @batch\(numpy\); call vjp within the"):
        vmap(pullback)(np.eye(3))


def checked(f, primals):
    outputs, pullback = vjp(f, primals, allow_constant=True)
    return outputs, lambda cotangents: pullback(cotangents)[0]


@pytest.mark.parametrize("made", [checked, unchecked_vjp])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_vjp_of_lists(made, dtype, device, monkeypatch):
    primals = [array(device, [0.3, 0.7], dtype), array(device, [2.0, 3.0], dtype), array(device, [1.0], dtype)]
    starts, between = [], products.between
    monkeypatch.setattr(products, "between", lambda *given: starts.append(given) or between(*given))
    outputs, pullback = made(lambda given: [given[0] * given[1] + given[2], given[0], xp.sum(given[1])], primals)
    seeds = [array(device, [1.0, -1.0], dtype), array(device, [0.5, 0.5], dtype), array(device, 2.0, dtype)]
    for _ in range(2):
        found = pullback(seeds)
        assert list(map(values, found)) == [[2.5, -2.5], pytest.approx([2.3, 1.3]), [0.0]]
        assert [place(g) for g in found] == [place(x) for x in primals]
    assert values(outputs[2]) == 5.0
    assert len(starts) == (made is unchecked_vjp)  # the functions in between are found once
    constant, _ = made(lambda given: [], primals)
    assert constant == []


@pytest.mark.parametrize("made", [checked, unchecked_vjp])
def test_vjp_of_lists_is_connected(made, device):
    x, u = variable(device, [0.3, 0.7], "float64"), variable(device, [1.0, 2.0], "float64")

    def pulled(x, u):
        outputs, pullback = made(lambda given: [given[0] ** 3], [x])
        assert isinstance(outputs[0], Variable)
        return xp.sum(outputs[0] * pullback([u])[0])

    slope = 15 * np.array([0.3, 0.7]) ** 4 * [1, 2]
    pulled(x, u).backward()
    np.testing.assert_allclose(on_host(x.grad), slope)
    within = grad(pulled)(array(device, [0.3, 0.7], "float64"), array(device, [1.0, 2.0], "float64"))
    np.testing.assert_allclose(on_host(within), slope)
    rows = vmap(grad(pulled))(*(xp.stack([v, v * 2]).array for v in (x, u)))
    np.testing.assert_allclose(on_host(rows), [slope, slope * 32])
    _, pullback = made(lambda given: [given[0] * given[0]], [array(device, [0.3, 0.7], "float64")])
    xp.sum(pullback([u])[0]).backward()
    np.testing.assert_allclose(on_host(u.grad), np.array([0.3, 0.7]) ** 5 * 3 + [0.6, 1.4])


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
