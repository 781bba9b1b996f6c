"""ChainerX's routines of windows and of normalization: statistics, options, gradients; test_routines.py has values."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
import xpgrad_chx as chx

X = np.sin(np.arange(2 * 2 * 4 * 5.0)).reshape(2, 2, 4, 5)
W = np.cos(np.arange(3 * 2 * 2 * 3.0)).reshape(3, 2, 2, 3)
B = np.array([0.5, -1.0, 2.0])
GAMMA, BETA, MEAN, VAR = np.array([1.5, 0.7]), np.array([0.2, -0.4]), np.array([0.1, 0.3]), np.array([0.8, 1.6])


def _normalised(x, gamma, beta, mean, var, eps=2e-5):
    mean, var, gamma, beta = (each[:, None, None] for each in (mean, var, gamma, beta))
    return (x - mean) / np.sqrt(var + eps) * gamma + beta


def test_batch_norm_updates_its_arguments():
    mean, var = chx.array(MEAN), chx.array(VAR)
    x = chx.array(X).require_grad()
    y = chx.batch_norm(x, chx.array(GAMMA), chx.array(BETA), mean, var, eps=1e-3, decay=0.75)
    of_batch = X.mean((0, 2, 3)), X.var((0, 2, 3))
    np.testing.assert_allclose(chx.to_numpy(y), _normalised(X, GAMMA, BETA, *of_batch, 1e-3), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(chx.to_numpy(mean), 0.75 * MEAN + 0.25 * of_batch[0], rtol=1e-10)
    count = X.size // 2
    np.testing.assert_allclose(chx.to_numpy(var), 0.75 * VAR + 0.25 * of_batch[1] * count / (count - 1), rtol=1e-10)
    y.backward()
    np.testing.assert_allclose(chx.to_numpy(x.grad), 0, atol=1e-10)  # a shift of the batch does not change the output


def test_axis_of_the_statistics():
    x = chx.array(X)
    flat = np.ones((4, 5)), np.zeros((4, 5))
    gamma, beta = map(chx.array, flat)
    y = chx.batch_norm(x, gamma, beta, chx.zeros((4, 5)), chx.ones((4, 5)), axis=(0, 1))
    expected = (X - X.mean((0, 1))) / np.sqrt(X.var((0, 1)) + 2e-5)
    np.testing.assert_allclose(chx.to_numpy(y), expected, rtol=1e-10, atol=1e-12)


def test_gradients_of_a_convolution_agree_with_variables():
    x, w, b = (chx.array(each).require_grad() for each in (X, W, B))
    chx.sum(chx.square(chx.conv(x, w, b, stride=2, pad=1, cover_all=True))).backward()
    vs = [xpgrad.Variable(each) for each in (X, W, B)]
    F.sum(F.square(F.convolution_nd(*vs, stride=2, pad=1, cover_all=True))).backward()
    for mine, v in zip((x, w, b), vs, strict=True):
        np.testing.assert_allclose(chx.to_numpy(mine.grad), v.grad, rtol=1e-10)


def test_wrong_options_and_operands():
    with pytest.raises(ValueError, match="pad_mode must be 'ignore' or 'zero', got 'edge'"):
        chx.average_pool(chx.array(X), 2, pad_mode="edge")
    with pytest.raises(chx.DimensionError, match="convolution_nd"):
        chx.conv(chx.array(X), chx.array(W[:, :1]))
    with pytest.raises(chx.DeviceError, match="arrays of two devices"):
        chx.conv(chx.array(X), chx.array(W, device="native:1"))
