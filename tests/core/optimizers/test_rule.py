"""The function form: trees, steps equal to the object's, and transformations."""

import numpy as np
import pytest
from tests.building import assert_near
from tests.core.optimizers.problems import OPTIMIZERS, Model, data, loss_of, made, values

import xpgrad
import xpgrad.array_api as xp
import xpgrad.functions as F
from xpgrad import optimizers
from xpgrad.errors import DtypeError, StructureError
from xpgrad.optimizers import schedules
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import grad, jvp, vmap

EXACT = {"SGD", "MomentumSGD", "CorrectedMomentumSGD", "NesterovAG", "AdaGrad", "RMSprop", "AdaDelta", "SMORMS3"}
"""Those without coefficients that are computed from the number of the step."""


def loss(params, x, y):
    return F.mean_squared_error(F.linear(x, params["/W"], params["/b"]) * params["/scale"], y)


def run(step, params, state, steps, *arguments):
    for _ in range(steps):
        params, state = step(params, state, *arguments)
    return params, state


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_function_form_makes_the_steps_of_the_object(device, name):
    model = Model().to_device(device)
    optimizer, (x, y) = made(name).setup(model), data(device=device)
    rule, params = optimizer.rule, {path: xpgrad.get_device(device).send(v) for path, v in values(model).items()}
    before = {path: np.array(on_host(w)) for path, w in params.items()}
    state = rule.init(params)
    got, after = run(lambda p, s: rule.update(p, grad(loss)(p, x, y), s), params, state, 5)
    for _ in range(5):
        optimizer.update(loss_of(model), x, y)
    check = (
        np.testing.assert_array_equal if name in EXACT else lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-11)
    )
    for path, value in values(model).items():
        check(on_host(got[path]), value)
        np.testing.assert_array_equal(on_host(params[path]), before[path])  # unchanged
    for key, array in model.W.update_rule.state.items():
        np.testing.assert_allclose(on_host(after[key]["/W"]), on_host(array), rtol=1e-10, atol=1e-300)
    assert float(on_host(after["t"])) == 5
    assert float(on_host(state["t"])) == 0


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_step_compiles_into_one_program(name):
    rule, (x, y), params = made(name).rule, data(), values(Model())
    state = rule.init(params)

    def step(params, state, x, y):
        return rule.update(params, grad(loss)(params, x, y), state)

    compiled = xpgrad.compile(step, strict=True)
    expected, _ = run(step, params, state, 6, x, y)
    got, _ = run(compiled, params, state, 6, x, y)
    assert compiled.cache_info().misses == 2
    assert_near(got, expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AMSBound", "RMSprop", "MSVAG"])
def test_function_form_is_differentiable_in_hyperparameters_and_start(name):
    rate = "alpha" if name in ("Adam", "AMSBound") else "lr"
    rule = made(name).rule

    def final(lr, w):
        state = rule.init(w)
        for _ in range(4):
            w, state = rule.update(w, grad(lambda w: xp.sum(w**4))(w), state, **{rate: lr})
        return xp.sum(w**4)

    lr, w, d = np.asarray(0.03), np.asarray([0.5, -1.0]), 1e-6
    for argnum in (0, 1):
        slope = grad(final, argnums=argnum)(lr, w)
        for i in range(slope.size):
            step = np.zeros(slope.shape)
            step.flat[i] = d
            points = [(lr + s * step, w) if argnum == 0 else (lr, w + s * step) for s in (1, -1)]
            numerical = (float(final(*points[0]).array) - float(final(*points[1]).array)) / (2 * d)
            assert slope.flat[i] == pytest.approx(numerical, rel=1e-4, abs=1e-7)
    _, tangent = jvp(lambda lr: final(lr, w), (lr,), (np.asarray(1.0),))
    np.testing.assert_allclose(tangent, grad(final)(lr, w), rtol=1e-9)


def test_runs_are_batched():
    rule = made("Adam").rule
    x, y = data()

    def train(alpha, params):
        state = rule.init(params)
        for _ in range(3):
            params, state = rule.update(params, grad(loss)(params, x, y), state, alpha=alpha)
        return params["/W"]

    params, alphas = values(Model()), np.asarray([0.01, 0.1, 1.0])
    together = vmap(train, in_axes=(0, None))(alphas, params)
    for one, alpha in zip(on_host(together), alphas, strict=True):
        np.testing.assert_allclose(one, on_host(train(np.asarray(alpha), params)), rtol=1e-12)


def test_trees_are_returned_as_they_came():
    rule = optimizers.Adam().rule
    params = [np.ones((2, 2), "float32"), {"b": (np.ones(3),)}]
    grads = [np.ones((2, 2), "float32"), {"b": (None,)}]
    state = rule.init(params)
    assert state["t"].dtype == "float64"
    got, state = rule.update(params, grads, state)
    assert got[0].dtype == "float32"
    assert isinstance(got[1]["b"], tuple)
    np.testing.assert_array_equal(got[1]["b"][0], 1.0)  # without a gradient
    assert isinstance(got[0], np.ndarray)
    variables = rule.update([xpgrad.Variable(params[0])], [params[0]], rule.init([params[0]]))
    assert isinstance(variables[0][0], xpgrad.Variable)


def test_a_model_is_a_tree():
    model, optimizer = Model(), made("Adam").setup(Model())
    rule, (x, y) = made("Adam").rule, data()
    state = rule.init(model)
    step = xpgrad.compile(lambda m, s, x, y: rule.update(m, grad(lambda m: loss_of(m)(x, y))(m), s))
    new = model
    for _ in range(4):
        new, state = step(new, state, x, y)
        optimizer.update(loss_of(optimizer.target), x, y)
    assert_near(values(optimizer.target), values(new), rtol=1e-11)


def test_schedules_are_functions_of_the_steps_in_the_state():
    rule = optimizers.SGD(lr=schedules.piecewise(1.0, {2: 0.5})).rule
    step = xpgrad.compile(lambda w, s: rule.update(w, np.ones(2), s))
    w, state = np.zeros(2), rule.init(np.zeros(2))
    moved = []
    for _ in range(4):
        before = w
        w, state = step(w, state)
        moved.append(float((before - w)[0]))
    assert moved == [1.0, 1.0, 0.5, 0.5]
    assert step.cache_info().misses == 2


def test_wrong_arguments_raise():
    rule = optimizers.SGD().rule
    state = rule.init({"w": np.ones(2)})
    with pytest.raises(
        TypeError, match=r"SGD\(lr=0.01\).rule.update: expected hyperparameters among lr; got \['rate'\]"
    ):
        rule.update({"w": np.ones(2)}, {"w": np.ones(2)}, state, rate=1.0)
    with pytest.raises(StructureError, match="update: grads: expected dict with 'w'; got 'v'"):
        rule.update({"w": np.ones(2)}, {"v": np.ones(2)}, state)
    with pytest.raises(DtypeError, match=r"init: params at \['w'\]: expected floating-point numbers, got int64"):
        rule.init({"w": np.ones(2, "int64")})
    with pytest.raises(ValueError, match="init: params: expected a tree with arrays, got one without leaves"):
        rule.init({})
