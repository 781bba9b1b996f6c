"""Operands and options as users have them: NumPy's scalars, which never widen, and shapes and axes as lists."""

import numpy as np
import pytest
from tests.building import array, values, variable

import xpgrad
import xpgrad.array_api as A
import xpgrad.functions as F
import xpgrad.ops as O
from xpgrad.testing.arrays import on_host

OF_A_SCALAR = {
    "add": lambda v, s: A.add(v, s),
    "subtract from": lambda v, s: A.subtract(s, v),
    "maximum": lambda v, s: A.maximum(s, v),
    "pow": lambda v, s: A.pow(v, s),
    "less": lambda v, s: A.less(s, v),
    "where": lambda v, s: A.where(v > 0.5, v, s),
    "where instead": lambda v, s: A.where(v > 0.5, s, v),
    "clip": lambda v, s: A.clip(v, min=s, max=s),
    "full_like": lambda v, s: A.full_like(v, s),
    "linspace": lambda v, s: A.linspace(v[0, 0], s, 3),
    "var": lambda v, s: A.var(v, correction=s),
    "std": lambda v, s: A.std(v, correction=s),
    "vector_norm": lambda v, s: A.linalg.vector_norm(v, ord=s),
    "xlogy": lambda v, s: A.special.xlogy(v, s),
    "scatter_add": lambda v, s: O.scatter_add(v, 0, s),
    "interp": lambda v, s: O.interp(v, v[0], v[1], s, s),
    "isclose": lambda v, s: O.isclose(s, v),
    "nan_to_num": lambda v, s: O.nan_to_num(v, nan=s),
    "pad": lambda v, s: O.pad(v, 1, constant_values=s),
    "polyval": lambda v, s: O.polyval(v[0], s),
    "trapezoid": lambda v, s: O.trapezoid(v, dx=s),
    "numpy.where": lambda v, s: np.where(v > 0.5, v, s),
    "numpy.power": lambda v, s: np.power(s, v),
    "leaky_relu": lambda v, s: F.leaky_relu(v, s),
    "leaky_relu, named": lambda v, s: F.leaky_relu(v, slope=s),
    "elu": lambda v, s: F.elu(v, s),
    "clipped_relu": lambda v, s: F.clipped_relu(v, s),
    "softplus": lambda v, s: F.softplus(v, s),
    "huber_loss": lambda v, s: F.huber_loss(v, 2 * v, s),
}


def outcome(function, v, option):
    """Return value, dtype and gradient."""
    v.cleargrad()
    y = function(v, option)
    y = y[0] if isinstance(y, (tuple, list)) else y
    if y.requires_grad:
        xpgrad.backward([y], [A.ones_like(y)])
        assert v.grad.dtype == v.dtype
    v_grad = None if v.grad is None else values(v.grad)
    return values(y), y.array.dtype, y.dtype, v_grad


@pytest.mark.parametrize("name", OF_A_SCALAR)
def test_numpy_scalar_acts_like_python_scalar(device, name):
    v = variable(device, np.linspace(0.125, 0.875, 12).reshape(3, 4))
    for scalar in (np.float64(2), np.float32(2), np.int64(2)):
        with xpgrad.using_device(device):
            expected = outcome(OF_A_SCALAR[name], v, scalar.item())
            assert outcome(OF_A_SCALAR[name], v, scalar) == expected, type(scalar)


