"""`custom_vjp` and `stop_gradient`."""

import numpy as np
import pytest
from tests.building import array, assert_near, values, variable

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import GradientError, GraphError
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import checkpoint, custom_vjp, grad, hessian, jvp, stop_gradient


def product(keep):
    """``sin(x) * y`` as a custom function that retains the arrays in `keep`."""

    @custom_vjp
    def f(x, y):
        """Documented."""
        return xp.sin(x) * y

    def forward(x, y):
        out = f(x, y)
        return out, {"inputs": (x, y), "computed": (xp.cos(x), x, y), "output": (out, x, y)}[keep]

    def backward(kept, g):
        x, y = kept[-2:]
        cos = {"inputs": lambda: xp.cos(x), "computed": lambda: kept[0]}.get(keep, lambda: xp.cos(x))()
        other = kept[0] / y if keep == "output" else xp.sin(x)
        return g * cos * y, g * other

    f.defvjp(forward, backward)
    return f


@pytest.mark.parametrize("keep", ["inputs", "computed", "output"])
def test_all_orders_agree_with_the_formula(device, keep):
    f, x, y = product(keep), array(device, [0.3, 0.4], "float64"), array(device, [1.0, 2.0], "float64")
    plain = lambda x, y: xp.sin(x) * y  # noqa: E731

    def all_orders(f):
        total = lambda x, y: xp.sum(f(x, y))  # noqa: E731
        third = grad(lambda x, y: xp.sum(grad(lambda x, y: xp.sum(grad(total)(x, y)))(x, y)), (0, 1))
        return [*grad(total, (0, 1))(x, y), *hessian(total, (0, 1))(x, y)[0], *third(x, y), jvp(f, (x, y), (y, x))[1]]

    assert_near(all_orders(f), all_orders(plain), rtol=1e-12)


def test_trees_static_arguments_and_missing_cotangents(device):
    @custom_vjp
    def f(p, n, name):
        return {"a": p["x"] * n, "b": p["y"], "n": 3}

    seen = []

    def backward(kept, g):
        seen.append(g)
        return {"x": g["a"] * kept, "y": None}, None, None

    f.defvjp(lambda p, n, name: (f(p, n, name), n), backward)
    x, y = variable(device, [1.0, 2.0]), variable(device, 5.0)
    out = f({"x": x, "y": y}, 7, name="static")
    assert values(out["n"]) == 3
    xp.sum(out["a"]).backward()
    assert (values(x.grad), y.grad) == ([7.0, 7.0], None)
    assert values(seen[0]["b"]) == 0.0
    assert seen[0]["n"] is None


def test_complex_gradients_use_the_convention_of_users(device):
    @custom_vjp
    def square(z):
        return z * z

    square.defvjp(lambda z: (z * z, z), lambda z, g: (g * xp.conj(2 * z),))
    z = array(device, [1 + 2j, 3 - 1j], "complex128")
    for f in (square, lambda z: z * z):
        found = grad(lambda z, f=f: xp.sum(xp.real(f(z))))(z)
        np.testing.assert_allclose(on_host(found), np.conj(2 * on_host(z)))


def test_an_argument_that_is_returned_as_it_came_is_kept_as_an_argument(device):
    @custom_vjp
    def same(x):
        return x

    same.defvjp(lambda x: (x, x), lambda x, g: (g * x * x,))
    x = array(device, 3.0, "float64")
    assert (values(grad(same)(x)), values(grad(grad(same))(x))) == (9.0, 6.0)


def test_a_method_can_be_custom(device):
    class Scaler:
        factor = 3

        @custom_vjp
        def scale(self, x):
            return x * self.factor

        scale.defvjp(lambda self, x: (x * self.factor, self.factor), lambda factor, g: (None, g * factor))

    assert values(grad(lambda x: xp.sum(Scaler().scale(x)))(array(device, [1.0]))) == [3.0]


def test_without_a_graph_the_function_itself_runs(device):
    f = product("inputs")
    f.defvjp(None, None)
    x = variable(device, [1.0])
    with xpgrad.no_backprop_mode():
        assert not f(x, x).requires_grad
    assert f.__doc__ == "Documented."


def test_an_unfinished_definition_raises_a_clear_error(device):
    f = custom_vjp(lambda x: x)
    with pytest.raises(GradientError, match="has no gradient yet; call defvjp"):
        f(variable(device, [1.0]))
    with pytest.raises(TypeError, match="custom_vjp: expected a function, got int"):
        custom_vjp(3)


def test_result_of_backward_is_validated(device):
    x = variable(device, [1.0, 2.0])
    f = custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, None), lambda kept, g: (g,))
    with pytest.raises(GradientError, match="backward must return 2 gradients, one for each argument, got 1"):
        xp.sum(f(x, x)).backward()
    f.defvjp(lambda x, y: (x * y, None), lambda kept, g: (xp.sum(g), g))
    with pytest.raises(ValueError, match="custom_vjp of"):
        xp.sum(f(x, x)).backward()
    f.defvjp(lambda x, y: x * y, lambda kept, g: (g, g))
    with pytest.raises(TypeError, match=r"forward must return \(output, kept\), got Variable"):
        f(x, x)


@pytest.mark.parametrize("f", [product("computed"), checkpoint(lambda x, y: x * y)], ids=["custom_vjp", "checkpoint"])
def test_a_released_function_raises_a_clear_error(device, f):
    x = variable(device, [1.0])
    y = f(x, x)
    y.backward(retain_graph=False)
    with pytest.raises(GraphError, match="retain_graph"):
        y.backward()


def test_stop_gradient(device):
    x = variable(device, [2.0])
    tree = stop_gradient({"a": x * 2, "b": "text", "c": x.array})
    assert (tree["b"], tree["c"]) == ("text", x.array)
    assert isinstance(tree["a"], Variable)
    assert not tree["a"].requires_grad
    assert values(grad(lambda x: xp.sum(x * stop_gradient(x)))(x)) == [2.0]
