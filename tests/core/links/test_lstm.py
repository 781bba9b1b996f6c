"""Links with a state: shrinking batches, states that are set, truncation, and compiled sequences."""

import copy
import pickle

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
import xpgrad.links as L

RNG = np.random.default_rng(0)


def real(*shape):
    return RNG.standard_normal(shape).astype("f")


def test_biases_at_first():
    link = L.LSTM(3, 2, bias_init=5, forget_bias_init=7)
    np.testing.assert_array_equal(link.upward.b.array, [5, 5, 7, 5] * 2)
    np.testing.assert_array_equal(L.LSTM(3, 2).upward.b.array, [0, 0, 1, 0] * 2)


def test_weights_of_each_gate_are_drawn_separately():
    link = L.LSTM(3, 4, lateral_init=xpgrad.initializers.Orthogonal(1.0))
    for k in range(4):
        block = link.lateral.W.array[4 * k : 4 * k + 4]
        np.testing.assert_allclose(block @ block.T, np.eye(4), atol=1e-5)
    assert L.LSTM(3, 100, upward_init=None).upward.W.array.std() == pytest.approx(3**-0.5, rel=0.1)


def test_steps_agree_with_the_stateless_link():
    link = L.LSTM(3, 2)
    c = h = None
    for _ in range(3):
        x = real(4, 3)
        c, h = L.StatelessLSTM.forward(link, c, h, x)
        y = link(x)
        np.testing.assert_allclose(y.array, h.array, rtol=1e-6)
        np.testing.assert_allclose(link.c.array, c.array, rtol=1e-6)


def test_batches_may_shrink():
    link, xs = L.LSTM(3, 2), [real(4, 3), real(2, 3), real(0, 3), real(2, 3)]
    ys = [link(x) for x in xs]
    assert [y.shape for y in ys] == [(4, 2), (2, 2), (0, 2), (2, 2)]
    assert link.h.shape == link.c.shape == (4, 2)
    np.testing.assert_array_equal(link.h.array[2:], ys[0].array[2:])
    whole = L.LSTM(3, 2)
    whole.copyparams(link)
    for x in xs[0], xs[1], xs[3]:
        y = whole(x)
    np.testing.assert_allclose(ys[3].array, y.array[:2], rtol=1e-6)
    with pytest.raises(TypeError, match="LSTM: expected a batch of at most 4, as in the step before, got 5"):
        link(real(5, 3))


@pytest.mark.parametrize("make", [L.LSTM, L.StatefulPeepholeLSTM, L.StatefulZoneoutLSTM, L.StatefulGRU, L.StatefulMGU])
def test_a_state_is_set_and_forgotten(make):
    link = make(3, 2)
    names = type(link).states
    assert all(getattr(link, name) is None for name in names)
    with xpgrad.using_config("train", False):
        link(real(4, 3))
        kept = [getattr(link, name) for name in names]
        x = real(4, 3)
        first = link(x)
        link.reset_state()
        assert all(getattr(link, name) is None for name in names)
        link.set_state(*kept)
        np.testing.assert_allclose(link(x).array, first.array, rtol=1e-6)
    with pytest.raises(TypeError, match=rf"{make.__name__}.set_state: expected {names[0]} a Variable, got ndarray"):
        link.set_state(*[x.array for x in kept])


def test_a_state_moves_with_the_link():
    pytest.importorskip("array_api_strict")
    link = L.LSTM(3, 2)
    link(real(4, 3))
    link.to_device("@strict")
    assert link.h.device == link.c.device == xpgrad.get_device("@strict")
    assert link.h.creator is None


def test_a_pickled_state_has_no_graph():
    link = L.LSTM(3, 2)
    link(real(4, 3))
    again = pickle.loads(pickle.dumps(link))
    np.testing.assert_array_equal(again.h.array, link.h.array)
    assert again.h.creator is None
    np.testing.assert_array_equal(copy.deepcopy(link).c.array, link.c.array)


