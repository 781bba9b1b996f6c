"""`Optimizer` and `GradientMethod`: setup, update, unchanged state, devices, saving, copies."""

import contextlib
import copy
import functools
import pickle
import re
import warnings

import numpy as np
import pytest
from tests.building import assert_near
from tests.core.optimizers.problems import OPTIMIZERS, Model, data, loss_of, made, values

import xpgrad
import xpgrad.functions as F
from xpgrad import Chain, Link, Parameter, optimizers, serializers
from xpgrad.errors import ChangedArray, CompileWarning, DtypeError, ShapeError, TraceError
from xpgrad.optimizer import GradientMethod, Optimizer, UpdateRule
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import vmap


def test_setup_returns_the_optimizer_and_takes_links_only():
    model = Model()
    optimizer = optimizers.SGD()
    assert optimizer.setup(model) is optimizer
    assert optimizer.target is model
    assert isinstance(optimizer, GradientMethod)
    assert isinstance(optimizer, Optimizer)
    with pytest.raises(TypeError, match=r"SGD.setup: optimization target must be a link, got list"):
        optimizers.SGD().setup([model.W])
    with pytest.raises(RuntimeError, match=r"SGD.update: there is no model; call setup\(model\) first"):
        optimizers.SGD().update()


def test_update_without_a_loss_uses_existing_gradients():
    model = Model()
    before = model.W.array.copy()
    optimizer = optimizers.SGD(lr=0.5).setup(model)
    model.cleargrads()
    model.W.grad = np.ones((3, 4))
    optimizer.update()
    np.testing.assert_array_equal(model.W.array, before - 0.5)
    assert (optimizer.t, model.W.update_rule.t, model.b.update_rule.t) == (1, 1, 0)


@pytest.mark.parametrize("name", ["MomentumSGD", "Adam"])
def test_parameters_without_gradient_or_array_are_unchanged(name):
    model = Model()
    with model.init_scope():
        model.late = Parameter(0.5)
        model.unused = Parameter(np.ones(2))
    optimizer = made(name).setup(model)
    for _ in range(3):
        optimizer.update(loss_of(model), *data())
    np.testing.assert_array_equal(model.unused.array, 1.0)
    assert model.unused.update_rule.t == 0
    assert model.late.array is None
    model.late.initialize((2,))
    optimizer.update(lambda: F.sum(model.late * model.late) + F.sum(model.W))
    assert model.late.update_rule.t == 1
    assert model.late.array[0] != 0.5


def test_disabled_links_are_unchanged():
    model = Chain()
    with model.init_scope():
        model.one, model.two = Model(), Model()
    optimizer = optimizers.Adam().setup(model)
    model.two.disable_update()
    before = values(model.two)
    optimizer.update(lambda x, y: loss_of(model.one)(x, y) + loss_of(model.two)(x, y), *data())
    assert_near(values(model.two), before, rtol=0)
    model.two.enable_update()
    optimizer.update(lambda x, y: loss_of(model.two)(x, y), *data())
    assert (values(model.two)["/W"] != before["/W"]).all()


def test_a_model_is_given_by_setup():
    for given in (Model().params(), [*Model().params()]):
        with pytest.raises(
            TypeError, match=r"Adam: expected a number or a schedule as alpha, got \w+; a model is given"
        ):
            optimizers.Adam(given)


@pytest.mark.parametrize("change", ["shape", "dtype"])
def test_a_gradient_that_does_not_fit_leaves_the_state_unchanged(change):
    model = Model()
    optimizer = made("Adam").setup(model)
    optimizer.update(loss_of(model), *data())
    before, state = values(model), {p: copy.deepcopy(x.update_rule.state) for p, x in model.namedparams()}
    last = sorted(model.namedparams())[-1][1]
    grad = last.grad_var
    grad._array = np.ones(7) if change == "shape" else grad._array.astype("float32")
    error, text = (ShapeError, r"shape \(\), got \(7,\)") if change == "shape" else (DtypeError, "float64, got float32")
    with pytest.raises(error, match=rf"Adam.update: the parameter 'scale': expected a gradient of {text}; nothing was"):
        optimizer.update()
    assert optimizer.t == 1
    for path, param in model.namedparams():
        np.testing.assert_array_equal(param.array, before[path])
        for name, x in param.update_rule.state.items():
            np.testing.assert_array_equal(x, state[path][name])


