"""Hooks of optimizers: effects on gradients, time of calls, and their function form."""

import math

import numpy as np
import pytest
from tests.building import assert_near
from tests.core.optimizers.problems import Model, data, loss_of, values
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Link, Parameter, Variable, optimizer_hooks, optimizers
from xpgrad.optimizer_hooks import (
    GradientClipping,
    GradientHardClipping,
    GradientLARS,
    GradientNoise,
    Lasso,
    WeightDecay,
)
from xpgrad.testing.arrays import on_host


def with_gradients(device="@numpy", dtype="float64"):
    """Return a model whose gradients are known, and its parameters and gradients in NumPy."""
    model, rng = Model(dtype), np.random.default_rng(3)
    gradients = {}
    for path, param in sorted(model.namedparams()):
        gradients[path] = np.asarray(rng.standard_normal(param.shape)).astype(dtype)
        param.grad = gradients[path].copy()
    return model.to_device(device), values(model), gradients


def norm(arrays):
    return np.sqrt(sum((x.astype("float64") ** 2).sum() for x in arrays))


def lars(w, g, threshold=1e-2, decay=0.1, eps=1e-9):
    rate = norm([w]) / (eps + norm([g]) + decay * norm([w])) if norm([w]) > threshold else 1.0
    return rate * (g + decay * w)


CASES = {
    "WeightDecay": (WeightDecay(0.3), lambda w, g, all: g + 0.3 * w),
    "Lasso": (Lasso(0.3), lambda w, g, all: g + 0.3 * np.sign(w)),
    "GradientHardClipping": (GradientHardClipping(-0.5, 0.25), lambda w, g, all: np.clip(g, -0.5, 0.25)),
    "GradientClipping": (GradientClipping(0.5), lambda w, g, all: g * 0.5 / norm(all)),
    "GradientClipping of short": (GradientClipping(500.0), lambda w, g, all: g),
    "GradientLARS": (GradientLARS(weight_decay=0.1), lambda w, g, all: lars(w, g)),
}


@pytest.mark.parametrize("case", CASES)
def test_hooks_change_gradients(device, case):
    hook, expected = CASES[case]
    model, before, gradients = with_gradients(device)
    optimizer = optimizers.SGD(lr=0.0).setup(model)
    optimizer.add_hook(hook)
    optimizer.update()
    for path, param in model.namedparams():
        wanted = expected(before[path], gradients[path], gradients.values())
        np.testing.assert_allclose(on_host(param.grad), wanted, rtol=1e-12)
        np.testing.assert_array_equal(on_host(param.array), before[path])


@pytest.mark.parametrize("case", CASES)
def test_the_function_form_of_hooks_is_the_same(case):
    model, before, gradients = with_gradients()
    optimizer = optimizers.SGD(lr=0.25).setup(model)
    optimizer.add_hook(CASES[case][0])
    rule = optimizer.rule
    got, _ = rule.update(before, gradients, rule.init(before))
    optimizer.update()
    assert_near(values(model), got, rtol=1e-14)


@pytest.mark.parametrize("case", CASES)
def test_hooks_take_half_precision(case):
    model, before, gradients = with_gradients(dtype="float16")
    optimizer = optimizers.SGD(lr=0.0).setup(model)
    optimizer.add_hook(CASES[case][0])
    optimizer.update()
    wide = {path: g.astype("float64") for path, g in gradients.items()}
    for path, param in model.namedparams():
        assert param.grad.dtype == "float16"
        expected = CASES[case][1](before[path].astype("float64"), wide[path], wide.values())
        np.testing.assert_allclose(param.grad, expected, rtol=4e-3, atol=1e-3)


SIZES = {
    "float16": (6e-8, 1e-5, 1.0, 300.0, 6e4), "float32": (1e-37, 1e-30, 1.0, 1e20, 1e38),
    "complex64": (1e-37, 1e-30, 1.0, 1e20, 1e38), "float64": (1e-307, 1e-200, 1.0, 1e200, 1e307),
}  # fmt: skip


