"""Loss scaling, fixed and dynamic, and updates in float32."""

import numpy as np
import pytest
from tests.building import assert_near
from tests.core.optimizers.problems import Model, data, loss_of, made, values
from tests.devices import device_or_skip

import xpgrad
import xpgrad.functions as F
from xpgrad import Link, Parameter, optimizers, serializers
from xpgrad.optimizers.hooks import LossScale
from xpgrad.testing.arrays import on_host


class Weight(Link):
    """One parameter of half precision."""

    def __init__(self, value=1.0, dtype="float16"):
        super().__init__()
        with self.init_scope():
            self.w = Parameter(np.full(3, value, dtype))


def loss(model, x):
    """A loss whose gradient is `x`."""
    return F.sum(model.w * x)


def run(optimizer, compiled):
    model = optimizer.target
    return (
        optimizer.compile(lambda x: loss(model, x))
        if compiled
        else lambda x: optimizer.update(lambda x: loss(model, x), x)
    )


@pytest.mark.parametrize("name", ["MomentumSGD", "Adam"])
def test_a_power_of_two_as_scale_does_not_change_steps(device, name):
    one, other = Model().to_device(device), Model().to_device(device)
    first, second = made(name).setup(one), made(name).setup(other)
    second.loss_scaling(scale=256.0)
    for _ in range(4):
        first.update(loss_of(one), *data(device=device))
        second.update(loss_of(other), *data(device=device))
        np.testing.assert_array_equal(on_host(other.W.grad), on_host(one.W.grad))
    assert_near(values(other), values(one), rtol=0)


def test_a_loss_that_the_user_scaled_is_divided_too():
    model = Weight(dtype="float64")
    optimizer = optimizers.SGD(lr=1.0).setup(model)
    model.cleargrads()
    loss(model, np.full(3, 0.5)).backward(loss_scale=8.0)
    np.testing.assert_array_equal(model.w.grad, 4.0)
    optimizer.update()
    np.testing.assert_array_equal(model.w.array, 0.5)
    np.testing.assert_array_equal(model.w.grad, 0.5)
    model.w.grad = np.full(3, 0.25)
    optimizer.update()  # no scale is left over
    np.testing.assert_array_equal(model.w.array, 0.25)