def test_the_step_size_of_adam_agrees_with_its_last_step():
    model = Model()
    optimizer = optimizers.Adam(alpha=0.5, beta1=0.5, beta2=0.75).setup(model)
    with pytest.raises(RuntimeError, match=r"Adam.alpha_t: there was no step yet; call update first"):
        _ = optimizer.lr
    for _ in range(2):
        optimizer.update(loss_of(model), *data())
    assert optimizer.lr == optimizer.alpha_t == pytest.approx(0.5 * (1 - 0.75**2) ** 0.5 / (1 - 0.5**2))


def test_an_overridden_hyperparameter_applies_to_one_parameter():
    model = Model()
    optimizer = optimizers.SGD(lr=0.5).setup(model)
    model.b.update_rule.hyperparam.lr = 2.0
    for param in model.params():
        param.grad = np.ones_like(param.array)
    before = values(model)
    optimizer.update()
    np.testing.assert_array_equal(model.W.array, before["/W"] - 0.5)
    np.testing.assert_array_equal(model.b.array, before["/b"] - 2.0)
    optimizer.lr = 1.0
    optimizer.update()
    np.testing.assert_array_equal(model.W.array, before["/W"] - 1.5)
    np.testing.assert_array_equal(model.b.array, before["/b"] - 4.0)


def test_hyperparameters_may_be_numbers_of_numpy():
    model = Model("float32")
    optimizer = optimizers.MomentumSGD(lr=np.float64(0.1), momentum=np.float32(0.5)).setup(model)
    optimizer.update(loss_of(model), *data("float32"))
    assert model.W.array.dtype == model.W.update_rule.state["v"].dtype == "float32"


@pytest.mark.parametrize("name", ["MomentumSGD", "AMSGrad"])
def test_the_state_moves_along_with_its_parameter(name):
    pytest.importorskip("array_api_strict")
    one, other = Model(), Model()
    first, second = made(name).setup(one), made(name).setup(other)
    for device in ("@numpy", "@strict:device1", "@numpy"):
        other.to_device(device)
        for _ in range(2):
            first.update(loss_of(one), *data())
            second.update(loss_of(other), *data(device=device))
        state = other.W.update_rule.state
        assert {str(xpgrad.get_device_from_array(x)) for x in state.values()} == {str(xpgrad.get_device(device))}
    assert_near(values(other), values(one), rtol=1e-12)


def test_epochs_are_counted_by_one_only():
    optimizer = optimizers.SGD().setup(Model())
    optimizer.new_epoch()
    assert optimizer.epoch == 1
    with pytest.raises(RuntimeError, match="use_auto_new_epoch is False, got auto=True"):
        optimizer.new_epoch(auto=True)
    optimizer.use_auto_new_epoch = True
    optimizer.new_epoch(auto=True)
    with pytest.raises(RuntimeError, match="an updater counts epochs, got auto=False"):
        optimizer.new_epoch()
    assert optimizer.epoch == 2


def updated(optimizer, loss, step, *xs):
    optimizer.update(loss, *xs)


def updated_by_hand(optimizer, loss, step, *xs):
    optimizer.target.cleargrads()
    y = loss(*xs)
    y.backward()
    optimizer.lr, optimizer.epoch = optimizer.lr * 0.5, optimizer.epoch + 1
    optimizer.update()