@pytest.mark.parametrize("specifier", ["@numpy", "@torch:cpu", "native:0"])
@pytest.mark.parametrize(("dtype", "size"), [(dtype, size) for dtype, sizes in SIZES.items() for size in sizes])
@pytest.mark.parametrize("hook", ["GradientClipping", "GradientLARS"])
def test_norms_neither_overflow_nor_underflow(hook, dtype, size, specifier):
    """`math.hypot` scales as well; the numbers of each gradient are small multiples of its smallest number."""
    device = device_or_skip(specifier)
    ws, gs = np.asarray([0.75, -1.0]).astype(dtype), size * np.asarray([[3.0, -1.0], [0.0, 2.0]]) / 4
    gs = [g.astype(dtype) for g in gs]
    norms = [math.hypot(*g.real.astype("float64")) for g in gs]
    if hook == "GradientClipping":
        made, factors = GradientClipping(size / 2), [size / 2 / max(math.hypot(*norms), size / 2)] * 2
    else:
        made, factors = GradientLARS(eps=0.0), [1.25 / norm for norm in norms]
    model = Link()
    with model.init_scope():
        model.one, model.two = Parameter(device.send(ws)), Parameter(device.send(ws))
    optimizer = optimizers.SGD(lr=0.0).setup(model)
    for param, g in zip(model.params(), gs, strict=True):
        param.grad = device.send(g.copy())
    optimizer.add_hook(made)
    form = made.gradients(
        [Variable(param.array) for param in model.params()], [Variable(device.send(g)) for g in gs], 0
    )
    optimizer.update()
    rtol = {"float16": 2e-3, "float64": 1e-12}.get(dtype, 1e-5)
    for param, found, g, factor in zip(model.params(), form, gs, factors, strict=True):
        expected = (g.astype("complex128" if "complex" in dtype else "float64") * factor).astype(dtype)
        np.testing.assert_allclose(on_host(param.grad), expected, rtol=rtol, atol=np.finfo(dtype).smallest_subnormal)
        np.testing.assert_allclose(on_host(found), expected, rtol=rtol, atol=np.finfo(dtype).smallest_subnormal)


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_gradients_that_are_not_finite_stay_so(value):
    model, _, _ = with_gradients()
    model.W.grad[0, 0] = value
    optimizer = optimizers.SGD(lr=0.0).setup(model)
    optimizer.add_hook(GradientClipping(1.0))
    with np.errstate(invalid="ignore"):
        optimizer.update()
    assert not np.isfinite(model.W.grad[0, 0])


def test_noise_is_drawn_from_the_stream_of_the_device_and_shrinks(device):
    hook, samples = GradientNoise(4.0), []
    model = Model().to_device(device)
    optimizer = optimizers.SGD(lr=0.0).setup(model)
    optimizer.add_hook(hook)
    for seed, t in ((0, 0), (0, 0), (1, 0), (0, 31)):
        xpgrad.random.seed(seed)
        model.W.update_rule.t = t
        with xpgrad.using_device(device):
            model.W.grad = xpgrad.array_api.zeros((3, 4), dtype=model.W.dtype).array
        optimizer.update()
        samples.append(np.array(on_host(model.W.grad)))
    np.testing.assert_array_equal(samples[0], samples[1])
    assert (samples[0] != samples[2]).all()
    np.testing.assert_allclose(samples[3], samples[0] * 32**-0.275)
    assert 1.0 < samples[0].std() < 3.0


def test_noise_may_be_a_function_of_the_user():
    def noise(xp, shape, dtype, hook, opt):
        return xp.full(shape, hook.eta + opt.t, dtype=dtype)

    model, _, gradients = with_gradients()
    optimizer = optimizers.SGD(lr=0.0).setup(model)
    optimizer.add_hook(GradientNoise(2.0, noise))
    optimizer.update()
    np.testing.assert_array_equal(model.W.grad, gradients["/W"] + 2.0)


