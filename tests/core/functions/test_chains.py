"""Losses of label sequences: paths, lengths, edges, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F

COST = np.asarray([[0.0, 2.0], [-1.0, 0.5]])
XS = [np.asarray([[1.0, 0.0], [0.0, 3.0], [2.0, 1.0]]), np.asarray([[0.5, 0.0], [0.0, 0.0]]), np.asarray([[4.0, 0.0]])]
YS = [np.asarray([0, 1, 0]), np.asarray([0, 1]), np.asarray([0])]


def test_the_best_labels_have_the_score_that_is_returned(device):
    score, path = F.argmax_crf1d(device.send(COST), [device.send(x) for x in XS])
    labels = [xpgrad.get_device(-1).send(each) for each in path]
    assert [each.tolist() for each in labels] == [[0, 1, 0], [1, 1], [0]]
    assert xpgrad.get_device(-1).send(score.array).tolist() == [1 + 2 + 0 - 1 + 4, 3 + 0.5 + 0, 2]


def test_the_best_labels_of_one_step():
    score, path = F.argmax_crf1d(COST, XS[:1])
    assert (score.array.tolist(), path[0].tolist()) == ([1, 3, 2], [0, 1, 0])


LOGITS = [np.asarray([[0.0, 1.0, 2.0]]), np.asarray([[1.0, 0.0, 0.5]])]


def ctc(t, x=LOGITS, blank=0, **options):
    return F.connectionist_temporal_classification(x, np.asarray(t), blank, **options)


def test_any_symbol_may_be_the_blank():
    turned = [np.roll(x, -1, axis=1) for x in LOGITS]  # symbol k is k - 1, the blank 2
    assert float(ctc([[1]])) == pytest.approx(float(ctc([[0]], turned, blank=2)), rel=1e-12)


def test_a_label_that_is_the_blank_is_a_label():
    p = [np.exp(x[0]) / np.exp(x[0]).sum() for x in LOGITS]
    assert float(ctc([[1, 0]])) == pytest.approx(-np.log(p[0][1] * p[1][0]), rel=1e-12)


def test_labels_that_do_not_fit_into_the_steps_cost_much_but_give_no_nan():
    xs = [xpgrad.Variable(x) for x in LOGITS]
    loss = ctc([[1, 1]], xs)  # which takes a blank in between, so three steps
    loss.backward()
    assert float(loss.array) > 1e300
    assert all(np.isfinite(x.grad).all() for x in xs)


def test_a_sequence_without_labels_is_one_of_blanks():
    p = [np.exp(x[0]) / np.exp(x[0]).sum() for x in LOGITS]
    loss = ctc([[1]], label_length=np.asarray([0]))
    assert float(loss) == pytest.approx(-np.log(p[0][0] * p[1][0]), rel=1e-12)