SHAPES = {
    "zeros": (lambda v, s: A.zeros(s), [2, 3], (2, 3)),
    "full": (lambda v, s: A.full(s, v[0, 0, 0]), [2, 3], (2, 3)),
    "full, a length": (lambda v, s: A.full(s, v[0, 0, 0]), np.int64(2), (2,)),
    "broadcast_to": (lambda v, s: A.broadcast_to(v, s), [3, 2, 4], (3, 2, 4)),
    "broadcast_to, the same": (lambda v, s: A.broadcast_to(v, shape=s), [3, 1, 4], (3, 1, 4)),
    "broadcast_to, a length": (lambda v, s: A.broadcast_to(v[0, 0, 0], s), 3, (3,)),
    "reshape": (lambda v, s: A.reshape(v, s), [4, -1], (4, 3)),
    "reshape, a length": (lambda v, s: A.reshape(v, s), np.int64(12), (12,)),
    "x.reshape": (lambda v, s: v.reshape(s), [4, 3], (4, 3)),
    "tile": (lambda v, s: A.tile(v, s), [2, 1], (2, 1)),
    "expand_dims": (lambda v, s: A.expand_dims(v, axis=s), [0, 2], (0, 2)),
    "squeeze": (lambda v, s: A.squeeze(v, axis=s), [1], (1,)),
    "permute_dims": (lambda v, s: A.permute_dims(v, s), [2, 0, 1], (2, 0, 1)),
    "moveaxis": (lambda v, s: A.moveaxis(v, s, [0, 1]), [1, 2], (1, 2)),
    "roll": (lambda v, s: A.roll(v, s, axis=s), [2, 0], (2, 0)),
    "flip": (lambda v, s: A.flip(v, axis=s), [0, 2], (0, 2)),
    "tensordot": (lambda v, s: A.tensordot(v, v, axes=s), [[0, 2], [0, 2]], ((0, 2), (0, 2))),
    "sum": (lambda v, s: A.sum(v, axis=s), [0, 2], (0, 2)),
    "x.sum": (lambda v, s: v.sum(axis=s), [0, 2], (0, 2)),
    "max": (lambda v, s: A.max(v, axis=s), [0, 2], (0, 2)),
    "var": (lambda v, s: A.var(v, axis=s), [0, 2], (0, 2)),
    "any": (lambda v, s: A.any(v > 0.5, axis=s), [0, 2], (0, 2)),
    "vector_norm": (lambda v, s: A.linalg.vector_norm(v, axis=s), [0, 2], (0, 2)),
    "fftshift": (lambda v, s: A.fft.fftshift(v, axes=s), [0, 2], (0, 2)),
    "logsumexp": (lambda v, s: O.logsumexp(v, axis=s), [0, 2], (0, 2)),
    "median": (lambda v, s: O.median(v, axis=s), [0, 2], (0, 2)),
    "nanmean": (lambda v, s: O.nanmean(v, axis=s), [0, 2], (0, 2)),
    "numpy.broadcast_to": (lambda v, s: np.broadcast_to(v, s), [3, 2, 4], (3, 2, 4)),
    "F.broadcast_to": (lambda v, s: F.broadcast_to(v, s), [3, 2, 4], (3, 2, 4)),
    "F.mean": (lambda v, s: F.mean(v, axis=s), [0, 2], (0, 2)),
    "F.squeeze": (lambda v, s: F.squeeze(v, s), [1], (1,)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_lists_are_accepted_as_shapes_and_axes(device, name):
    function, given, plain = SHAPES[name]
    v = variable(device, np.linspace(0.125, 0.875, 12).reshape(3, 1, 4))
    with xpgrad.using_device(device):
        assert outcome(function, v, given) == outcome(function, v, plain)


OF_AN_AXIS = {
    "sum": lambda v, n: A.sum(v, axis=n),
    "max": lambda v, n: A.max(v, axis=n),
    "mean": lambda v, n: A.mean(v, axis=n),
    "cumulative_sum": lambda v, n: A.cumulative_sum(v, axis=n),
    "sort": lambda v, n: A.sort(v, axis=n),
    "roll": lambda v, n: A.roll(v, n),
    "repeat": lambda v, n: A.repeat(v, n, axis=n),
    "diff": lambda v, n: A.diff(v, axis=n, n=n),
    "unstack": lambda v, n: A.stack(A.unstack(v, axis=n)),
    "tensordot": lambda v, n: A.tensordot(v, v.T, axes=n),
    "trace": lambda v, n: A.linalg.trace(v, offset=n),
    "pad": lambda v, n: O.pad(v, n),
    "cov": lambda v, n: O.cov(v, axis=n),
    "index_add": lambda v, n: O.index_add(v, array(v.device, [0, 1], "int64"), 1.0, axis=n),
    "softmax": lambda v, n: F.softmax(v, axis=n),
    "normalize": lambda v, n: F.normalize(v, axis=n),
    "split_axis": lambda v, n: F.split_axis(v, n, n),
    "rollaxis": lambda v, n: F.rollaxis(v, n),
    "batch_normalization": lambda v, n: F.batch_normalization(v, v[:, 0], v[:, 1], axis=n),
    "linear": lambda v, n: F.linear(v, v[:2], n_batch_axes=n),
}


@pytest.mark.parametrize("name", OF_AN_AXIS)
def test_whole_numbers_of_numpy_are_axes_and_counts(device, name):
    v = variable(device, np.linspace(0.125, 0.875, 12).reshape(3, 4))
    with xpgrad.using_device(device):
        assert outcome(OF_AN_AXIS[name], v, np.int64(1)) == outcome(OF_AN_AXIS[name], v, 1)


def test_a_reduction_of_a_raw_array_scales_a_variable(device):
    raw = np.linspace(0.1, 1.0, 5, dtype="float64")
    v = variable(device, [1.0, 2.0])
    y = A.divide(A.subtract(v, raw.mean()), raw.std())
    np.testing.assert_allclose(on_host(y), (np.asarray([1.0, 2.0]) - raw.mean()) / raw.std(), rtol=1e-6)
    assert y.dtype == v.dtype
