"""Precision, recall, F-score and other measures: classes without examples, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.utils.type_check import InvalidType

RNG = np.random.default_rng(0)
Y, T = RNG.normal(size=(60, 4)), RNG.integers(-1, 4, 60)


def test_classes_without_predictions_or_examples_are_nan_without_a_warning(recwarn):
    y, t = np.eye(3, dtype="f2")[[0, 0, 1]], np.asarray([0, 0, 0], "i1")
    precision, recall, score, support = F.classification_summary(y, t, 3)
    np.testing.assert_array_equal(precision.array, np.asarray([1, 0, np.nan], "f2"))
    np.testing.assert_allclose(recall.array, [2 / 3, np.nan, np.nan], rtol=1e-3)
    np.testing.assert_allclose(score.array, [0.8, np.nan, np.nan], rtol=1e-3)
    np.testing.assert_array_equal(support.array, [3, 0, 0])
    assert precision.dtype == recall.dtype == score.dtype == np.float16
    assert not recwarn.list


def test_the_number_of_classes_is_one_more_than_the_highest_label():
    assert F.recall(Y, np.zeros(60, int))[0].shape == (1,)
    assert F.recall(Y, np.full(60, -1))[0].shape == (0,)
    with pytest.raises(ValueError, match="label_num cannot be found from t without elements; give it"):
        F.recall(Y[:0], T[:0])


def test_in_debug_mode_labels_are_below_label_num():
    with xpgrad.using_config("debug", True), pytest.raises(ValueError, match="a label is not below label_num 2"):
        F.f1_score(Y, T, 2)


def test_trailing_axes_of_length_one_are_ignored():
    for found, wanted in zip(F.precision(Y[:, :, None, None], T), F.precision(Y, T), strict=True):
        np.testing.assert_array_equal(found.array, wanted.array)


@pytest.mark.parametrize(
    ("y", "t", "message"),
    [
        (Y, T[:5], r"t of shape \(N, ...\)"),
        (Y, Y[:, 0], "t of an integer dtype"),
        (Y.astype(int), T, "y of a real floating-point dtype"),
        (Y[:, 0], T, "with C > 0"),
        (Y[:, :, None].repeat(2, 2), T, r"t of shape \(N, ...\)"),
    ],
)
def test_wrong_dtypes_and_shapes(y, t, message):
    with pytest.raises(InvalidType, match=rf"classification_summary .*\n\nExpect: .*{message}"):
        F.classification_summary(y, t)


def test_binary_accuracy_wants_a_label_for_each_score():
    with pytest.raises(InvalidType, match=r"binary_accuracy .*\n\nExpect: t of shape \(60, 4\), as y"):
        F.binary_accuracy(Y, T)


def test_r2_score_rejects_other_shapes_and_options():
    with pytest.raises(InvalidType, match="pred and true of one shape"):
        F.r2_score(Y, Y[:5])
    with pytest.raises(InvalidType, match=r"sample_weight of shape \(60,\)"):
        F.r2_score(Y, Y, Y)
    with pytest.raises(ValueError, match="multioutput must be 'uniform_average' or 'raw_values', got 'mean'"):
        F.r2_score(Y, Y, multioutput="mean")
