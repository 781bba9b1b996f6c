"""Precision, recall, F-score and other measures: classes without examples, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F

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


def test_in_debug_mode_labels_are_below_label_num():
    with xpgrad.using_config("debug", True), pytest.raises(ValueError, match="a label is not below label_num 2"):
        F.f1_score(Y, T, 2)


def test_trailing_axes_of_length_one_are_ignored():
    for found, wanted in zip(F.precision(Y[:, :, None, None], T), F.precision(Y, T), strict=True):
        np.testing.assert_array_equal(found.array, wanted.array)
