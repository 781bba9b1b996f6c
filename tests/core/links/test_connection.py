"""Small links: their values, and their errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L

X = np.random.default_rng(0).standard_normal((2, 3, 4)).astype("f")


def test_sums_and_products_with_parameters_or_arguments():
    link = L.Scale(1, (3,), bias_term=True)
    link.W.array, link.bias.b.array = np.array([1, 2, 3], "f"), np.array([4, 5, 6], "f")
    expected = X * np.array([1, 2, 3], "f")[:, None] + np.array([4, 5, 6], "f")[:, None]
    np.testing.assert_allclose(link(X).array, expected, rtol=1e-6)
    w = np.array([2, 2, 2], "f")
    np.testing.assert_allclose(L.Scale()(X, w).array, X * 2)
    np.testing.assert_allclose(L.Bias()(X, w).array, X + 2)
    with pytest.raises(TypeError, match="Scale: expected x, as the link has W, got 2 arguments"):
        link(X, w)
    with pytest.raises(TypeError, match="Bias: expected x and b, got 1 arguments"):
        L.Bias()(X)
    with pytest.raises(ValueError, match="bias_term needs W_shape or bias_shape"):
        L.Scale(bias_term=True)


def test_bilinear_form():
    e1, e2 = X[:, :, 0], X[:, :2, 1]
    link = L.Bilinear(3, 2, 4, initial_bias=(1, 2, 3))
    W = link.W.array
    expected = np.einsum("ni,nj,ijk->nk", e1, e2, W) + e1.sum(1, keepdims=True) + 2 * e2.sum(1, keepdims=True) + 3
    np.testing.assert_allclose(link(e1, e2).array, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="initial_bias must be a tuple for V1, V2 and b"):
        L.Bilinear(3, 2, 4, initial_bias=1)


def test_activations():
    x = X[:, :, 0]
    link = L.Maxout(3, 2, 4, initialW=np.arange(24, dtype="f").reshape(2, 4, 3), initial_bias=np.ones((2, 4), "f"))
    expected = (x @ np.arange(24).reshape(8, 3).T + 1).reshape(2, 2, 4).max(2)
    np.testing.assert_allclose(link(x).array, expected, rtol=1e-5)
    assert L.Maxout(3, 2, 4, initial_bias=None).linear.b is None
    link = L.Highway(3, activate=F.tanh)
    assert link.transform.b.array[0] == -1
    t = 1 / (1 + np.exp(-link.transform(x).array))
    np.testing.assert_allclose(link(x).array, t * np.tanh(link.plain(x).array) + (1 - t) * x, rtol=1e-5)
    np.testing.assert_allclose(L.PReLU()(x).array, np.where(x > 0, x, 0.25 * x))
    link = L.Swish((3,), np.array([1, 2, 3], "f"))
    np.testing.assert_allclose(link(X).array, X / (1 + np.exp(-X * np.array([1, 2, 3])[:, None])), rtol=1e-5)


def test_dropped_weights():
    link, x = L.SimplifiedDropconnect(4, 5, 0.25, initial_bias=2), X[0]
    mask = np.random.default_rng(1).random((3, 5, 4)) < 0.5
    expected = np.einsum("nk,nmk->nm", x, mask * link.W.array / 0.75) + 2
    np.testing.assert_allclose(link(x, mask=mask).array, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(link(x, train=False).array, F.linear(x, link.W, link.b).array, rtol=1e-5)


def test_a_single_parameter():
    link = L.Parameter(np.ones(3, "f"))
    assert link() is link.W


def test_paths_of_blocks():
    x = np.random.default_rng(0).standard_normal((2, 3, 6, 6)).astype("f")
    assert L.Inception(3, 2, 1, 3, 1, 4, 5)(x).shape == (2, 14, 6, 6)
    assert L.InceptionBN(3, 0, 1, 2, 1, 4, "max", stride=2)(x).shape == (2, 9, 3, 3)
    with pytest.raises(ValueError, match="pooltype must be 'max' or 'avg', got 'min'"):
        L.InceptionBN(3, 0, 1, 2, 1, 4, "min")
    with pytest.raises(ValueError, match="with out1, stride must be 1 and proj_pool given, got 2, None"):
        L.InceptionBN(3, 1, 1, 2, 1, 4, "max", stride=2)
    link = L.MLPConvolution2D(3, (4, 2), 3, activation=F.tanh)
    np.testing.assert_allclose(link(x).array, link[1](F.tanh(link[0](x))).array)
    with pytest.raises(TypeError, match="expected out_channels to be a sequence of int"):
        L.MLPConvolution2D(3, 4, 2)


def test_heads_divide_the_features():
    with pytest.raises(ValueError, match="size must be a multiple of n_heads, got 5 and 2"):
        L.MultiHeadAttention(2, 5)
    x = xpgrad.Variable(X)
    link = L.MultiHeadAttention(2, 4)
    np.testing.assert_allclose(link(x).array, link(x, x, x).array)
