"""Sparsity of values, gathers and gradients: no more stored numbers than necessary."""

from typing import Any

import numpy as np
import pytest
import sparse

import xpgrad
import xpgrad.array_api as xp
from xpgrad_sparse.positions import getitem, scatter_add, setitem

LARGE = sparse.COO([[0, 10**6 - 1, 5], [3, 10**6 - 1, 5]], [1.0, 2.0, 3.0], shape=(10**6, 10**6))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: xp.sum(x * x),
        lambda x: xp.sum(xp.tanh(x)),
        lambda x: xp.sum(x),
        lambda x: xp.sum(x[5:] * x[:-5]),
        lambda x: xp.sum(xp.permute_dims(x, (1, 0)) * 2.0),
        lambda x: xp.sum(xp.exp(x)),
    ],
)
def test_an_array_of_a_million_million_elements_has_a_gradient(f: Any) -> None:
    x = xpgrad.Variable(LARGE)
    f(x).backward()
    assert x.grad.shape == LARGE.shape
    assert x.grad.nnz <= 6


def test_gathered_rows_and_their_gradient_store_what_is_there() -> None:
    rows = np.asarray([5, 5, 0])
    x = xpgrad.Variable(LARGE)
    y = x[sparse.COO.from_numpy(rows)]
    xp.sum(y * y).backward()
    assert (y.array.nnz, x.grad.nnz) == (3, 2)
    assert x.grad[5, 5] == 12.0


@pytest.mark.parametrize(
    "index",
    [
        (np.asarray([[0], [1]]), np.asarray([0, 2])),
        (0, slice(None), np.asarray([1, -1])),
        (slice(None, None, -1), None, np.asarray([[1, 0]])),
        (..., np.asarray([True, False, True, True])),
        (np.asarray(1), np.asarray(2), np.asarray(3)),
    ],
)
def test_indices_are_numpys(index: tuple[object, ...]) -> None:
    values = np.arange(24.0).reshape(2, 3, 4)
    x, expected = sparse.COO.from_numpy(values), values[index]
    np.testing.assert_array_equal(getitem(x, index=index).todense(), expected)
    spec = xpgrad.get_device("@sparse").backend.spec(x)
    total = np.zeros_like(values)
    np.add.at(total, index, expected)
    made = scatter_add(spec, [(index, sparse.COO.from_numpy(np.asarray(expected)))])
    np.testing.assert_array_equal(made.todense(), total)
    total = values.copy()
    total[index] = 7.0
    np.testing.assert_array_equal(setitem(x, sparse.COO.from_numpy(np.asarray(7.0)), index=index).todense(), total)