def test_backward_stops_where_the_graph_was_cut():
    link = L.LSTM(3, 2)
    first = xpgrad.Variable(real(4, 3))
    y = link(first)
    y.unchain_backward()
    F.sum(link(real(4, 3))).backward()
    assert first.grad is None
    assert link.lateral.W.grad is not None


def test_zoneout_keeps_elements_in_training():
    link, x = L.StatefulZoneoutLSTM(3, 50, c_ratio=1 / 4, h_ratio=0.9), real(1, 3)
    link(x)
    before = link.h.array
    link(x)
    assert 0.8 < (link.h.array == before).mean() < 1
    with xpgrad.using_config("train", False):
        link(x)
        assert (link.h.array != before).any()


def test_peepholes_see_the_cell():
    link = L.StatefulPeepholeLSTM(3, 2)
    link(real(4, 3))
    c, h, x = link.c.array, link.h.array, real(4, 3)
    a, i, f, o = np.moveaxis((link.upward(x) + link.lateral(h)).array.reshape(4, 2, 4), 2, 0)

    def gate(z):
        return 1 / (1 + np.exp(-z))

    new = np.tanh(a) * gate(i + c @ link.peep_i.W.array.T) + gate(f + c @ link.peep_f.W.array.T) * c
    expected = gate(o + new @ link.peep_o.W.array.T) * np.tanh(new)
    np.testing.assert_allclose(link(x).array, expected, rtol=1e-4, atol=1e-6)


def test_gated_units():
    link, h, x = L.StatelessGRU(3, 2), real(4, 2), real(4, 3)

    def gate(z):
        return 1 / (1 + np.exp(-z))

    r = gate((link.W_r(x) + link.U_r(h)).array)
    z = gate((link.W_z(x) + link.U_z(h)).array)
    expected = z * np.tanh((link.W(x) + link.U(r * h)).array) + (1 - z) * h
    np.testing.assert_allclose(link(h, x).array, expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="GRU: expected one argument x, got 2; StatelessGRU takes h and x"):
        L.GRU(3, 2)(h, x)


def test_a_state_set_by_a_compiled_call_agrees_with_an_eager_call():
    link, x = L.LSTM(3, 2), real(4, 3)
    link(x)
    expected = link.h.array
    link.reset_state()
    xpgrad.compile(lambda x: link(x))(x)
    np.testing.assert_array_equal(link.h.array, expected)
    link(x)
    link.reset_state()
    with pytest.warns(xpgrad.errors.CompileWarning, match="changed .* an argument"):
        xpgrad.compile(lambda link, x: link(x))(link, x)
    np.testing.assert_array_equal(link.h.array, expected)


def test_trees():
    link = L.ChildSumTreeLSTM(3, 2)
    c1, c2, h1, h2, x = real(4, 2), real(4, 2), real(4, 2), real(4, 2), real(4, 3)
    one, two = link(c1, c2, h1, h2, x), link(c2, c1, h2, h1, x)
    np.testing.assert_allclose(one[1].array, two[1].array, rtol=1e-5)
    leaf = link(x)
    np.testing.assert_allclose(link(None, None, x)[1].array, leaf[1].array, rtol=1e-5)
    np.testing.assert_allclose(link(c1, h1, None)[0].array, link(c1, h1, np.zeros((4, 3), "f"))[0].array, rtol=1e-5)
    with pytest.raises(ValueError, match="expected an input, or a state of a child; all are None"):
        link(None, None, None)
    with pytest.raises(TypeError, match="expected 2 cells, 2 outputs and x, got 3 arguments"):
        L.NaryTreeLSTM(3, 2)(c1, h1, x)


def test_sequences_are_a_list():
    with pytest.raises(TypeError, match="NStepGRU: expected xs to be a list of sequences"):
        L.NStepGRU(1, 3, 2, 0.0)(None, real(4, 3))
