"""Losses of label sequences: paths, lengths, edges, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.utils.type_check import InvalidType

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


def test_a_chain_of_one_step_is_a_softmax():
    loss = F.crf1d(COST, XS[:1], YS[:1], reduce="no")
    np.testing.assert_allclose(loss.array, F.softmax_cross_entropy(XS[0], YS[0], reduce="no").array, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F.crf1d(COST, XS[::-1], YS[::-1]), "in descending order of B_t"),
        (lambda: F.crf1d(COST, XS, YS[:2]), "ys of a label for each row of xs"),
        (lambda: F.crf1d(COST[:1], XS, YS), r"cost of shape \(K, K\)"),
        (lambda: F.crf1d(COST.astype("f"), XS, YS), r"cost of shape \(K, K\)"),
        (lambda: F.crf1d(COST, XS, XS), "ys of an integer dtype"),
        (lambda: F.argmax_crf1d(COST, []), "at least one step"),
    ],
)
def test_invalid_arguments_of_chains_raise(call, message):
    with pytest.raises(InvalidType, match=message):
        call()


NAME = "connectionist_temporal_classification"
LOGITS = [np.asarray([[0.0, 1.0, 2.0]]), np.asarray([[1.0, 0.0, 0.5]])]


def ctc(t, x=LOGITS, blank=0, **options):
    return F.connectionist_temporal_classification(x, np.asarray(t), blank, **options)


def test_any_symbol_may_be_the_blank():
    turned = [np.roll(x, -1, axis=1) for x in LOGITS]  # symbol k is k - 1, the blank 2
    assert float(ctc([[1]])) == pytest.approx(float(ctc([[0]], turned, blank=2)), rel=1e-12)


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


def test_mean_is_over_the_batch():
    x = [np.concatenate([each, each[:, ::-1]]) for each in LOGITS]
    each = ctc([[1], [2]], x, reduce="no")
    assert float(ctc([[1], [2]], x)) == pytest.approx(each.array.mean(), rel=1e-12)


def test_invalid_arguments_of_classification_raise():
    with pytest.raises(TypeError, match=f"{NAME}: x must be a list or tuple of arrays"):
        ctc([[1]], np.stack(LOGITS))
    with pytest.raises(ValueError, match="blank_symbol must be from 0 to 2, got 3"):
        ctc([[1]], blank=3)
    with pytest.raises(ValueError, match="reduce must be 'mean' or 'no', got 'sum'"):
        ctc([[1]], reduce="sum")
    for call, message in (
        (lambda: ctc([1]), r"t of shape \(B, M\) with M > 0"),
        (lambda: ctc([[1]], []), "at least one array"),
        (lambda: ctc([[1]], [LOGITS[0], LOGITS[1][:, :2]]), "all of one shape"),
        (lambda: ctc([[1]], label_length=np.asarray([1, 1])), r"label_length of shape \(1,\)"),
    ):
        with pytest.raises(InvalidType, match=message):
            call()
