"""Small parameters that are updated together: the same steps, after any changes of their states."""

import numpy as np
import pytest
from tests.building import assert_near
from tests.core.optimizers.problems import Model, data, loss_of, made, values

import xpgrad
from xpgrad import Chain, CompileWarning, Parameter, optimizers
from xpgrad.optimizers import packed
from xpgrad.testing.arrays import on_host


def chain(dtype="float64"):
    model = Chain()
    with model.init_scope():
        model.one, model.two = Model(dtype), Model(dtype, seed=2)
    return model


def loss(model):
    return lambda x, y: loss_of(model.one)(x, y) + loss_of(model.two)(x, y)


@pytest.fixture
def pair(monkeypatch):
    """Return two equal models with optimizers, the second without packing, and a function that steps both."""
    models = [chain(), chain()]
    both = [made("Adam").setup(model) for model in models]
    monkeypatch.setattr(both[1]._packs, "prepared", lambda params: lambda: params)

    def steps(count=2):
        for _ in range(count):
            for optimizer, model in zip(both, models, strict=True):
                optimizer.update(loss(model), *data())
        assert_near(values(models[1]), values(models[0]), rtol=0)

    steps()
    return models, both, steps


def test_packed_steps_are_the_same_to_the_bit(pair):
    models, both, steps = pair
    assert len(both[0]._packs.known) == 1
    assert not both[1]._packs.known
    states = [models[0].one.W.update_rule.state["m"], models[0].two.b.update_rule.state["m"]]
    assert np.shares_memory(states[0].base, states[1].base)
    steps()


def test_a_state_that_was_replaced_is_packed_again(pair):
    models, _, steps = pair
    for model in models:
        model.one.W.update_rule.state["m"] = np.full((3, 4), 0.5)
        model.two.b.update_rule.state["v"][...] = 2.0
    steps()


def test_a_parameter_with_a_new_array_is_updated_there(pair):
    models, _, steps = pair
    for model in models:
        model.one.W.array = np.ones((3, 4))
    steps()
    assert (models[0].one.W.array != 1).all()


def test_special_parameters_are_updated_separately(pair):
    models, both, steps = pair
    for model in models:
        model.one.b.update_rule.hyperparam.alpha = 0.5
        model.two.b.update_rule.add_hook(lambda rule, param: None, name="nothing")
        model.two.scale.update_rule.enabled = False
        model.one.W.update_rule.t = 7
    steps()
    assert models[0].one.W.update_rule.t == 9
    both[0].alpha = both[1].alpha = 0.01
    steps()


def test_dtypes_and_sizes_have_separate_packs():
    model = Chain()
    with model.init_scope():
        for i, dtype in enumerate(("float32", "float64", "float32", "float64")):
            setattr(model, f"p{i}", Parameter(np.ones(i + 2, dtype)))
        model.large = Parameter(np.ones(packed.MAX_PACKED + 1))
        model.two_dimensional = Parameter(np.asfortranarray(np.ones((300, 200))))
        model.alone = Parameter(np.ones(2, "complex64"))
    optimizer = optimizers.MomentumSGD(lr=0.5).setup(model)
    for _ in range(2):
        for param in model.params():
            param.grad = np.ones_like(param.array)
        optimizer.update()
    assert sorted(len(pack.params) for pack in optimizer._packs.known.values()) == [2, 2]
    for param in model.params():
        np.testing.assert_allclose(param.array, 1 - 0.5 - 0.95)


@pytest.mark.parametrize("specifier", ["@numpy", "@torch"])
def test_an_array_of_many_parts_is_updated_whole(specifier):
    pytest.importorskip(specifier.replace("@", "xpgrad_"))
    model, grad = Chain(), np.arange(999 * 777, dtype="float32").reshape(999, 777)
    with model.init_scope():
        model.w = Parameter(np.zeros((999, 777), "float32"))
    model.w.grad = grad.copy()
    model.to_device(specifier)
    optimizers.SGD(lr=0.5).setup(model).update()
    np.testing.assert_array_equal(on_host(model.w.array), -0.5 * grad)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("specifier", ["@numpy", "@torch"])
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.T, lambda x: x[1:]], ids=["same", "transposed", "part"])
def test_parameters_that_share_memory_are_updated_one_after_the_other(view, specifier, compiled):
    pytest.importorskip(specifier.replace("@", "xpgrad_"))
    model, array = Chain(), xpgrad.get_device(specifier).send(np.arange(12.0).reshape(4, 3))
    with model.init_scope():
        model.one, model.two = Parameter(array), Parameter(view(array))
    expected = np.arange(12.0).reshape(4, 3) - 1.0
    expected[:1] += 0.5 * (len(model.two) == 3 and model.two.shape == (3, 3))
    optimizer = optimizers.SGD(lr=0.5).setup(model)
    if compiled:
        with pytest.warns(CompileWarning, match="share memory"):
            optimizer.compile(lambda: model.one.sum() + model.two.sum())()
    else:
        optimizer.update(lambda: model.one.sum() + model.two.sum())
    np.testing.assert_array_equal(on_host(array), expected)
