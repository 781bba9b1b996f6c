"""Manipulation under Chainer's names, beyond the case table."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F


def test_cast_accepts_names_and_returns_its_argument_if_unchanged(device):
    x = xpgrad.Variable(device.send(np.ones(3, np.float32)))
    assert F.cast(x, "float32") is x
    assert F.cast(x, x.dtype) is x
    for code in ("d", "f8", "<f8"):
        assert F.cast(x, code).dtype == F.cast(x, "float64").dtype
    assert F.cast(x, "float64").dtype == device.send(np.ones(1)).dtype


def test_cast_to_e_is_to_half_precision():
    assert F.cast(np.ones(3), "e").dtype == np.float16


def test_copy_crosses_devices_with_its_gradient():
    pytest.importorskip("xpgrad_strict")
    x = xpgrad.Variable(np.asarray([1.0, 2.0], np.float32))
    y = F.copy(x, "@strict:device1")
    assert str(y.device) == "@strict:device1"
    F.sum(F.copy(y * y, -1)).backward()
    np.testing.assert_array_equal(x.grad, [2.0, 4.0])


def test_broadcast_of_one_is_no_tuple():
    x = xpgrad.Variable(np.ones(2))
    assert F.broadcast(x) is x
    assert [y.shape for y in F.broadcast(x, np.ones((3, 1)))] == [(3, 2), (3, 2)]


def test_split_axis_returns_a_tuple_by_default():
    assert isinstance(F.split_axis(np.ones(4), 1, 0), tuple)
    assert F.split_axis(np.ones(4), 1, 0, force_tuple=False).shape == (4,)


def test_split_axis_counts_negative_indices_from_the_end():
    x = np.arange(4.0)
    for cuts in ([-1], [1, -1], [-9, 9]):
        for part, expected in zip(F.split_axis(x, cuts, 0), np.split(x, cuts), strict=True):
            np.testing.assert_array_equal(part.array, expected)


def test_select_item_takes_variables():
    t = xpgrad.Variable(np.asarray([1, 0]))
    np.testing.assert_array_equal(F.select_item(np.asarray([[1.0, 2.0], [3.0, 4.0]]), t).array, [2.0, 3.0])


def test_get_item_adds_up_repeated_positions():
    x = xpgrad.Variable(np.zeros(3))
    F.sum(F.get_item(x, [0, 0, 2])).backward()
    np.testing.assert_array_equal(x.grad, [2, 0, 1])


def test_repeats_of_no_elements():
    assert F.repeat(np.ones((0, 2)), (), axis=0).shape == (0, 2)