def updated_each(optimizer, loss, step, *xs):
    xpgrad.grad([loss(*xs)], [*optimizer.target.params()], set_grad=True)
    for param in optimizer.target.params():
        param.update()


def updated_if_possible(optimizer, loss, step, *xs):
    optimizer.new_epoch()
    with contextlib.suppress(RuntimeError):
        optimizer.update(loss, *xs)


@pytest.mark.parametrize(
    ("update", "name"),
    [
        (updated, "MomentumSGD.update"), (updated_if_possible, "MomentumSGD.update"),
        (updated_by_hand, "MomentumSGD.update"), (updated_each, "UpdateRule.update"),
        (lambda optimizer, loss, step, *xs: step(*xs), "<compiled step of MomentumSGD: 0 programs>"),
        (lambda optimizer, loss, step, *xs: vmap(lambda i: (updated(optimizer, loss, step, *xs), i)[1])(xs[0]), None),
    ],
)  # fmt: skip
def test_an_update_in_a_compiled_function_runs_eagerly_with_one_warning(update, name):
    found, text = (
        [],
        rf"{name or 'MomentumSGD.update'}: .* got one in {'compile' if name else 'vmap'}; .*optimizer.rule",
    )
    for wrap in xpgrad.compile, lambda f: f, functools.partial(xpgrad.compile, strict=True):
        model = Model()
        optimizer = optimizers.MomentumSGD().setup(model)
        step = optimizer.compile(loss_of(model))
        run = wrap(functools.partial(update, optimizer, loss_of(model), step))
        if name is None or len(found) == 2:
            with warnings.catch_warnings(action="ignore"), pytest.raises(TraceError, match=text) as raised:
                run(*data())
            assert raised.value.__context__ is None
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(4):
                run(*data())
        found.append([values(model), optimizer.t, optimizer.lr, optimizer.epoch])
        texts = [str(each.message) for each in caught if each.category is CompileWarning]
        assert (len(texts), all(map(re.compile(text).search, texts))) == (wrap is xpgrad.compile, True)
    assert name is None or repr(found[0]) == repr(found[1])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_saved_optimizer_continues_identically(name, tmp_path):
    one, other = Model(), Model(seed=5)
    first, second = made(name).setup(one), made(name).setup(other)
    first.new_epoch()
    for _ in range(3):
        first.update(loss_of(one), *data())
    serializers.save_npz(tmp_path / "model", one)
    serializers.save_npz(tmp_path / "optimizer", first)
    serializers.load_npz(tmp_path / "model", other)
    serializers.load_npz(tmp_path / "optimizer", second)
    assert (second.t, second.epoch, other.W.update_rule.t) == (3, 1, 3)
    for _ in range(3):
        first.update(loss_of(one), *data())
        second.update(loss_of(other), *data())
    assert_near(values(one), values(other), rtol=0)
    serializers.load_npz(tmp_path / "optimizer", first)  # into existing states
    assert first.t == 3


def test_names_in_files_agree_with_chainer(tmp_path):
    model = Chain()
    with model.init_scope():
        model.l1 = Model()
    optimizer = optimizers.Adam().setup(model)
    optimizer.update(loss_of(model.l1), *data())
    serializers.save_npz(tmp_path / "optimizer.npz", optimizer)
    with np.load(tmp_path / "optimizer.npz") as file:
        own = {f"l1/{name}/{key}" for name in ("W", "b", "scale") for key in ("t", "m", "v")}
        assert set(file.files) == {"t", "epoch", *own}
        np.testing.assert_array_equal(file["l1/W/m"], model.l1.W.update_rule.state["m"])


