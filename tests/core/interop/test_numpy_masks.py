"""`where=`, `initial=` and `mean=` of NumPy's reductions of Variables."""

import numpy as np
import pytest
from tests.core.interop.test_numpy_functions import X, compare

import xpgrad
from xpgrad import Variable
from xpgrad.testing.arrays import on_host, placed

M = np.array([[True, False, True], [False, True, True]])
HOLES = np.where(M, X, np.nan)
REDUCTIONS = {  # test_numpy_arguments has each of these arguments alone, and pairs of them
    "sum": lambda x: np.sum(x, where=M),
    "sum-axis": lambda x: np.sum(x, axis=1, keepdims=True, where=M, initial=2.5),
    "prod": lambda x: np.prod(x, axis=0, where=M, initial=3.0),
    "max": lambda x: np.max(x, axis=1, where=M, initial=-9.0),
    "max-none": lambda x: np.max(x, axis=0, where=np.zeros((2, 3), bool), initial=0.5),
    "max-empty": lambda x: np.max(x[:0], axis=0, initial=0.5),
    "amin": lambda x: np.amin(x, where=M, initial=7.0),
    "mean": lambda x: np.mean(x, where=M),
    "mean-axis": lambda x: np.mean(x, 1, keepdims=True, where=M),
    "var": lambda x: np.var(x, where=M, ddof=1),
    "var-axis": lambda x: np.var(x, axis=1, where=M),
    "var-mean": lambda x: np.var(x, axis=1, mean=np.mean(x, axis=1, keepdims=True)),
    "std": lambda x: np.std(x, axis=1, keepdims=True, where=M),
    "nansum": lambda x: np.nansum(x, axis=0, where=M, initial=1.0),
    "nanmax": lambda x: np.nanmax(x, axis=0, where=M, initial=-3.0),
    "add.reduce": lambda x: np.add.reduce(x, where=M, initial=0.5),
    "add.reduce-all": lambda x: np.add.reduce(x, axis=None, where=M),
    "add.reduce-dtype": lambda x: np.add.reduce(x, dtype=np.float32),
    "multiply.reduce": lambda x: np.multiply.reduce(x, axis=1, where=M),
    "maximum.reduce": lambda x: np.maximum.reduce(x, axis=1, where=M, initial=-1.0),
    "minimum.reduce": lambda x: np.minimum.reduce(x, initial=0.0),
    "logical_and.reduce": lambda x: np.logical_and.reduce(x > -1, where=M),
    "logical_or.reduce": lambda x: np.logical_or.reduce(x > 1, axis=1, where=M),
    "logaddexp.reduce": lambda x: np.logaddexp.reduce(x, axis=1, where=M, initial=-np.inf),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_over_a_part(name):
    compare(REDUCTIONS[name], X)


@pytest.mark.parametrize(
    "name",
    ["sum", "prod", "max", "amin", "mean", "mean-axis", "var", "var-axis", "std", "add.reduce", "maximum.reduce"],
)
def test_masked_nan_does_not_affect_results(name):
    x = Variable(HOLES.copy())
    y = REDUCTIONS[name](x)
    np.testing.assert_allclose(on_host(y), REDUCTIONS[name](X), rtol=1e-12)
    (gx,) = xpgrad.grad([y], [x])
    assert np.all(np.isfinite(gx.array))
    assert np.all(gx.array[~M] == 0)


OF_LISTS = {
    "sum": lambda x: np.sum(x, where=M.tolist()),
    "prod": lambda x: np.prod(x, axis=0, where=M.tolist(), initial=3.0),
    "max": lambda x: np.max(x, axis=1, where=M.tolist(), initial=-9.0),
    "min": lambda x: np.min(x, where=M.tolist(), initial=9.0),
    "mean": lambda x: np.mean(x, axis=1, where=M.tolist()),
    "var": lambda x: np.var(x, where=M.tolist()),
    "std": lambda x: np.std(x, axis=1, where=M.tolist()),
    "any": lambda x: np.any(x > 1, where=M.tolist()),
    "nansum": lambda x: np.nansum(x, axis=1, where=M.tolist()),
}


@pytest.mark.parametrize("name", OF_LISTS)
def test_a_reduction_over_a_part_on_each_device(name, device):
    x = Variable(placed(X, device))
    y = OF_LISTS[name](x)
    np.testing.assert_allclose(on_host(y), OF_LISTS[name](X), rtol=1e-12)
    if not y.requires_grad:
        return
    (gx,) = xpgrad.grad([y], [x], enable_double_backprop=True)
    (ggx,) = xpgrad.grad([(gx**2).sum()], [x]) if gx.requires_grad else (None,)
    assert gx.device == device
    assert ggx is None or np.all(np.isfinite(on_host(ggx)))


def test_complex_numbers_in_part():
    z = X + 1j * X[::-1, ::-1]
    for f in (lambda v: np.sum(v, where=M), lambda v: np.mean(v, 1, where=M), lambda v: np.var(v, where=M)):
        np.testing.assert_allclose(on_host(f(Variable(z))), f(z), rtol=1e-12)
        assert on_host(f(Variable(z))).dtype == f(z).dtype


@pytest.mark.parametrize("f", [np.mean, np.var, np.std])
def test_means_of_many_half_precision_numbers_in_part(f):
    mask = np.ones(70_000, bool)
    mask[::7] = False
    a = (np.arange(70_000) % 5).astype(np.float16)
    x = Variable(a)
    y = f(x, where=mask)
    y.backward()
    assert y.dtype == x.grad.dtype == np.float16
    assert float(y.array) == pytest.approx(float(f(a.astype(np.float64), where=mask)), rel=2e-3)
    if f is np.mean:
        assert np.all(x.grad[mask] > 0)
        assert np.all(x.grad[~mask] == 0)


def test_whole_numbers_in_part():
    i = np.array([[3, 5, 7], [2, 4, 8]])
    for f in (np.sum, np.prod, np.mean, np.std):
        compare(lambda x, f=f: f(x, axis=0, where=M), i)
    compare(lambda x: np.max(x, where=M, initial=4), i)
    compare(lambda x: np.nansum(x, where=M), i.astype(float))


def test_a_standard_deviation_of_equal_numbers_has_the_derivative_0():
    for f in (np.nanstd, lambda v: np.std(v, where=[True, True, False])):
        x = Variable(np.array([2.0, 2.0, 2.0]))
        f(x).backward()
        assert x.grad.tolist() == [0, 0, 0]


def test_a_tie_with_the_initial_value_is_shared():
    x = Variable(np.array([1.0, 3.0, 3.0]))
    np.max(x, initial=3.0).backward()
    assert x.grad.tolist() == [0, 0.25, 0.25]


def test_a_maximum_over_a_part_needs_an_initial_value():
    with pytest.raises(ValueError, match=r"numpy\.max: .*give initial= as well"):
        np.max(Variable(X), where=M)
