"""Each optimizer against plain NumPy, written from its paper."""

import inspect

import numpy as np
import pytest
from tests.building import assert_near
from tests.core.optimizers.problems import OPTIMIZERS, Model, Plain, data, loss_of, made, values
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Link, Parameter, optimizers
from xpgrad.testing.arrays import on_host


def trained(model, optimizer, steps, x, y):
    """Make steps; return the gradients of W in each."""
    gradients = []
    for _ in range(steps):
        optimizer.update(loss_of(model), x, y)
        gradients.append(np.array(on_host(model.W.grad)))
    return gradients


INSIDE = {"eps": 0.1, "eps_inside_sqrt": True}
ROWS = [*((name, {}) for name in OPTIMIZERS), ("RMSprop", {"eps": 0.1}), ("RMSprop", INSIDE)]


@pytest.mark.parametrize(("name", "changes"), ROWS)
def test_steps_agree_with_the_paper(device, name, changes):
    model = Model().to_device(device)
    start = np.array(on_host(model.W.array))
    gradients = trained(model, made(name, **changes).setup(model), 12, *data(device=device))
    plain = Plain(name, OPTIMIZERS[name] | changes, start)
    for g in gradients:
        plain(g)
    np.testing.assert_allclose(on_host(model.W.array), plain.w, rtol=1e-12 if changes else 1e-10)


@pytest.mark.parametrize("specifier", ["@torch", pytest.param("@jax", marks=pytest.mark.exhaustive(2)), "@dask"])
@pytest.mark.parametrize("name", ["Adam", "MSVAG", "AMSBound", "SMORMS3", "Lion"])
def test_steps_agree_with_numpy_on_other_libraries(specifier, name):
    pytest.importorskip(specifier.replace("@", "xpgrad_"))
    one, other = Model("float32"), Model("float32").to_device(specifier)
    first, second = made(name).setup(one), made(name).setup(other)
    for _ in range(5):
        first.update(loss_of(one), *data("float32"))
        second.update(loss_of(other), *data("float32", specifier))
    assert_near(values(other), values(one), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_parameters_keep_array_and_dtype(name, dtype):
    model = Model(dtype)
    before = {path: param.array for path, param in model.namedparams()}
    optimizer = made(name).setup(model)
    first = float(loss_of(model)(*data(dtype)).array)
    for _ in range(20):
        optimizer.update(loss_of(model), *data(dtype))
    assert float(loss_of(model)(*data(dtype)).array) < first
    wide = "float32" if dtype == "float16" else dtype
    for path, param in model.namedparams():
        assert param.array is before[path]
        assert param.array.dtype == dtype
        assert all(x.dtype == wide and x.shape == param.shape for x in param.update_rule.state.values())


@pytest.mark.parametrize("specifier", ["@numpy", "@torch:cpu", "@jax:cpu"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_of_half_precision_agree_with_single_precision_rounded(name, specifier):
    device = device_or_skip(specifier)
    g = np.asarray([6e-8, -2e-4, 1.0, 257.0, -3e2, 6e4], "float16")
    found = {}
    for dtype in ("float16", "float32"):
        model = Link()
        with model.init_scope():
            model.W, model.b = Parameter(np.ones(6, dtype)), Parameter(np.ones(6, dtype))
        optimizer = made(name).setup(model.to_device(device))
        for param in model.params():
            param.grad = device.send(g.astype(dtype))
        optimizer.update()
        found[dtype] = on_host(model.W.array).astype("float16")
        assert all(np.isfinite(on_host(x)).all() for x in model.W.update_rule.state.values())
        rule = made(name).rule
        ws = device.send(np.ones(6, dtype))
        ws, _ = rule.update(ws, device.send(g.astype(dtype)), rule.init(ws))
        np.testing.assert_array_equal(on_host(ws).astype("float16"), found[dtype])
    np.testing.assert_array_equal(found["float16"], found["float32"])


DEFAULTS = {
    "SGD": {"lr": 0.01},
    "MomentumSGD": {"lr": 0.01, "momentum": 0.9},
    "CorrectedMomentumSGD": {"lr": 0.01, "momentum": 0.9},
    "NesterovAG": {"lr": 0.01, "momentum": 0.9},
    "AdaGrad": {"lr": 0.001, "eps": 1e-8},
    "AdaDelta": {"rho": 0.95, "eps": 1e-6},
    "RMSprop": {"lr": 0.01, "alpha": 0.99, "eps": 1e-8, "eps_inside_sqrt": False},
    "RMSpropGraves": {"lr": 1e-4, "alpha": 0.95, "momentum": 0.9, "eps": 1e-4},
    "SMORMS3": {"lr": 0.001, "eps": 1e-16},
    "MSVAG": {"lr": 0.1, "beta": 0.9, "eta": 1.0, "weight_decay_rate": 0},
    "Adam": {
        "alpha": 0.001, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "eta": 1.0, "weight_decay_rate": 0,
        "amsgrad": False, "adabound": False, "final_lr": 0.1, "gamma": 0.001,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", DEFAULTS)
def test_hyperparameters_have_the_names_and_defaults_of_chainer(name):
    parameters = inspect.signature(getattr(optimizers, name)).parameters
    assert {key: p.default for key, p in parameters.items()} == DEFAULTS[name]
    optimizer = getattr(optimizers, name)()
    assert {key: getattr(optimizer, key) for key in DEFAULTS[name]} == DEFAULTS[name]


def test_every_optimizer_is_tested():
    classes = {name for name in optimizers.__all__ if isinstance(getattr(optimizers, name), type)}
    assert classes - {"LBFGS", "Rule"} == OPTIMIZERS.keys()
    assert all(hasattr(xpgrad.optimizers, name) for name in dir(optimizers))