def test_a_state_of_another_model_raises(tmp_path):
    model, other = Model(), Link()
    with other.init_scope():
        other.W, other.b, other.scale = (Parameter(np.ones(n)) for n in (5, 3, 1))
    optimizer = optimizers.Adam().setup(other)
    optimizer.update(lambda: F.sum(other.W) + F.sum(other.b) + F.sum(other.scale))
    serializers.save_npz(tmp_path / "optimizer.npz", optimizer)
    loaded = optimizers.Adam().setup(model)
    serializers.load_npz(tmp_path / "optimizer.npz", loaded)
    with pytest.raises(
        ShapeError, match=r"UpdateRule: expected a state 'm' of shape \(3, 4\), as the parameter, got \(5,\)"
    ):
        loaded.update(loss_of(model), *data())


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))], ids=["copy", "pickle"]
)
def test_copies_continue_independently(duplicate):
    model = Model()
    optimizer = made("Adam").setup(model)
    for _ in range(2):
        optimizer.update(loss_of(model), *data())
    other, second = duplicate((model, optimizer))
    before = values(other)
    for _ in range(2):
        optimizer.update(loss_of(model), *data())
    assert_near(values(other), before, rtol=0)
    assert second.target is other
    for _ in range(2):
        second.update(loss_of(other), *data())
    assert_near(values(model), values(other), rtol=0)


def test_rules_of_users_need_init_state_and_update_core():
    class Rule(UpdateRule):
        def init_state(self, param):
            self.state["total"] = np.zeros_like(param.array)

        def update_core(self, param):
            self.state["total"] += param.grad
            param.array -= self.hyperparam.lr * self.state["total"]

    class Method(GradientMethod):
        def __init__(self):
            super().__init__(lr=0.5)

        def create_update_rule(self):
            return Rule(self.hyperparam)

    model = Model()
    optimizer = Method().setup(model)
    before = model.W.array.copy()
    for _ in range(2):
        for param in model.params():
            param.grad = np.ones_like(param.array)
        optimizer.update()
    np.testing.assert_array_equal(model.W.array, before - 0.5 - 1.0)
    with pytest.raises(TypeError, match=r"Rule has no formulas; call optimizer.update"):
        optimizer.compile(loss_of(model))(*data())


def test_user_rules_may_define_only_the_host_update():
    class Rule(UpdateRule):
        def update_core_cpu(self, param):
            param.array[...] -= 1.0

    model = Model()
    model.W.grad = np.ones((3, 4))
    before, rule = model.W.array.copy(), Rule()
    model.W.update_rule = rule
    model.W.update()
    np.testing.assert_array_equal(model.W.array, before - 1.0)
    model.W.update_rule = UpdateRule()
    with pytest.raises(NotImplementedError, match=r"UpdateRule: define update_core\(param\)"):
        model.W.update()


def test_a_user_optimizer_needs_only_a_formula():
    class Signed(GradientMethod):
        def __init__(self, lr):
            super().__init__(lr=lr)

        @staticmethod
        def step(xp, w, g, s, c):
            w -= c["lr"] * xp.sign(g)
            return w

    one, other = Model(), Model()
    first, second = Signed(0.1).setup(one), Signed(0.1).setup(other)
    step = second.compile(loss_of(other))
    for _ in range(4):
        first.update(loss_of(one), *data())
        step(*data())
    assert_near(values(one), values(other), rtol=0)


def test_gradients_of_a_recorded_sweep_are_not_written_to():
    model, x = Model(), np.ones((2, 4))
    optimizer = optimizers.SGD(lr=0.1).setup(model)
    optimizer.add_hook(xpgrad.optimizer_hooks.WeightDecay(0.1))
    loss = F.sum(model(x) ** 2)
    loss.backward(enable_double_backprop=True)
    recorded = model.W.grad_var
    before = on_host(recorded).copy()
    optimizer.update()
    np.testing.assert_array_equal(on_host(recorded), before)


def test_the_graph_of_an_old_step_tells_that_parameters_were_changed():
    model, (x, y) = Model(), data()
    loss = loss_of(model)(x, y)
    optimizers.SGD().setup(model).update(loss_of(model), x, y)
    with pytest.raises(ChangedArray):
        loss.backward()