@pytest.mark.parametrize("compiled", [False, True])
def test_an_overflow_skips_the_update_of_all_parameters_and_halves_the_scale(compiled):
    model = Weight(dtype="float32")
    with model.init_scope():
        model.other = Parameter(np.ones(2, "float32"))
    optimizer = optimizers.Adam(alpha=0.1).setup(model)
    optimizer.loss_scaling(interval=3)
    optimizer.set_loss_scale(8.0)

    def total(x):
        return F.sum(model.w * x) + F.sum(model.other)

    step = optimizer.compile(total) if compiled else lambda x: optimizer.update(total, x)
    good, bad = np.ones(3, "float32"), np.array([1, np.inf, 1], "float32")
    step(good)
    before = values(model)
    state = {name: x.copy() for name, x in model.other.update_rule.state.items()}
    step(bad)
    assert (optimizer.t, model.w.update_rule.t, optimizer._loss_scale) == (1, 1, 4.0)
    assert_near(values(model), before, rtol=0)
    assert_near(model.other.update_rule.state, state, rtol=0)
    scales = []
    for _ in range(7):
        step(good)
        scales.append(optimizer._loss_scale)
    assert scales == [4, 4, 8, 8, 8, 16, 16]
    assert optimizer.t == model.w.update_rule.t == 8
    plain = Weight(dtype="float32")
    other = optimizers.Adam(alpha=0.1).setup(plain)
    for _ in range(8):
        other.update(lambda x: loss(plain, x), good)
    np.testing.assert_allclose(model.w.array, plain.w.array, rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_small_gradients_reach_a_master_copy_through_the_scale(compiled):
    """A gradient of 2 ** -30 is 0 in float16, and so is 1 + 1e-4 = 1; with scale and float32 copy both count."""
    small = np.full(3, 2.0**-20, "float16")
    results = []
    for scale in (None, 2.0**12):
        model = Weight(dtype="float16")
        optimizer = optimizers.SGD(lr=0.25 * 2.0**20).setup(model)
        if scale is not None:
            optimizer.use_fp32_update()
            optimizer.loss_scaling(scale=scale)
        step = run(optimizer, compiled)
        optimizer.hyperparam.lr = 0.25 * 2.0**10 if scale else 0.01
        for _ in range(4):
            step(small)
        results.append(float(model.w.array[0]))
        state = model.w.update_rule.state
    assert results[0] == 1.0
    assert state["fp32_param"].dtype == "float32"
    assert results[1] == pytest.approx(1 - 4 * 0.25 * 2.0**-10, abs=1e-3)
    np.testing.assert_allclose(state["fp32_param"], 1 - 4 * 0.25 * 2.0**-10, rtol=1e-7)


@pytest.mark.parametrize("device", ["@numpy", "native:0"])
@np.errstate(over="ignore", invalid="ignore")
def test_a_master_copy_takes_adam_with_its_usual_eps(device):
    device_or_skip(device)
    model = Model("float16").to_device(device)
    optimizer = optimizers.Adam(alpha=0.01)
    optimizer.use_fp32_update()
    optimizer.setup(model)
    optimizer.add_hook(xpgrad.optimizer_hooks.WeightDecay(1e-3))
    optimizer.add_hook(xpgrad.optimizer_hooks.GradientClipping(1.0))
    optimizer.loss_scaling()
    array, x, y = model.W.array, *data("float16", device)
    first = float(loss_of(model)(x, y).array)
    for _ in range(30):
        optimizer.update(loss_of(model), x, y)
    assert float(loss_of(model)(x, y).array) < 0.9 * first
    assert model.W.array is array
    state = model.W.update_rule.state
    assert set(state) == {"fp32_param", "m", "v"}
    np.testing.assert_array_equal(on_host(model.W.array), on_host(state["fp32_param"]).astype("float16"))


def test_a_master_copy_is_saved(tmp_path):
    models = [Model("float16"), Model("float16", seed=3)]
    both = []
    for model in models:
        optimizer = optimizers.Adam(alpha=0.01)
        optimizer.use_fp32_update()
        optimizer.loss_scaling(interval=2)
        optimizer.set_loss_scale(64.0)
        both.append(optimizer.setup(model))
    for _ in range(3):
        both[0].update(loss_of(models[0]), *data("float16"))
    serializers.save_npz(tmp_path / "o.npz", both[0])
    serializers.save_npz(tmp_path / "m.npz", models[0])
    serializers.load_npz(tmp_path / "o.npz", both[1])
    serializers.load_npz(tmp_path / "m.npz", models[1])
    assert both[1]._loss_scale == both[0]._loss_scale == 128.0
    for _ in range(2):
        for optimizer, model in zip(both, models, strict=True):
            optimizer.update(loss_of(model), *data("float16"))
    assert_near(values(models[0]), values(models[1]), rtol=0)


def test_non_finite_gradients_are_reported():
    model = Weight(dtype="float32")
    optimizer = optimizers.SGD().setup(model)
    model.w.grad = np.array([1, np.nan, 1], "float32")
    assert not optimizer.is_safe_to_update()
    assert not optimizer.check_nan_in_grads()  # used only if loss scaling is dynamic
    optimizer.loss_scaling()
    assert optimizer.check_nan_in_grads()
    model.w.grad = np.ones(3, "float32")
    assert optimizer.is_safe_to_update()
    assert not optimizer.check_nan_in_grads()


def test_a_scale_stays_within_its_limits():
    scale = LossScale(60000.0, 1)
    scale.after(True)
    assert scale.value == 65504.0
    scale = LossScale(1.5, 1)
    scale.after(False)
    assert scale.value == 1.0
    with pytest.raises(ValueError, match="loss_scaling: scale must be positive, got 0"):
        optimizers.SGD().loss_scaling(scale=0.0)
    with pytest.raises(ValueError, match="loss_scaling: interval must be at least 1, got 0"):
        optimizers.SGD().loss_scaling(interval=0)
