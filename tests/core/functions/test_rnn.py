"""Recurrent units and networks, embeddings, sequences: dropout, lengths, dtypes, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F

H = np.zeros((1, 2, 3))
XS = [np.ones((2, 4)), np.ones((1, 4))]


def weights(parts, n=3, features=4, layers=1, dtype=float):
    rng = np.random.default_rng(0)
    ws = [
        [
            rng.standard_normal((n, (n if layer else features) if k < parts else n)).astype(dtype)
            for k in range(2 * parts)
        ]
        for layer in range(layers)
    ]
    return ws, [[rng.standard_normal(n).astype(dtype) for _ in range(2 * parts)] for _ in range(layers)]


def test_dropout_between_layers_only_in_training():
    ws, bs = weights(1, layers=2)
    h = np.zeros((2, 2, 3))
    plain = F.n_step_rnn(2, 0.0, h, ws, bs, XS)[1][0].array
    dropped = F.n_step_rnn(2, 0.9, h, ws, bs, XS)[1][0].array
    assert np.abs(plain - dropped).max() > 1e-3
    with xpgrad.using_config("train", False):
        np.testing.assert_array_equal(F.n_step_rnn(2, 0.9, h, ws, bs, XS)[1][0].array, plain)


def test_sequences_that_end_early_keep_their_state():
    ws, bs = weights(3)
    hy, ys = F.n_step_gru(1, 0.0, H, ws, bs, XS)
    np.testing.assert_array_equal(hy.array[0, 1], ys[0].array[1])
    np.testing.assert_array_equal(hy.array[0, 0], ys[1].array[0])


def test_rows_that_are_used_twice_get_both_gradients(device):
    W = xpgrad.Variable(device.send(np.arange(6.0).reshape(3, 2)))
    F.sum(F.embed_id(device.send(np.asarray([[2, 0], [2, -1]])), W, ignore_label=-1)).backward()
    assert xpgrad.get_device(-1).send(W.grad).tolist() == [[1, 1], [0, 0], [2, 2]]


def test_in_debug_mode_numbers_without_a_row_raise(device):
    W = device.send(np.ones((3, 2)))
    with xpgrad.using_config("debug", True):
        with pytest.raises(ValueError, match=r"embed_id: an element of x is not the index of a row, 0 to 2$"):
            F.embed_id(device.send(np.asarray([0, 3])), W)
        with pytest.raises(ValueError, match="nor ignore_label -1"):
            F.embed_id(device.send(np.asarray([0, -2])), W, ignore_label=-1)
        assert F.embed_id(device.send(np.asarray([0, -1])), W, ignore_label=-1).shape == (2, 2)


def test_sequences_of_no_steps():
    assert F.transpose_sequence([]) == ()
    assert F.transpose_sequence([np.ones((0, 2))]) == ()
    assert F.pad_sequence([np.ones(2), np.ones(0)], padding=-1).array.tolist() == [[1, 1], [-1, -1]]
