"""The methods of a Variable with names of array methods: results of NumPy's methods, and gradients."""

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable
from xpgrad.errors import ShapeError
from xpgrad.testing.arrays import on_host, placed

X = np.array([[0.31, -1.27, 0.83, 2.11], [1.61, 0.47, -0.59, -1.03], [-0.73, 0.91, 1.43, 0.19]])
METHODS = {
    "all": lambda x: (x > -1).all(0),
    "any": lambda x: (x > 1).any(1, keepdims=True),
    "argmax": lambda x: x.argmax(1),
    "argmin": lambda x: x.argmin(),
    "argsort": lambda x: x.argsort(0),
    "argsort-flat": lambda x: x.argsort(axis=None),
    "clip": lambda x: x.clip(-0.5, 1.0),
    "clip-min": lambda x: x.clip(min=-0.5),
    "conj": lambda x: x.conj(),
    "conjugate": lambda x: x.conjugate(),
    "copy": lambda x: x.copy(),
    "cumprod": lambda x: x.cumprod(),
    "cumprod-axis": lambda x: x.cumprod(0),
    "cumsum": lambda x: x.cumsum(),
    "cumsum-axis": lambda x: x.cumsum(axis=1),
    "cumsum-0d": lambda x: x[0, 0].cumsum() if isinstance(x, Variable) else np.cumsum(x[0, 0]),
    "diagonal": lambda x: x.diagonal(),
    "diagonal-offset": lambda x: x.diagonal(-1),
    "diagonal-beyond": lambda x: x.diagonal(7),
    "diagonal-axes": lambda x: x.reshape(2, 3, 2).diagonal(1, 0, 1),
    "dot": lambda x: x.dot(x.T),
    "dot-scalar": lambda x: x.dot(2.5),
    "dot-vector": lambda x: x.dot(x[0]),
    "flatten": lambda x: x.flatten(),
    "mean": lambda x: x.mean(0),
    "min": lambda x: x.min(1),
    "nonzero": lambda x: (x > 0).nonzero()[1],
    "ravel": lambda x: x.T.ravel(),
    "repeat": lambda x: x.repeat(2, 0),
    "repeat-flat": lambda x: x.repeat(np.int64(2)),
    "repeat-counts": lambda x: x.repeat([2, 0, 1], axis=0),
    "round": lambda x: x.round(),
    "round-decimals": lambda x: x.round(1),
    "round-tens": lambda x: (x * 100).round(-1),
    "squeeze": lambda x: x[:1].squeeze(0),
    "std": lambda x: x.std(0),
    "std-ddof": lambda x: x.std(axis=1, ddof=1),
    "swapaxes": lambda x: x.reshape(3, 2, 2).swapaxes(0, -1),
    "take": lambda x: x.take([0, -1, 5, 0]),
    "take-axis": lambda x: x.take([[3, 0], [0, 1]], axis=1),
    "take-one": lambda x: x.take(2, 0),
    "take-none": lambda x: x.take([], axis=1),
    "trace": lambda x: x.trace(),
    "trace-axes": lambda x: x.reshape(2, 3, 2).trace(-1, 1, 0),
    "var": lambda x: x.var(0, ddof=2),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_agrees_with_numpy_and_has_a_gradient(name, device, rng):
    method, x = METHODS[name], Variable(placed(X, device))
    y, expected = method(x), np.asarray(method(X))
    assert y.shape == expected.shape
    np.testing.assert_allclose(on_host(y), expected, rtol=1e-12, atol=1e-15)
    if not y.requires_grad:
        assert expected.dtype != np.float64 or name.startswith("round")
        return
    weight, direction = rng.standard_normal(y.shape), rng.standard_normal(X.shape)
    (gx,) = xpgrad.grad([y], [x], [Variable(placed(weight, device))])
    numeric = np.sum(weight * (method(X + 1e-6 * direction) - method(X - 1e-6 * direction))) / 2e-6
    assert np.sum(on_host(gx) * direction) == pytest.approx(numeric, rel=1e-6, abs=1e-8)


def test_copy_has_separate_memory_and_detach_shares_memory():
    a = X.copy()
    x = Variable(a)
    copied, detached = x.copy(), x.detach()
    assert copied.requires_grad
    assert not detached.requires_grad
    assert detached.creator is None
    assert np.shares_memory(detached.array, a)
    assert not np.shares_memory(copied.array, a)
    y = (x * 2).detach()
    assert not y.requires_grad
    assert y.creator is None


def test_detach_does_not_change_the_graph(device):
    x = Variable(placed(X, device))
    y = (x * x.detach()).sum()
    y.backward()
    np.testing.assert_array_equal(on_host(x.grad), X)


def test_whole_numbers_are_rounded_to_tens(device):
    x = Variable(placed(np.array([13, 25, -48]), device))
    assert on_host(x.round(-1)).tolist() == [10, 20, -50]
    assert on_host(x.round(2)).tolist() == [13, 25, -48]
    assert x.round(-1).dtype == x.dtype


def test_wrong_axes_of_methods_are_errors_that_name_them(device):
    x = Variable(placed(X, device))
    with pytest.raises(IndexError, match="swapaxes: expected distinct axes of an array with 2 axes, got"):
        x.swapaxes(0, 2)
    with pytest.raises(ShapeError, match=r"diagonal: expected an array with at least two axes, got shape \(4,\)"):
        x[0].diagonal()
    with pytest.raises(IndexError, match="take: expected distinct axes"):
        x.take([0], axis=2)
