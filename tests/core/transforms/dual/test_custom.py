"""Functions with gradients of the user's in forward mode: `custom_vjp`, `FunctionNode`, and implicit functions."""

import numpy as np
import pytest
from tests.building import assert_near
from tests.core.transforms.references import T, X

from xpgrad import FunctionNode, Variable, primitive, using_config
from xpgrad import array_api as xp
from xpgrad.errors import GradientError
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import (
    custom_linear_solve,
    custom_root,
    custom_vjp,
    grad,
    hvp,
    jvp,
    linearize,
    stop_gradient,
    vmap,
)


def with_gradient(factor):
    """The sine with a derivative that is `factor` times the true derivative."""

    @custom_vjp
    def sine(x):
        return xp.sin(x)

    sine.defvjp(lambda x: (xp.sin(x), (x, xp.cos(x))), lambda kept, gy: (gy * xp.cos(kept[0]) * factor,))
    return sine


class Sine(FunctionNode):
    """The sine with a derivative that is 3 times the true one, computed by the library."""

    def forward(self, inputs):
        (x,) = inputs
        self.library = x.__array_namespace__() if hasattr(x, "__array_namespace__") else np
        self.retain_inputs((0,))
        return (self.library.sin(x),)

    def backward(self, target_input_indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        return (3 * xp.cos(x) * grad_outputs[0],)


class Outside(Sine):
    def backward(self, target_input_indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        return (Variable(self.library.cos(x.array) * grad_outputs[0].array),)


USERS = {"custom_vjp": with_gradient(3.0), "FunctionNode": lambda x: Sine().apply((x,))[0]}


@pytest.mark.parametrize("f", USERS.values(), ids=USERS)
def test_the_tangent_agrees_with_the_users_gradient(point, f):
    x, t = point
    y, tangent = jvp(f, (x,), (t,))
    assert_near([y, tangent], [np.sin(X), 3 * np.cos(X) * T])
    np.testing.assert_allclose(on_host(hvp(lambda x: xp.sum(f(x)), (x,), (t,))[0]), -3 * np.sin(X) * T)
    np.testing.assert_allclose(on_host(grad(lambda x: xp.sum(jvp(f, (x,), (t,))[1]))(x)), -3 * np.sin(X) * T)
    np.testing.assert_allclose(on_host(jvp(lambda x: jvp(f, (x,), (t,))[1], (x,), (t,))[1]), -3 * np.sin(X) * T * T)
    np.testing.assert_allclose(on_host(jvp(lambda x: jvp(f, (x,), (t,))[0], (x,), (t,))[1]), 3 * np.cos(X) * T)
    np.testing.assert_allclose(on_host(grad(lambda x: xp.sum(jvp(f, (x,), (t,))[0]))(x)), 3 * np.cos(X))


def test_a_rule_of_defjvp_gives_the_tangent(point):
    x, t = point
    sine = with_gradient(3.0)
    sine.defjvp(lambda primals, tangents: (xp.sin(primals[0]), 5 * xp.cos(primals[0]) * tangents[0]))
    np.testing.assert_allclose(on_host(jvp(sine, (x,), (t,))[1]), 5 * np.cos(X) * T)
    np.testing.assert_allclose(on_host(jvp(lambda x: jvp(sine, (x,), (t,))[1], (x,), (t,))[1]), -5 * np.sin(X) * T * T)
    np.testing.assert_allclose(on_host(grad(lambda x: xp.sum(sine(x)))(x)), 3 * np.cos(X))


def test_defjvp_suffices_without_gradients(point):
    x, t = point

    @custom_vjp
    def f(tree, count):
        return {"y": tree["x"] ** count, "n": count}

    def rule(primals, tangents):
        (tree, count), (change, nothing) = primals, tangents
        assert nothing is None
        return f.function(tree, count), {"y": count * tree["x"] ** (count - 1) * change["x"], "n": None}

    f.defjvp(rule)
    y, tangent = jvp(lambda x: f({"x": x}, 3)["y"], (x,), (t,))
    np.testing.assert_allclose([on_host(y), on_host(tangent)], [X**3, 3 * X**2 * T])
    f.defjvp(lambda primals, tangents: primals[0]["x"])
    with pytest.raises(TypeError, match=r"custom_vjp of f: the rule of defjvp must return \(output, tangent\)"):
        jvp(lambda x: f({"x": x}, 3)["y"], (x,), (t,))


class PartlyOutside(Sine):
    def backward(self, target_input_indexes, grad_outputs):
        (x,) = self.get_retained_inputs()
        slope = self.library.cos(x.array)
        return (grad_outputs[0] * slope + Variable(slope * grad_outputs[0].array),)


def test_debug_mode_finds_a_gradient_that_is_computed_outside_of_the_graph_in_part(point):
    x, t = point
    with using_config("debug", True):
        jvp(lambda x: Sine().apply((x,))[0], (x,), (t,))
        with pytest.raises(GradientError, match="PartlyOutside: its tangent and its gradient belong to different f"):
            jvp(lambda x: PartlyOutside().apply((x,))[0], (x,), (t,))


def test_a_rule_of_a_primitive_outside_of_the_graph_is_an_error():
    @primitive(x=lambda xp, gy, x: np.flip(np.cumsum(np.flip(on_host(gy)))) * on_host(x))
    def accumulated(xp, x, /):
        return np.cumsum(x * x) / 2

    with pytest.raises(GradientError, match=r"its gradient is computed outside of the graph"):
        jvp(accumulated, (X,), (T,))


def test_a_gradient_that_cannot_be_transposed_is_an_error_that_names_defjvp(point):
    x, t = point
    with pytest.raises(GradientError, match=r"Outside: its gradient is computed outside of the graph.*defjvp"):
        jvp(lambda x: Outside().apply((x,))[0], (x,), (t,))
    push = vmap(lambda x, t: jvp(lambda x: Outside().apply((x,))[0], (x,), (t,)))
    with pytest.raises(GradientError, match=r"Outside: its gradient is computed outside of the graph.*defjvp"):
        push(xp.stack([x, x]), xp.stack([t, t]))
    with pytest.raises(GradientError, match="linearize: its gradient is computed outside of the graph"):
        linearize(lambda x: Outside().apply((x,))[0], x)
    unfinished = custom_vjp(xp.sin)
    with pytest.raises(GradientError, match=r"call defvjp\(forward, backward\), or defjvp\(rule\)"):
        jvp(unfinished, (x,), (t,))
    unfinished.defjvp(lambda primals, tangents: (xp.sin(primals[0]), tangents[0] * xp.cos(primals[0])))
    with pytest.raises(GradientError, match=r"sin has no gradient yet; call defvjp\(forward, backward\)"):
        hvp(lambda x: xp.sum(unfinished(x)), (x,), (t,))


def cube_root(a):
    def newton(f, x):
        for _ in range(40):
            x = x - f(x) / (3 * x * x)
        return x

    return custom_root(lambda x: x**3 - a, xp.ones_like(a), newton, lambda g, y: y / g(xp.ones_like(y)))


def solution(b):
    return custom_linear_solve(lambda x: (2 + b * b) * x, b, lambda f, b: b / f(xp.ones_like(b)), symmetric=True)


@pytest.mark.parametrize("f", [cube_root, solution])
def test_tangents_of_solutions_are_solutions_of_linear_equations(point, f):
    x, t = point
    _, tangent = jvp(f, (x,), (t,))
    np.testing.assert_allclose(on_host(tangent), on_host(linearize(f, x)[1](t)))
    expected = on_host(linearize(lambda x: grad(lambda x: xp.sum(f(x)))(x), x)[1](t))
    np.testing.assert_allclose(on_host(hvp(lambda x: xp.sum(f(x)), (x,), (t,))[0]), expected)
    np.testing.assert_allclose(on_host(grad(lambda x: xp.sum(jvp(f, (x,), (t,))[1]))(x)), expected)
    np.testing.assert_allclose(on_host(jvp(lambda x: jvp(f, (x,), (t,))[1], (x,), (t,))[1]), expected * T)


def test_the_search_of_a_root_is_not_differentiated(point):
    x, t = point
    steps = []

    def once(f, start):
        steps.append(f(start))
        return cube_root(Variable(x))

    f = lambda a: custom_root(lambda x: x**3 - a, a, once, lambda g, y: y / g(xp.ones_like(y)))  # noqa: E731
    np.testing.assert_allclose(on_host(jvp(f, (x,), (t,))[1]), T * X ** (-2 / 3) / 3)
    assert steps[0]._array.tangent is None


def test_members_of_batches_have_the_tangents_of_the_users_gradient(point):
    x, t = point
    sine = with_gradient(3.0)
    assert_near(
        [jvp(vmap(sine), (x,), (t,))[1], vmap(lambda a, d: jvp(sine, (a,), (d,))[1])(x, t)], [3 * np.cos(X) * T] * 2
    )
    assert_near([vmap(grad(sine))(x), grad(lambda x: xp.sum(vmap(sine)(x)))(x)], [3 * np.cos(X)] * 2)
    slopes = X ** (-2 / 3) / 3
    assert_near([jvp(vmap(cube_root), (x,), (t,))[1], vmap(grad(cube_root))(x)], [slopes * T, slopes])
    for constant in (stop_gradient, lambda a: a.array):
        product = vmap(lambda a, constant=constant: a * constant(a))
        np.testing.assert_allclose(on_host(jvp(product, (x,), (t,))[1]), X * T)
