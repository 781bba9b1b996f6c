"""Scatter-add: every index, repeats too, without an array as a whole."""

from typing import Any

import dask.array as da
import numpy as np
import pytest

import xpgrad

SHAPE = (5, 4, 3)


def lazy(item: Any) -> Any:
    return da.from_array(item, chunks=2) if isinstance(item, np.ndarray) else item


INDICES = [
    1, -2, ..., (), None, slice(1, 4), slice(None, None, -2), (..., 1), (2, ..., None, 0), (slice(4, 0, -3), None, 1),
    slice(3, 1), slice(-9, None, -2), (..., slice(9, -9, -1)),
    np.asarray([4, 0, 4, -1]), np.asarray([[0, 1], [1, 0]]), np.asarray(2),
    (slice(None), np.asarray([3, 3, 0])), (..., np.asarray([2, 2])), (np.asarray([1, 1]), np.asarray([2, 2])),
    (np.asarray([1, 1]), slice(None), np.asarray([2, 2])), (0, np.asarray([3, 3])),
    (slice(1, 3), np.asarray([[0], [0]]), np.asarray([1, 2])), (None, np.asarray([0, 0])),
    np.zeros(0, np.int64),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_gathers_and_their_gradients(index: Any) -> None:
    values = np.arange(60.0).reshape(SHAPE)
    items = tuple(map(lazy, index)) if type(index) is tuple else lazy(index)
    x = xpgrad.Variable(da.from_array(values, chunks=(2, 3, 2)))
    y = x[items]
    expected = values[index]
    np.testing.assert_array_equal(y.array.compute(), expected)
    gy = np.arange(1.0, expected.size + 1).reshape(expected.shape)
    y.grad = da.from_array(np.asarray(gy), chunks=2) if gy.ndim else da.asarray(gy)
    y.backward()
    gx = np.zeros(SHAPE)
    np.add.at(gx, index, gy)
    np.testing.assert_array_equal(x.grad.compute(), gx)
    assert x.grad.chunks == x.array.chunks


def test_no_task_holds_the_table() -> None:
    table = xpgrad.Variable(da.zeros((10**9, 4), chunks=(10**7, 4)))
    rows = da.from_array(np.asarray([5, 10**9 - 1, 5]))
    y = table[rows]
    y.grad = da.ones((3, 4))
    y.backward()
    assert table.grad.chunks == table.array.chunks
    assert max(map(max, table.grad.chunks)) == 10**7


def test_a_gradient_may_be_laid_out_with_empty_chunks() -> None:
    x = xpgrad.Variable(da.ones((10, 65), chunks=(10, 1)))
    gy = xpgrad.Variable(da.ones((10, 64), chunks=(2, 16)))
    (gx,) = xpgrad.grad([x[:, :64]], [x], [gy])
    np.testing.assert_array_equal(gx.array.compute(), np.repeat([1.0, 0.0], [64, 1]) * np.ones((10, 1)))
