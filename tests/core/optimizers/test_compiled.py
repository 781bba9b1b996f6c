"""A step as one program: the same results as `update`, and no other program when numbers change."""

import contextlib
import functools
import warnings

import numpy as np
import pytest
from tests.building import assert_near
from tests.core.optimizers.problems import OPTIMIZERS, Model, data, loss_of, made, values

import xpgrad
import xpgrad.functions as F
from xpgrad import Link, Parameter, optimizers, serializers
from xpgrad.initializers import Constant
from xpgrad.optimizer_hooks import GradientClipping, GradientNoise, WeightDecay
from xpgrad.optimizers import schedules
from xpgrad.testing.arrays import on_host

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.exhaustive(1)]


def traces(step):
    return [program.function.cache_info().misses for program in step.programs.values()]


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_compiled_step_agrees_with_update(device, name):
    one, other = Model().to_device(device), Model().to_device(device)
    first, second = made(name).setup(one), made(name).setup(other)
    for optimizer in (first, second):
        optimizer.add_hook(WeightDecay(0.01))
        optimizer.add_hook(GradientClipping(5.0))
    step = second.compile(loss_of(other), exact=True)
    x, y = data(device=device)
    for _ in range(5):
        expected = loss_of(one)(x, y).array
        first.update(loss_of(one), x, y)
        np.testing.assert_allclose(on_host(step(x, y)), on_host(expected), rtol=1e-14)
    assert traces(step) == [2]
    assert_near(values(other), values(one), rtol=1e-13)
    assert (second.t, other.W.update_rule.t) == (5, 5)
    assert_near(other.W.update_rule.state, one.W.update_rule.state, rtol=1e-12, atol=1e-300)


def test_numbers_may_change_without_another_program():
    one, other = Model(), Model()
    first, second = optimizers.Adam().setup(one), optimizers.Adam().setup(other)
    for optimizer, model in ((first, one), (second, other)):
        optimizer.loss_scaling(scale=4.0)
        model.b.update_rule.hyperparam.alpha = 0.5
    step = second.compile(loss_of(other))
    for i in range(8):
        for optimizer, model in ((first, one), (second, other)):
            optimizer.alpha, optimizer.beta1 = 0.1 / (i + 1), 0.5 + 0.01 * i
            model.b.update_rule.hyperparam.alpha = 0.2 + 0.1 * i
            optimizer.set_loss_scale(2.0**i)
        first.update(loss_of(one), *data())
        step(*data())
    assert traces(step) == [2]
    assert_near(values(other), values(one), rtol=1e-12)


def test_schedules_are_read_at_each_step():
    one, other = Model(), Model()
    rate = schedules.linear_warmup(3, schedules.cosine(0.1, 5))
    first, second = optimizers.MomentumSGD(lr=rate).setup(one), optimizers.MomentumSGD(lr=rate).setup(other)
    step = second.compile(loss_of(other))
    for _ in range(10):
        first.update(loss_of(one), *data())
        step(*data())
    assert traces(step) == [2]
    assert_near(values(other), values(one), rtol=1e-13)


def test_noise_has_the_variance_of_its_step_and_the_numbers_of_the_stream():
    results = []
    for compiled in (False, True):
        model = Model()
        optimizer = optimizers.SGD(lr=0.1).setup(model)
        optimizer.add_hook(GradientNoise(0.5))
        step = optimizer.compile(loss_of(model)) if compiled else functools.partial(optimizer.update, loss_of(model))
        xpgrad.random.seed(7)
        for _ in range(6):
            step(*data())
        results.append(values(model))
    assert_near(*results, rtol=1e-5)  # the number of the step is in float32


def test_compiled_and_plain_steps_may_alternate_and_be_saved_between(tmp_path):
    one, other = Model(), Model()
    first, second = optimizers.Adam(alpha=0.05).setup(one), optimizers.Adam(alpha=0.05).setup(other)
    step = second.compile(loss_of(other))
    for i in range(12):
        first.update(loss_of(one), *data())
        if i % 3 == 0:
            second.update(loss_of(other), *data())
        else:
            step(*data())
        if i == 6:
            serializers.save_npz(tmp_path / "o.npz", second)
            other.W.update_rule.state["m"] = np.zeros((3, 4))
            serializers.load_npz(tmp_path / "o.npz", second)
    assert_near(values(other), values(one), rtol=1e-12)


