"""`vjp` and `linearize`."""

import warnings

import numpy as np
import pytest
from tests.building import array, assert_near, place, values, variable
from tests.core.transforms.references import outputs

from xpgrad import Function, FunctionNode, Variable, as_variable, compile
from xpgrad import array_api as xp
from xpgrad.errors import GradientError, StructureError
from xpgrad.functions import dropout
from xpgrad.plugin import unchecked_vjp
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import checkpoint, custom_vjp, grad, jvp, linearize, odeint, products, scan, vjp, vmap


def test_vjp(device, primals):
    out, pullback = vjp(outputs, *primals)
    x, a = np.array([0.3, 0.7]), np.array([2.0, 3.0])
    np.testing.assert_allclose(on_host(out["y"]), np.sin(x) * a)
    seed = {"z": array(device, 2.0, "float64"), "y": array(device, [1.0, -1.0], "float64")}
    gx, gp = pullback(seed)
    assert_near([gx, gp["a"]], [np.cos(x) * a * [1, -1] + 4 * x, np.sin(x) * [1, -1]])
    assert place(gx) == place(primals[0])
    assert values(pullback(seed)[0]) == values(gx)


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


WEIGHT = [[0.1, 0.7, -0.4], [0.3, -0.2, 0.5], [0.6, 0.2, 0.8]]


class Product(FunctionNode):
    def forward(self, inputs):
        self.retain_inputs((0, 1))
        return (inputs[0] * inputs[1],)

    def backward(self, targets, gys):
        return tuple(gys[0] * self.get_retained_inputs()[1 - i] for i in targets)


@custom_vjp
def sine(x):
    return xp.sin(x)


sine.defvjp(lambda x: (xp.sin(x), x), lambda x, gy: (gy * xp.cos(x),))


def doubled(x):
    y = x * x[0]
    y.register_hook(lambda gy: gy * 2)
    return y


FUNCTIONS = {  # of x and w; the graph of each retains other things
    "primitives": lambda x, w: xp.tanh(w @ x) * x,
    "dropout": lambda x, w: dropout(w @ x) * x,
    "lazy": lambda x, w: xp.stack([x[0] * x[1], x[1], xp.sum(w[xp.asarray([0, 0, 2], device=x.device), ...] @ x)]),
    "decomposition": lambda x, w: xp.real(xp.linalg.eigvals(w + x)) * x,
    "node": lambda x, w: Product().apply((w[0, ...], x))[0] * x,
    "custom_vjp": lambda x, w: sine(w @ x),
    "hooks": lambda x, w: doubled(w @ x),
    "checkpoint": lambda x, w: checkpoint(lambda x: dropout(sine(w @ x)))(x),
    "compile": lambda x, w: compile(lambda x: dropout(xp.sin(w @ x)))(x),
    "scan": lambda x, w: scan(lambda c, row: (c * xp.sum(row * x), xp.sin(c)), x[0], w)[1],
    "traced scan": lambda x, w: compile(lambda x, w: scan(lambda c, row: (c * xp.sum(row * x), c), x[0], w)[1])(x, w),
    "adjoint": lambda x, w: odeint(lambda y, t: w @ y * x[0], x, [0.0, 0.1], adjoint="continuous")[-1, ...],
    "odeint": lambda x, w: odeint(lambda y, t: w @ y * x[0], x, [0.0, 0.1])[-1, ...],
}
FORMS = {
    "vmap": vmap,
    "axes": lambda f: lambda c: xp.matrix_transpose(vmap(f, 1, 1)(xp.matrix_transpose(c))),
    "jvp": lambda f: lambda c: jvp(vmap(f), (c,), (c,))[1],
    "compile": lambda f: compile(vmap(f)),
    "vmap of compile": lambda f: vmap(compile(f)),
    "vmap of vmap": lambda f: lambda c: vmap(vmap(f))(c[None, ...])[0, ...],
}


