"""Links of normalization over a batch: averages, finetuning, dtypes, and transforms."""

import numpy as np
import pytest
from tests.building import assert_near

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L
from xpgrad import Variable, transforms
from xpgrad import array_api as xp
from xpgrad.errors import BatchError, InvalidType, ShapeError
from xpgrad.testing.arrays import on_host

RNG = np.random.default_rng(0)
X = (RNG.standard_normal((6, 3)) * 2 + 1).astype("f")


def test_averages_move_in_training_only():
    link = L.BatchNormalization(3, decay=0.5)
    link(X)
    np.testing.assert_allclose(link.avg_mean, X.mean(0) / 2, rtol=1e-5)
    np.testing.assert_allclose(link.avg_var, 0.5 + X.var(0, ddof=1) / 2, rtol=1e-5)
    before = link.avg_mean.copy()
    with xpgrad.using_config("train", False):
        y = link(X)
    np.testing.assert_array_equal(link.avg_mean, before)
    np.testing.assert_allclose(y.array, (X - before) / np.sqrt(link.avg_var + 2e-5), rtol=1e-4)


def test_finetuning_averages_batches_with_equal_weights():
    link, batches = L.BatchNormalization(3), [X, X * 3, X - 1]
    link(X)
    link.start_finetuning()
    for x in batches:
        link(x, finetune=True)
    assert link.N == 3
    np.testing.assert_allclose(link.avg_mean, np.mean([x.mean(0) for x in batches], axis=0), rtol=1e-4)
    np.testing.assert_allclose(link.avg_var, np.mean([x.var(0, ddof=1) for x in batches], axis=0), rtol=1e-4)


def test_factor_and_shift_are_optional():
    link = L.BatchNormalization(3, use_gamma=False, use_beta=False)
    assert list(link.params()) == []
    assert link.gamma is None
    np.testing.assert_allclose(link(X).array.std(0), np.ones(3), rtol=1e-4)


def test_initial_values():
    link = L.BatchNormalization(3, initial_gamma=2, initial_beta=3, initial_avg_mean=4, initial_avg_var=np.arange(3.0))
    assert [x.array[0] for x in (link.gamma, link.beta)] == [2, 3]
    np.testing.assert_array_equal(link.avg_mean, [4, 4, 4])
    np.testing.assert_array_equal(link.avg_var, [0, 1, 2])
    assert link.avg_var.dtype == np.float32


def test_axes():
    x = RNG.standard_normal((4, 3, 2)).astype("f")
    link = L.BatchNormalization(axis=(0, 1))
    assert link.avg_mean is None
    link(x)
    assert link.avg_mean.shape == link.gamma.shape == (2,)
    assert L.BatchNormalization((3, 2))(x).shape == x.shape
    with pytest.raises(TypeError, match="BatchNormalization: expected size or axis, got neither"):
        L.BatchNormalization()


def test_half_precision_keeps_statistics_in_float32():
    with xpgrad.using_config("dtype", xpgrad.mixed16):
        link = L.BatchNormalization(3)
    y = link(X.astype(np.float16))
    assert y.dtype == np.float16
    assert link.avg_mean.dtype == link.gamma.dtype == np.float32
    np.testing.assert_allclose(link.avg_mean, X.mean(0) * 0.1, rtol=1e-2)
    assert L.BatchNormalization(3, dtype="float64").beta.dtype == np.float64


def test_averages_may_be_assigned():
    link = L.BatchNormalization(3)
    link.avg_mean = np.ones(3, "f")
    link(X)
    np.testing.assert_allclose(link.avg_mean, 0.9 + 0.1 * X.mean(0), rtol=1e-5)


def test_counting_for_finetuning_is_not_compiled():
    link = L.BatchNormalization(3)
    program = xpgrad.compile(lambda x: link(x, finetune=True))
    with pytest.warns(xpgrad.CompileWarning, match="a batch was counted"):
        _ = [program(X) for _ in range(3)]
    assert link.N == 3


def test_sizes_of_groups_of_decorrelation():
    assert L.DecorrelatedBatchNormalization(32).avg_projection.shape == (16, 2, 2)
    assert L.DecorrelatedBatchNormalization(8, None, group_size=4).avg_mean.shape == (2, 4)
    with pytest.raises(ValueError, match=r"size must be groups \* group_size, got 7, 2 and 3"):
        L.DecorrelatedBatchNormalization(7, 2)


def test_decorrelated_channels():
    x = (RNG.standard_normal((400, 4)) @ RNG.standard_normal((4, 4))).astype("f")
    y = L.DecorrelatedBatchNormalization(4, groups=1, eps=1e-6)(x).array
    np.testing.assert_allclose(y.T @ y / 400, np.eye(4), atol=1e-2)