def test_parameters_without_gradient_are_unchanged():
    model = Model()
    with model.init_scope():
        model.unused = Parameter(np.ones(2))
    optimizer = optimizers.Adam().setup(model)
    step = optimizer.compile(loss_of(model))
    for _ in range(4):
        step(*data())
    np.testing.assert_array_equal(model.unused.array, 1.0)
    assert (model.unused.update_rule.t, model.W.update_rule.t) == (0, 4)
    assert traces(step) == [1, 2]  # from the second step on its coefficients belong to another step


@pytest.mark.parametrize("keep", [False, True])
def test_gradients_are_kept_and_zeros_where_none_are(keep):
    one, other = Model(), Model()
    for model in (one, other):
        with model.init_scope():
            model.unused = Parameter(np.ones(2))
    first, second = optimizers.MomentumSGD().setup(one), optimizers.MomentumSGD().setup(other)
    for optimizer in (first, second):
        optimizer.add_hook(WeightDecay(0.01))
    step = second.compile(loss_of(other), keep_grads=keep, exact=True)
    x, y = data()
    with xpgrad.using_config("zero_missing_grads", True):
        for _ in range(4):
            first.update(loss_of(one), x, y)
            step(x, y)
    assert traces(step) == [2 + keep]  # the first step finds no gradients
    for name, param in other.namedparams():
        expected = dict(one.namedparams())[name]
        np.testing.assert_allclose(param.array, expected.array, rtol=1e-13)
        if keep:
            np.testing.assert_allclose(param.grad, expected.grad, rtol=1e-12)
        else:
            assert param.grad is None


def test_a_disabled_link_needs_another_program():
    model = Model()
    optimizer = optimizers.Adam().setup(model)
    step = optimizer.compile(loss_of(model))
    for _ in range(3):
        step(*data())
    model.b.update_rule.enabled = False
    before = model.b.array.copy()
    for _ in range(3):
        step(*data())
    np.testing.assert_array_equal(model.b.array, before)
    assert traces(step) == [2, 2]
    model.disable_update()
    with pytest.raises(ValueError, match="expected a model with parameters to update, got none that is enabled"):
        step(*data())


def test_other_hooks_and_numbers_of_hooks_need_another_program():
    one, other = Model(), Model()
    both = optimizers.SGD(lr=0.1).setup(one), optimizers.SGD(lr=0.1).setup(other)
    step, decay = both[1].compile(loss_of(other)), WeightDecay(0.1)

    def steps():
        for _ in range(3):
            both[0].update(loss_of(one), *data())
            step(*data())
        assert_near(values(other), values(one), rtol=1e-12)

    steps()
    for optimizer in both:
        optimizer.add_hook(decay)
    steps()
    decay.rate = 0.5
    steps()
    one.b.update_rule.add_hook(WeightDecay(1.0))
    other.b.update_rule.add_hook(WeightDecay(1.0))
    steps()
    assert traces(step) == [2, 2, 2, 2]
    for optimizer in both:
        optimizer.remove_hook("WeightDecay")
    one.b.update_rule.remove_hook("WeightDecay")
    other.b.update_rule.remove_hook("WeightDecay")
    steps()
    assert traces(step) == [2, 2, 2, 2]


def test_the_first_step_initialises_parameters():
    class Late(Link):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.w = Parameter(Constant(0.5, np.float64))

        def forward(self, x):
            if self.w.array is None:
                self.w.initialize(x.shape[1:])
            return F.sum(x @ self.w)

    models = [Late(), Late()]
    first, second = (optimizers.Adam(alpha=0.1).setup(model) for model in models)
    x = np.ones((2, 3))
    step = second.compile(models[1])
    for _ in range(4):
        first.update(models[0], x)
        loss = step(x)
    np.testing.assert_allclose(models[1].w.array, models[0].w.array, rtol=1e-14)
    assert loss.shape == ()


