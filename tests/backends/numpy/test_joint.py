"""Steps of optimizers in C: the bits of NumPy's steps, after any change of parameters, gradients and states."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.core.optimizers.problems import OPTIMIZERS, made
from tests.turn import half_of

from xpgrad import GradientMethod, Link, Parameter
from xpgrad.optimizers.hyperparameter import Hyperparameter
from xpgrad_numpy.kernels import joint, rows

SHAPES = [(5, 1031), (70, 61), (3,), (520, 523)]
"""The last parameter has so many elements that threads share it."""
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "Adam": [{}, {"weight_decay_rate": 0.1}, {"amsgrad": True}, {"adabound": True, "amsgrad": True}],
    "Lion": [{"weight_decay_rate": 0.0}, {"weight_decay_rate": 0.1}],
}
METHODS = [(name, each) for name in OPTIMIZERS for each in OPTIONS.get(name, [{}])]
Change = Callable[[Any], None]


class Halved(GradientMethod):
    """A user's formula: it depends on more than its arguments."""

    factor = 0.5

    @staticmethod
    def states(h: Any) -> dict[str, float]:
        return {"kept": 0.0}

    @staticmethod
    def step(xp: Any, w: Any, g: Any, s: Any, c: Any) -> Any:
        w -= Halved.factor * g
        return w


@pytest.fixture(params=["float32", "float64"])
def groups(request: pytest.FixtureRequest, codegen: None, folder: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that compares updates in C with NumPy's, and returns how many groups C updated."""
    monkeypatch.setenv("XPGRAD_CACHE_DIR", folder)
    monkeypatch.setenv("XPGRAD_NUM_THREADS", "2")
    monkeypatch.setattr(rows.RowLibrary, "start", lambda self: self.prepare())
    monkeypatch.setattr(joint, "_libraries", {})

    def updated(optimizer: Any, least: float, change: Change) -> tuple[list[Any], int]:
        monkeypatch.setattr(joint, "LEAST", least)
        rng, model = np.random.default_rng(0), Link()
        with model.init_scope():
            for i, shape in enumerate(SHAPES):
                setattr(model, f"p{i}", Parameter(rng.standard_normal(shape).astype(request.param)))
        optimizer.setup(model)
        for step in range(6):
            for param in model.params():
                param.grad = rng.standard_normal(param.shape).astype(request.param)
            if step == 4:
                change(model)
            optimizer.update()
        states = [state for param in model.params() for state in param.update_rule.state.values()]
        count = sum(each.run is not None for each in optimizer._packs.joined.values())
        return [*(param.array for param in model.params()), *states], count

    def compared(make: Callable[[], Any], change: Change = lambda model: None) -> int:
        expected, none = updated(make(), float("inf"), change)
        got, count = updated(make(), 1, change)
        assert not none
        for x, y in zip(got, expected, strict=True):
            np.testing.assert_array_equal(x, y)
        return count

    return compared


@pytest.mark.parametrize(("name", "options"), half_of(METHODS))
def test_steps_in_c_have_numpys_bits(name: str, options: dict[str, Any], groups: Any) -> None:
    assert groups(lambda: made(name, **options)) == 1


def change_options(model: Any) -> None:
    for param in model.params():
        param.update_rule.hyperparam.parent.weight_decay_rate = 0.5


def replace_a_rule(model: Any) -> None:
    model.p2.update_rule = copy.deepcopy(model.p1.update_rule)
    model.p2.update_rule.t, model.p2.update_rule._state = 2, None


def replace_hyperparameters(model: Any) -> None:
    parent = Hyperparameter(model.p1.update_rule.hyperparam.parent)
    parent.alpha = 0.5
    model.p1.update_rule.hyperparam = Hyperparameter(parent)


def swap_parameters(model: Any) -> None:
    with model.init_scope():
        model.p1, model.p3 = model.p3, model.p1


CHANGES: dict[str, Change] = {
    "another state": lambda model: model.p0.update_rule.state.update(m=np.full(SHAPES[0], 0.5, model.p0.dtype)),
    "another array": lambda model: setattr(model.p1, "array", np.ones(SHAPES[1], model.p1.dtype)),
    "a transposed gradient": lambda model: setattr(model.p1, "grad", np.asfortranarray(model.p1.grad)),
    "a transposed parameter": lambda model: setattr(model.p1, "array", np.asfortranarray(model.p1.array)),
    "other options": change_options,
    "a shared array": lambda model: setattr(model.p1, "array", model.p0.array.reshape(-1)[:4270].reshape(SHAPES[1])),
    "no gradient": lambda model: model.p3.cleargrad(),
    "no state": lambda model: setattr(model.p2.update_rule, "_state", None),
    "a disabled rule": lambda model: setattr(model.p1.update_rule, "enabled", False),
    "another rule": replace_a_rule,
    "a repeated step": lambda model: setattr(model.p2.update_rule, "t", model.p2.update_rule.t - 1),
    "other hyperparameters": replace_hyperparameters,
    "another formula": lambda model: setattr(model.p1.update_rule, "formula", Halved),
    "a scaled loss": lambda model: setattr(model.p1._node.own_extra(), "loss_scale", 4.0),
    "swapped parameters": swap_parameters,
}


@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change_steps_are_the_same(change: str, groups: Any) -> None:
    assert (groups(lambda: made("Adam"), CHANGES[change]) > 0) == (change != "a transposed parameter")


def test_formulas_of_users_are_not_compiled(groups: Any) -> None:
    assert groups(Halved) == 0


def test_steps_are_compiled_in_advance(folder: str, codegen: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPGRAD_CACHE_DIR", folder)
    monkeypatch.setattr(joint, "_libraries", {})
    assert joint.build()
    assert len(joint._libraries) == len(OPTIMIZERS) - 1  # the step of AdamW without a decay is that of Adam
