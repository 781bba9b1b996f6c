"""ChainerX's routines of windows and of normalization: values, gradients, devices."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
import xpgrad_chx as chx

X = np.sin(np.arange(2 * 2 * 4 * 5.0)).reshape(2, 2, 4, 5)
W = np.cos(np.arange(3 * 2 * 2 * 3.0)).reshape(3, 2, 2, 3)
T = np.cos(np.arange(2 * 3 * 2 * 3.0)).reshape(2, 3, 2, 3)
B = np.array([0.5, -1.0, 2.0])
GAMMA, BETA, MEAN, VAR = np.array([1.5, 0.7]), np.array([0.2, -0.4]), np.array([0.1, 0.3]), np.array([0.8, 1.6])


def _windows(x, kh, kw, sh, sw):
    """Yield the position of each window, and the window."""
    for i in range((x.shape[2] - kh) // sh + 1):
        for j in range((x.shape[3] - kw) // sw + 1):
            yield i, j, x[:, :, i * sh : i * sh + kh, j * sw : j * sw + kw]


def _of_windows(x, kh, kw, stride, function, channels):
    sh, sw = stride
    y = np.zeros((len(x), channels, (x.shape[2] - kh) // sh + 1, (x.shape[3] - kw) // sw + 1))
    for i, j, window in _windows(x, kh, kw, sh, sw):
        y[:, :, i, j] = function(window)
    return y


def _padded(x, value=0.0):
    return np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=value)


def _conv(x, w, b, stride=(1, 1)):
    return _of_windows(x, *w.shape[2:], stride, lambda p: np.einsum("ncij,ocij->no", p, w) + b, len(w))


def _transposed(x, w, b):
    y = np.zeros((len(x), w.shape[1], x.shape[2] + w.shape[2] - 1, x.shape[3] + w.shape[3] - 1)) + b[:, None, None]
    for i in range(x.shape[2]):
        for j in range(x.shape[3]):
            y[:, :, i : i + w.shape[2], j : j + w.shape[3]] += np.einsum("nc,coij->noij", x[:, :, i, j], w)
    return y


def _normalised(x, gamma, beta, mean, var, eps=2e-5):
    mean, var, gamma, beta = (each[:, None, None] for each in (mean, var, gamma, beta))
    return (x - mean) / np.sqrt(var + eps) * gamma + beta


def _ones_like_mean(p):
    return np.nanmean(p, axis=(2, 3))


CALLS = {
    "conv": (chx.conv, (X, W, B), {}, _conv(X, W, B)),
    "conv-pad": (chx.conv, (X, W, B), {"stride": (2, 1), "pad": 1}, _conv(_padded(X), W, B, (2, 1))),
    "conv_transpose": (chx.conv_transpose, (X, T, B), {}, _transposed(X, T, B)),
    "max_pool": (chx.max_pool, (X, 2), {}, _of_windows(X, 2, 2, (2, 2), lambda p: p.max((2, 3)), 2)),
    "max_pool-stride": (chx.max_pool, (X, (2, 3)), {"stride": 1},
        _of_windows(X, 2, 3, (1, 1), lambda p: p.max((2, 3)), 2)),
    "average_pool": (chx.average_pool, (X, 2), {}, _of_windows(X, 2, 2, (2, 2), lambda p: p.mean((2, 3)), 2)),
    "average_pool-zero": (chx.average_pool, (X, 2), {"stride": 1, "pad": 1, "pad_mode": "zero"},
        _of_windows(_padded(X), 2, 2, (1, 1), lambda p: p.mean((2, 3)), 2)),
    "average_pool-ignore": (chx.average_pool, (X, 2), {"stride": 1, "pad": 1},
        _of_windows(_padded(X, np.nan), 2, 2, (1, 1), _ones_like_mean, 2)),
    "fixed_batch_norm": (chx.fixed_batch_norm, (X, GAMMA, BETA, MEAN, VAR), {}, _normalised(X, GAMMA, BETA, MEAN, VAR)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("required", [False, True], ids=["plain", "in a graph"])
def test_value_device_and_graph(name, required):
    function, args, kwargs, expected = CALLS[name]
    operands = [chx.array(x, device="native:1") if isinstance(x, np.ndarray) else x for x in args]
    if required:
        operands[0].require_grad()
    y = function(*operands, **kwargs)
    assert type(y) is chx.ndarray
    assert y.device is chx.get_device("native:1")
    assert y.is_backprop_required() == required
    np.testing.assert_allclose(chx.to_numpy(y), expected, rtol=1e-10, atol=1e-12)
    if required:
        y.backward()
        assert operands[0].grad.shape == X.shape
        assert operands[0].grad.device is y.device


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