def test_renormalization_without_corrections_is_batch_normalization():
    one, two = L.BatchRenormalization(3), L.BatchNormalization(3)
    np.testing.assert_allclose(one(X).array, two(X).array, rtol=1e-5)
    np.testing.assert_allclose(one.avg_mean, two.avg_mean, rtol=1e-5)


LINKS = {
    "BatchNormalization": lambda: L.BatchNormalization(4),
    "BatchRenormalization": lambda: L.BatchRenormalization(4, rmax=2.0, dmax=1.0),
    "DecorrelatedBatchNormalization": lambda: L.DecorrelatedBatchNormalization(4, groups=2),
}


def state(link):
    return [np.array(getattr(link, name)) for name in link.averages] + [link.N]


def equal(one, other):
    assert_near(one, other, rtol=1e-6, atol=1e-12)


def squares(link, x):
    return xp.sum(link(x) ** 2)


EVALUATIONS = {
    "checkpoint": lambda link, x: squares(transforms.checkpoint(link), Variable(x)).backward(),
    "recomputation": lambda link, x: xp.sum(F.forget(link, Variable(x)) ** 2).backward(),
    "no_backprop_mode": lambda link, x: xpgrad.no_backprop_mode()(link)(x),
    "grad": lambda link, x: transforms.grad(lambda x: squares(link, x))(x),
    "grad by the model": lambda link, x: transforms.grad(squares)(link, x) if link.count_params() else link(x),
    "jvp": lambda link, x: transforms.jvp(link, (x,), (x,)),
    "hvp": lambda link, x: transforms.hvp(lambda x: squares(link, x), (x,), (x,)),
    "linearize": lambda link, x: transforms.linearize(link, x)[1](x),
    "jacobian by rows": lambda link, x: transforms.jacobian(link, mode="reverse", chunk_size=5)(x),
    "jacobian by columns": lambda link, x: transforms.jacobian(link, mode="forward", chunk_size=5)(x),
    "jacobian, tall": lambda link, x: transforms.jacobian(lambda s: link(s * x))(np.float32(1)),
    "jacobian by two": lambda link, x: transforms.jacobian(lambda x, y: link(x + y), (0, 1), mode="forward")(x, 0 * x),
    "hessian": lambda link, x: transforms.hessian(lambda x: squares(link, x))(x),
    "sparse_jacobian": lambda link, x: transforms.sparse_jacobian(link, mode="forward")(x),
    "sparse pattern": lambda link, x: transforms.sparse_jacobian(link, sparsity=np.ones((24, 24)), mode="reverse")(x),
    "compile": lambda link, x: xpgrad.compile(lambda x: link(x))(x),
}


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("evaluation", EVALUATIONS)
def test_averages_are_updated_once_by_each_evaluation(evaluation, name):
    x = np.random.default_rng(0).standard_normal((6, 4)).astype("float32")
    expected, link = LINKS[name](), LINKS[name]()
    expected(x)
    EVALUATIONS[evaluation](link, x)
    equal(state(link), state(expected))


@pytest.mark.parametrize("name", LINKS)
def test_members_of_a_batch_cannot_update_averages(name):
    link, x = LINKS[name](), np.random.default_rng(0).standard_normal((3, 6, 4)).astype("float32")
    before = state(link)
    with pytest.raises(BatchError, match=r"leave moving averages as they are by using_config\('train', False\)"):
        transforms.vmap(link)(x)
    equal(state(link), before)


@pytest.mark.parametrize("finetune", [False, True])
@pytest.mark.parametrize("name", LINKS)
def test_a_batch_without_elements_changes_no_average(name, finetune, device):
    link = LINKS[name]().to_device(device)
    before = [np.array(on_host(getattr(link, each))) for each in link.averages]
    x = Variable(device.send(np.ones((0, 4), "float32")))
    y = link(x, finetune=finetune)
    assert y.shape == (0, 4)
    link.cleargrads()
    xp.sum(y).backward()
    assert link.N == 0
    for each, old in zip(link.averages, before, strict=True):
        np.testing.assert_array_equal(on_host(getattr(link, each)), old)
    for param in link.params():
        np.testing.assert_array_equal(on_host(param.grad), 0.0)


@pytest.mark.parametrize("name", LINKS)
def test_a_batch_that_does_not_fit_is_not_counted(name):
    link = LINKS[name]()
    with pytest.raises((InvalidType, ShapeError)):
        link(np.ones((3, 7), "float32"), finetune=True)
    assert link.N == 0