def linear_maps(f, x):
    """Return the pullback and the pushforward of a function of one array, made outside of other transformations."""
    pullback, push = vjp(f, x)[1], linearize(f, x)[1]
    return [lambda gy: pullback(gy)[0], push]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_pullbacks_and_pushforwards_are_called_within_other_transformations(name, device):
    x, w = array(device, [0.3, 0.7, 1.1], "float64"), variable(device, WEIGHT, "float64")
    rows = array(device, [[1.0, -2.0, 0.5], [0.3, 0.4, 2.0]], "float64")
    for linear in linear_maps(lambda x: FUNCTIONS[name](x, w), x):
        expected = np.stack([on_host(linear(rows[i, ...])) for i in range(2)])
        for form in FORMS.values():
            np.testing.assert_allclose(on_host(as_variable(form(linear)(rows)).array), expected, 1e-9, 1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_batched_pullback_is_differentiated_by_all_that_it_depends_on(name, device):
    x, w = variable(device, [0.3, 0.7, 1.1], "float64"), variable(device, WEIGHT, "float64")
    rows = variable(device, [[1.0, -2.0, 0.5], [0.3, 0.4, 2.0]], "float64")
    pullback, _ = linear_maps(lambda x: FUNCTIONS[name](x, w), x)
    found = []
    for result in (vmap(pullback)(rows), xp.stack([pullback(rows[i, ...]) for i in range(2)])):
        xp.sum(xp.sin(result)).backward()
        found.append(np.concatenate([np.ravel(on_host(v.grad)) for v in (x, w, rows)]))
        for v in (x, w, rows):
            v.cleargrad()
    np.testing.assert_allclose(*found, 1e-9, 1e-12)


@pytest.mark.parametrize("name", ["primitives", "lazy", "scan"])
def test_pullbacks_made_within_a_transformation_are_called_within_another(name, device):
    x, w = array(device, [0.3, 0.7, 1.1], "float64"), variable(device, WEIGHT, "float64")
    rows = array(device, [[1.0, -2.0, 0.5], [0.3, 0.4, 2.0]], "float64")
    f = lambda x: vmap(linear_maps(lambda x: FUNCTIONS[name](x, w), x)[0])(rows)  # noqa: E731
    expected = on_host(f(x))
    for found in (compile(f)(x), vmap(f)(x[None, ...])[0, ...]):
        np.testing.assert_allclose(on_host(found), expected, 1e-9, 1e-12)


def test_a_batched_pullback_of_trees(device):
    a, b = array(device, [1.0 + 2j, 3.0 - 1j], "complex128"), array(device, [0.5, 0.25], "float64")
    _, pullback = vjp(lambda p, unused: {"y": p["a"] * p["b"], "z": [xp.sum(p["b"] ** 2)]}, {"a": a, "b": b}, b)
    y = array(device, [[1j, 2.0], [1.0 - 1j, 0.5]], "complex128")
    z = array(device, [2.0, 3.0], "float64")
    grads, zeros = vmap(pullback)({"y": y, "z": [z]})
    loop = [pullback({"y": y[i, ...], "z": [z[i, ...]]})[0] for i in range(2)]
    for name in "ab":
        assert values(grads[name]) == [values(each[name]) for each in loop]
    assert values(zeros) == [[0.0, 0.0]] * 2


def test_a_compiled_pullback_keeps_the_arrays_of_its_graph(device):
    w, x = variable(device, [2.0, 3.0]), array(device, [1.0, 2.0])
    step = compile(vjp(lambda x: x * w, x)[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in range(8):
            assert values(step(x)[0]) == [2.0, 6.0]
            if call > 2:
                w.array = w.array * 2  # the graph keeps the first array


class OldSquare(Function):
    def forward(self, inputs):
        return (inputs[0] ** 2,)

    def backward(self, inputs, gys):
        return (2 * inputs[0] * gys[0],)


@pytest.mark.parametrize("inner", [vmap(xp.sin), lambda x: jvp(xp.sin, (x,), (x,))[1], lambda x: OldSquare()(x)])
def test_a_pullback_of_a_transformation_or_of_arrays_does_not_enter_another(inner):
    _, pullback = vjp(inner, np.ones(3))
    with pytest.raises(
        GradientError, match=r"(vmap|jvp|OldSquare): .*expected a cotangent of the level where .*; call vjp or"
    ):
        vmap(pullback)(np.eye(3))
    with pytest.raises(GradientError, match=r"expected float64 \(3,\) on @numpy, got float32 \(3,\) on @batch"):
        vmap(pullback)(np.eye(3, dtype="float32"))


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
    assert_near(out, expected)
    both, one, other = push(a, {"a": b}), push(a, {"a": zeros}), push(zeros, {"a": b})
    assert_near(both, tangent)
    assert_near(both, {name: on_host(one[name]) + on_host(other[name]) for name in both})


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