def test_hooks_are_called_by_timing_and_priority():
    called = []

    def hook(name, **attributes):
        def function(optimizer):
            called.append((name, optimizer.t))

        function.__dict__.update(attributes)
        return function

    model, _, _ = with_gradients()
    optimizer = optimizers.SGD().setup(model)
    optimizer.add_hook(hook("late", timing="post"), name="late")
    optimizer.add_hook(hook("first"), name="first")
    optimizer.add_hook(hook("urgent", priority=10), name="urgent")
    optimizer.add_hook(hook("last", timing="post"), name="last", timing="pre")
    optimizer.update()
    assert called == [("urgent", 0), ("first", 0), ("last", 0), ("late", 1)]
    optimizer.remove_hook("urgent")
    called.clear()
    optimizer.call_hooks("pre")
    assert [name for name, _ in called] == ["first", "last"]


def test_hooks_of_one_parameter_belong_to_its_rule():
    called = []
    model, before, gradients = with_gradients()
    optimizer = optimizers.SGD(lr=1.0).setup(model)
    rule = model.b.update_rule
    rule.add_hook(WeightDecay(1.0))
    rule.add_hook(lambda rule, param: called.append((rule.t, param.name)), name="after", timing="post")
    optimizer.update()
    np.testing.assert_allclose(model.b.array, before["/b"] - gradients["/b"] - before["/b"])
    np.testing.assert_allclose(model.W.array, before["/W"] - gradients["/W"])
    assert called == [(1, "b")]
    rule.remove_hook("after")
    optimizer.update()
    assert len(called) == 1


def test_wrong_hooks_raise():
    optimizer = optimizers.SGD()
    with pytest.raises(RuntimeError, match=r"SGD.add_hook: call setup\(model\) first"):
        optimizer.add_hook(WeightDecay(0.1))
    optimizer.setup(Model())
    with pytest.raises(TypeError, match=r"SGD.add_hook: expected a callable, got float"):
        optimizer.add_hook(0.1)
    with pytest.raises(ValueError, match=r"timing must be 'pre', 'post' or 'auto', got 'now'"):
        optimizer.add_hook(WeightDecay(0.1), timing="now")
    with pytest.raises(ValueError, match="the hook has no name; give one as name="):
        optimizer.add_hook(type("Nameless", (), {"__call__": print})())
    optimizer.add_hook(WeightDecay(0.1))
    with pytest.raises(KeyError, match="there is a hook 'WeightDecay' already"):
        optimizer.add_hook(WeightDecay(0.2))
    with pytest.raises(KeyError, match="there is no hook 'Lasso'; known are 'WeightDecay'"):
        optimizer.remove_hook("Lasso")
    optimizer.add_hook(print, name="print")
    with pytest.raises(
        TypeError, match=r"SGD.rule: expected hooks with a method gradients, got <built-in function print>"
    ):
        _ = optimizer.rule


def test_parameters_without_gradient_are_no_business_of_hooks():
    model, _, _ = with_gradients()
    model.b.cleargrad()
    optimizer = optimizers.SGD().setup(model)
    for name in optimizer_hooks.__all__:
        if name not in ("GradientHook", "GradientHardClipping"):
            optimizer.add_hook(getattr(optimizer_hooks, name)(0.1))
    optimizer.update()
    assert model.b.grad is None
    model.cleargrads()
    optimizer.update()
    assert optimizer.t == 2


def test_every_hook_is_under_both_names():
    for name in optimizer_hooks.__all__:
        if name != "GradientHook":
            assert getattr(xpgrad.optimizer, name) is getattr(xpgrad.optimizer_hooks, name)


def test_setup_removes_hooks():
    optimizer = optimizers.SGD().setup(Model())
    optimizer.add_hook(WeightDecay(0.1))
    optimizer.setup(Model())
    optimizer.add_hook(WeightDecay(0.1))
    optimizer.update(loss_of(optimizer.target), *data())
