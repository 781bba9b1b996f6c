"""`Linear`, `EmbedID`, and the initial arguments of links."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L


def test_axes_of_the_batch():
    link, x = L.Linear(4, 3), np.ones((2, 5, 4), np.float32)
    assert link(x, n_batch_axes=2).shape == (2, 5, 3)
    lazy = L.Linear(3)
    assert lazy(x).shape == (2, 3)
    assert lazy.W.shape == (3, 20)


def test_initial_values():
    W, b = np.arange(6.0, dtype="f").reshape(2, 3), np.array([7, 8], "f")
    link = L.Linear(3, 2, initialW=W, initial_bias=b)
    x = np.ones((1, 3), "f")
    np.testing.assert_allclose(link(x).array, F.linear(x, W, b).array)
    assert link.W.array is not W
    np.testing.assert_array_equal(L.Linear(3, 2, initialW=0.5).W.array, np.full((2, 3), 0.5))
    np.testing.assert_array_equal(L.Linear(3, 2).b.array, [0, 0])


def test_default_weights_have_the_deviation_of_lecun():
    xpgrad.random.seed(1)
    assert L.Linear(400, 300).W.array.std() == pytest.approx(0.05, rel=0.02)
    assert L.EmbedID(300, 100).W.array.std() == pytest.approx(1, rel=0.02)


def test_parameters_of_given_arrays_are_copies():
    W, b = np.ones((2, 3), np.float64), xpgrad.Parameter(np.zeros(2, np.float64))
    link = L.Linear.from_params(W, b)
    assert link.W.dtype == np.float64
    assert link.in_size == 3
    W[...] = 0
    assert link.W.array.all()
    assert L.Linear.from_params(W, nobias=True).b is None
    rows = L.EmbedID.from_params(W, ignore_label=1)
    assert (rows.W.shape, rows.ignore_label) == ((2, 3), 1)


def test_text_and_errors():
    assert str(L.Linear(3, 2)) == "Linear(in_size=3, out_size=2, nobias=False)"
    with pytest.raises(TypeError, match="Linear: expected out_size to be an int, got None"):
        L.Linear(None)
    with pytest.raises(xpgrad.utils.type_check.InvalidType, match="W of shape"):
        L.Linear(3, 2)(np.ones((4, 5), "f"))
