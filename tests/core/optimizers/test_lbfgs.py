"""L-BFGS through SciPy."""

import numpy as np
import pytest
from tests.building import assert_near
from tests.core.optimizers.problems import Model, data, loss_of, values

import xpgrad.functions as F
from xpgrad import Link, Parameter, optimizers
from xpgrad.optimizers import LBFGS
from xpgrad.testing.arrays import on_host

pytest.importorskip("scipy")


def test_a_linear_fit_is_solved(device):
    model = Model().to_device(device)
    model.scale.update_rule = None
    optimizer, (x, y) = LBFGS(max_iter=200, gtol=1e-9, ftol=0.0).setup(model), data(device=device)
    array = model.W.array
    optimizer.update(loss_of(model), x, y)
    design = np.hstack([on_host(x), np.ones((8, 1))])
    solution, *_ = np.linalg.lstsq(design, on_host(y), rcond=None)
    fitted = on_host(model.scale.array) * np.vstack([on_host(model.W.array).T, on_host(model.b.array)])
    np.testing.assert_allclose(fitted, solution, atol=1e-5)
    assert model.W.array is array
    assert optimizer.t == 1
    assert optimizer.result.success


def test_an_update_is_one_call_of_at_most_max_iter_iterations():
    model = Model()
    optimizer = LBFGS(max_iter=2).setup(model)
    losses = []
    for _ in range(3):
        optimizer.update(loss_of(model), *data())
        losses.append(optimizer.result.fun)
        assert optimizer.result.nit <= 2
    assert losses[0] > losses[1] > losses[2]
    assert float(loss_of(model)(*data()).array) == pytest.approx(losses[2], rel=1e-12)
    optimizer.max_iter = 50
    optimizer.update(loss_of(model), *data())
    assert optimizer.result.nit > 2


def test_a_loss_that_fails_leaves_the_parameters():
    model, calls = Model(), []

    def loss(x, y):
        calls.append(0)
        if len(calls) > 3:
            raise KeyError("no more")
        return loss_of(model)(x, y)

    before = values(model)
    with pytest.raises(KeyError, match="no more"):
        LBFGS().setup(model).update(loss, *data())
    assert_near(values(model), before, rtol=0)


def test_uninitialised_and_disabled_parameters():
    class Late(Link):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.w, self.fixed = Parameter(1.0), Parameter(np.ones(3))

        def forward(self, x):
            if self.w.array is None:
                self.w.initialize(x.shape)
            return F.sum((self.w * self.fixed - x) ** 2)

    model, x = Late(), np.asarray([1.0, 2.0, 3.0])
    optimizer = LBFGS(gtol=1e-10)
    optimizers.SGD().setup(model)
    model.fixed.update_rule.enabled = False
    optimizer.setup(model).update(model, x)
    np.testing.assert_allclose(model.w.array, x, atol=1e-6)
    np.testing.assert_array_equal(model.fixed.array, 1.0)


def test_wrong_calls_raise():
    with pytest.raises(TypeError, match=r"LBFGS.update: expected lossfun, which is evaluated many times; got None"):
        LBFGS().setup(Model()).update()
    with pytest.raises(RuntimeError, match=r"LBFGS.update: there is no model; call setup\(model\) first"):
        LBFGS().update(print)


def test_evaluations_as_a_program_find_the_same():
    found = []
    for make in (lambda optimizer, loss: lambda *args: optimizer.update(loss, *args), LBFGS.compile):
        model = Model()
        optimizer = LBFGS(max_iter=20).setup(model)
        step = make(optimizer, loss_of(model))
        returned = [step(*data()) for _ in range(2)][-1]
        found.append([optimizer.result.nfev, *values(model).values()])
    assert returned == optimizer.result.fun
    assert_near(*found, rtol=1e-6)


def test_compile_needs_a_model_and_a_function():
    with pytest.raises(RuntimeError, match=r"LBFGS.compile: there is no model; call setup\(model\) first"):
        LBFGS().compile(len)
    with pytest.raises(TypeError, match=r"LBFGS.compile: expected a function, got int"):
        LBFGS().setup(Model()).compile(1)
