"""Manipulation under Chainer's names, beyond the case table."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad.errors import AxisError
from xpgrad.utils.type_check import InvalidType


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


def test_split_axis_into_parts_that_are_not_equal_raises():
    with pytest.raises(ValueError, match="7 elements cannot be split into 3 equal parts"):
        F.split_axis(np.ones(7), 3, 0)


def test_split_axis_returns_a_tuple_by_default():
    assert isinstance(F.split_axis(np.ones(4), 1, 0), tuple)
    assert F.split_axis(np.ones(4), 1, 0, force_tuple=False).shape == (4,)


def test_split_axis_counts_negative_indices_from_the_end():
    x = np.arange(4.0)
    for cuts in ([-1], [1, -1], [-9, 9]):
        for part, expected in zip(F.split_axis(x, cuts, 0), np.split(x, cuts), strict=True):
            np.testing.assert_array_equal(part.array, expected)


@pytest.mark.parametrize(("shape", "t"), [((3, 4), [0, 1]), ((2, 3, 1), [0, 1]), ((2,), [0, 1]), ((2, 3), [0.0, 1.0])])
def test_select_item_takes_a_label_for_each_row(shape, t):
    with pytest.raises(InvalidType, match="select_item"):
        F.select_item(np.ones(shape), np.asarray(t))


@pytest.mark.parametrize("call", [
    lambda x: F.swapaxes(x, 0, 2), lambda x: F.rollaxis(x, 2), lambda x: F.split_axis(x, 2, 2),
    lambda x: F.repeat(x, 2, -3), lambda x: F.permutate(x, np.arange(3), 2),
])  # fmt: skip
def test_axes_out_of_range_raise_an_axis_error(call):
    with pytest.raises(AxisError, match=r"x with an axis -?\d"):
        call(np.ones((2, 3)))


def test_hstack_of_an_empty_list_raises():
    with pytest.raises(TypeError, match="hstack: expected at least one Variable or array, got nothing"):
        F.hstack([])


def test_select_item_takes_variables():
    t = xpgrad.Variable(np.asarray([1, 0]))
    np.testing.assert_array_equal(F.select_item(np.asarray([[1.0, 2.0], [3.0, 4.0]]), t).array, [2.0, 3.0])


def test_get_item_adds_up_repeated_positions():
    x = xpgrad.Variable(np.zeros(3))
    F.sum(F.get_item(x, [0, 0, 2])).backward()
    np.testing.assert_array_equal(x.grad, [2, 0, 1])


def test_repeats_that_do_not_fit_raise():
    for repeats in ((1, 2), (1, -1, 2), -1):
        with pytest.raises(ValueError, match="repeat: expected repeats to be an int or 3 ints, each at least 0, got"):
            F.repeat(np.ones(3), repeats)
    with pytest.raises(TypeError, match="repeat: expected an integer or a sequence of integers"):
        F.repeat(np.ones(3), (1.5, 1, 1))
    assert F.repeat(np.ones((0, 2)), (), axis=0).shape == (0, 2)