def test_dropout_and_moving_averages_are_in_the_program():
    def loss(model, mean, x, y):
        h = F.dropout(model(x), 0.5)
        mean.array = 0.9 * mean.array + 0.1 * F.sum(h, axis=0).array
        return F.mean_squared_error(h, y)

    results = []
    for compiled in (False, True):
        xpgrad.random.seed(1)
        model, mean = Model(), xpgrad.Variable(np.zeros(3), requires_grad=False)
        optimizer = optimizers.SGD(lr=0.1).setup(model)
        f = lambda x, y, model=model, mean=mean: loss(model, mean, x, y)  # noqa: E731 - a closure for each model
        step = optimizer.compile(f) if compiled else functools.partial(optimizer.update, f)
        for _ in range(5):
            step(*data())
        results.append((*values(model).values(), mean.array))
    assert_near(*results, rtol=1e-13)


def test_a_loss_that_reads_numbers_from_outside_gets_another_program():
    model, factor = Model(), {"value": 1.0}
    optimizer = optimizers.SGD(lr=0.0).setup(model)
    step = optimizer.compile(lambda x, y: factor["value"] * loss_of(model)(x, y))
    one = [float(step(*data())) for _ in range(3)]
    factor["value"] = 3.0
    assert float(step(*data())) == pytest.approx(3.0 * one[-1])


@pytest.mark.parametrize("debug", [False, True])
def test_a_step_that_cannot_be_compiled_agrees_with_update(debug):
    def looking(model):
        def loss(x, y):
            found = loss_of(model)(x, y)
            return found if debug or found < 1e9 else 0 * found

        return loss

    results = []
    for compiled in (False, True):
        model = Model()
        optimizer = optimizers.Adam(alpha=0.1).setup(model)
        loss = looking(model)
        step = optimizer.compile(loss) if compiled else functools.partial(optimizer.update, loss)
        with xpgrad.using_config("debug", debug), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", xpgrad.CompileWarning)
            for _ in range(5):
                step(*data())
        results.append((*values(model).values(), np.asarray(optimizer.t)))
        assert bool(caught) is compiled
    assert_near(*results, rtol=1e-13)
    assert all(param.grad is None for param in model.params())


def test_a_step_that_fails_leaves_the_state_unchanged():
    model = Model()
    optimizer = optimizers.Adam().setup(model)
    step = optimizer.compile(loss_of(model))
    for _ in range(3):
        step(*data())
    before = values(model)
    with pytest.raises(xpgrad.utils.type_check.InvalidType):
        step(np.ones((8, 5)), np.ones((8, 3)))
    assert (optimizer.t, model.W.update_rule.t) == (3, 3)
    assert_near(values(model), before, rtol=0)
    step(*data())
    assert optimizer.t == 4


def test_a_step_after_a_failed_one_or_another_setup_is_that_of_an_eager_optimizer():
    results = []
    for compiled in (False, True):
        model, fails = Model(), [False]
        optimizer = optimizers.Adam(alpha=0.1).setup(model)

        def loss(*args, model=model, fails=fails):
            if fails[0]:
                raise ValueError("as it happens")
            return loss_of(model)(*args)

        step = optimizer.compile(loss) if compiled else functools.partial(optimizer.update, loss)
        for i in range(9):
            fails[0] = i in (1, 4)
            if i == 6:
                optimizer.setup(model)
            with pytest.raises(ValueError, match="as it happens") if fails[0] else contextlib.nullcontext():
                step(*data())
        results.append(values(model))
    assert_near(*results, rtol=1e-13)


def test_without_a_model_there_is_no_step():
    with pytest.raises(RuntimeError, match=r"SGD.compile: there is no model; call setup\(model\) first"):
        optimizers.SGD().compile(print)


@pytest.mark.parametrize("specifier", ["@torch", "@jax"])
def test_steps_compile_on_other_libraries(specifier):
    pytest.importorskip(specifier.replace("@", "xpgrad_"))
    one, other = Model("float32"), Model("float32").to_device(specifier)
    first, second = made("Adam").setup(one), made("Adam").setup(other)
    step = second.compile(loss_of(other))
    for _ in range(5):
        first.update(loss_of(one), *data("float32"))
        step(*data("float32", specifier))
    assert traces(step) == [2]
    assert_near(values(other), values(one), rtol=2e-5, atol=1e-6)
