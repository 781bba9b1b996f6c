"""Indices expressed with whole arrays of integers, compared with NumPy's indexing."""

import numpy as np
import pytest

import xpgrad
from xpgrad.backend.indexing import at_axis, flat_index, full_index, getitem, is_basic, setitem

SHAPE = (3, 4, 5)
MASK = np.arange(12).reshape(3, 4) % 3 == 0
INDICES = [
    1, -1, ..., (), None, slice(None, None, -1), slice(-9, 9, 2), (..., 2), (1, ..., None, 2),
    (slice(5, 0, -2), None, 1), slice(-9, None, -1), (slice(None), slice(2, 2, -1), slice(-9, -7, -2)), (0, 1, 2),
    np.asarray([2, 0, -1]), np.asarray(1), np.asarray([[0, 1], [2, 2]]), (slice(None), np.asarray([3, 3])),
    (np.asarray([0, 1]), slice(None), np.asarray([4, 0])), (np.asarray([0, 1]), np.asarray([4, 0])[:, None] % 3),
    (slice(1, None), np.asarray([[0], [1]]), np.asarray([4, 0])), (1, slice(None), np.asarray([4, 0])),
    (np.asarray([0, 1]), None, np.asarray([3, 0])), (..., 1, None, np.asarray([3, 3])), (1, np.asarray([3, 3])),
    (None, np.asarray([0, 1]), ..., 0), (np.asarray([0, 1]), np.asarray(2), 3), MASK, (MASK, slice(None, None, 2)),
    (slice(None), MASK[0], 1), (np.asarray([True, False, True]), None, np.asarray([1, 2])), (np.zeros(0, np.int64),),
    (slice(1, 1), np.asarray([1, 2])),
]  # fmt: skip


@pytest.fixture
def numpy():
    return xpgrad.get_device("@numpy").backend


@pytest.fixture
def x():
    return np.arange(60).reshape(SHAPE)


class OneIndexArray(np.ndarray):
    """An array of a library that takes one index array at a time."""

    def __getitem__(self, index):
        if type(index) is tuple and sum(hasattr(item, "dtype") for item in index) > 1:
            raise NotImplementedError("one index array at a time")
        return super().__getitem__(index)


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_index_of_integer_arrays_takes_the_same(numpy, x, index):
    places, shape = full_index(numpy, SHAPE, index, "cpu")
    assert len(places) == len(SHAPE)
    np.testing.assert_array_equal(x[places].reshape(shape), x[index])
    assert shape == x[index].shape
    np.testing.assert_array_equal(x.ravel()[flat_index(numpy, SHAPE, index, "cpu")], x[index])
    np.testing.assert_array_equal(getitem(numpy, x.view(OneIndexArray), index), x[index])


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_strict_library_takes_the_same(x, index):
    device = xpgrad.get_device("@strict:device1")
    placed = [device.backend.from_host(i, device) if isinstance(i, np.ndarray) else i for i in _items(index)]
    result = getitem(device.backend, device.backend.from_host(x, device), tuple(placed))
    np.testing.assert_array_equal(device.backend.to_host(result), x[_items(index)])


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_assignment_without_writing_agrees_with_numpy(numpy, x, index, monkeypatch):
    values = 100 + np.arange(x[index].size).reshape(x[index].shape)
    expected = x.copy()
    expected[index] = values
    for immutable in (False, True):
        monkeypatch.setattr(numpy, "immutable", immutable)
        np.testing.assert_array_equal(setitem(numpy, x, values, index), expected)
        np.testing.assert_array_equal(x, np.arange(60).reshape(SHAPE))


def test_scalar_is_assigned_without_writing(numpy, x, monkeypatch):
    monkeypatch.setattr(numpy, "immutable", True)
    y = setitem(numpy, x, 7, (slice(None), 1))
    assert (y[:, 1] == 7).all()
    assert y.dtype == x.dtype


@pytest.mark.parametrize("index", [3, (0, 4), (0, 0, 0, 0), (slice(None), -5)])
def test_out_of_range_is_an_index_error(numpy, x, index):
    for call in (lambda: full_index(numpy, SHAPE, index, "cpu"), lambda: getitem(numpy, x, index)):
        with pytest.raises(IndexError):
            call()


@pytest.mark.parametrize("shape", [(2,), (4,), (3, 5), (3, 4, 1)])
def test_mask_of_another_length_is_an_index_error(numpy, x, shape):
    mask = np.zeros(shape, bool)  # selects no element, so its positions are not out of range
    index = (np.zeros(1, np.int64), mask) if shape == (2,) else mask
    for call in (lambda: full_index(numpy, SHAPE, index, "cpu"), lambda: getitem(numpy, x, index)):
        with pytest.raises(IndexError, match=r"expected a mask of shape \(.*\) for the axes that it indexes, got"):
            call()
    assert full_index(numpy, SHAPE, np.zeros((3, 0), bool), "cpu")[1] == (0, 5)


def test_basic_indices_have_no_arrays():
    assert is_basic((1, slice(None), None, ...))
    assert is_basic(-1)
    assert not is_basic(np.asarray([1]))
    assert not is_basic((0, [1]))
    assert at_axis(2, 5) == (slice(None), slice(None), 5, ...)


def _items(index):
    return index if isinstance(index, tuple) else (index,)
