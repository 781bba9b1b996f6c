"""Operations that dask does not support raise errors before any value is computed."""

from typing import Any

import dask.array as da
import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as xp
from xpgrad.errors import UnknownArray

VALUES = np.asarray([3.0, -1.0, 2.0, -1.0])


def lazy() -> Any:
    return xpgrad.Variable(da.from_array(VALUES, chunks=2))


def test_arrays_of_unknown_shape_are_refused_with_what_helps() -> None:
    x = da.from_array(VALUES, chunks=2)
    taken = x[x > 0]
    with pytest.raises(UnknownArray, match=r"known shape, got \(nan,\); call its compute_chunk_sizes"):
        xpgrad.Variable(taken)
    y = xpgrad.Variable(taken.compute_chunk_sizes())
    xp.sum(y * y).backward()
    np.testing.assert_array_equal(y.grad.compute(), [6, 4])


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (lambda x: x[x > 0], r"x\[mask\]: dask does not know the shape of the result before it computes; use where"),
        (xp.nonzero, r"nonzero\(x\): dask does not know the shape"),
        (xp.unique_values, r"unique_all\(x\): dask does not know the shape"),
        (lambda x: xp.repeat(x, da.ones(4, dtype=int)), r"repeat\(x, counts\): dask does not know the shape"),
    ],
)
def test_shapes_that_depend_on_values_are_refused(f: Any, text: str) -> None:
    with pytest.raises(IndexError, match=text):
        f(lazy())


@pytest.mark.parametrize("number", [4, -5])
@pytest.mark.parametrize("f", [lambda x, i: x[i], xp.take], ids=["getitem", "take"])
def test_a_number_out_of_range_is_an_error_when_it_is_computed(f: Any, number: int) -> None:
    y = f(lazy(), da.from_array(np.asarray([0, 3, number]), chunks=2))
    with pytest.raises(IndexError, match=rf"expected numbers from -4 to 3, got {number}"):
        y.array.compute()


@pytest.mark.parametrize("number", [3, -4])
@pytest.mark.parametrize("index", [lambda i: (i * 0, i), lambda i: (i * 0, ..., i), lambda i: (None, 1, i)])
def test_each_of_several_index_arrays_is_checked_against_its_own_axis(index: Any, number: int) -> None:
    x = xpgrad.Variable(da.ones((5, 3), chunks=2))
    y = x[index(da.from_array(np.asarray([0, 2, number]), chunks=2))]
    with pytest.raises(IndexError, match=rf"expected numbers from -3 to 2, got {number}"):
        y.array.compute()


@pytest.mark.parametrize("axis", [(0, 0), (0, -2)])
def test_an_axis_that_is_named_twice_is_refused(axis: Any) -> None:
    with pytest.raises(ValueError, match=r"sum: expected axes that differ, got .* of an array with 2"):
        xp.sum(xpgrad.Variable(da.ones((3, 4))), axis=axis)


@pytest.mark.parametrize("f", [xp.sort, xp.argsort, xp.fft.fft])
def test_an_axis_out_of_range_raises(f: Any) -> None:
    with pytest.raises(IndexError, match="axis 1 is out of bounds for array of dimension 1"):
        f(lazy(), axis=1)


def test_assignment_to_what_a_mask_takes_needs_no_shape() -> None:
    x = lazy()
    v = xp.positive(x)
    v[v.array < 0] = 0.0
    xp.sum(v * v).backward()
    np.testing.assert_array_equal(x.grad.compute(), [6, 0, 4, 0])


def test_assignment_to_an_array_leaves_gradients_alone() -> None:
    x, seed = lazy(), da.ones(4, chunks=2)
    y = xp.positive(x)
    y.grad = seed
    y.backward()
    x.grad[0] = 9.0
    np.testing.assert_array_equal(seed.compute(), np.ones(4))


def test_arrays_of_another_library_are_named() -> None:
    with pytest.raises(TypeError, match="dask"):
        xp.add(lazy(), xpgrad.Variable(VALUES))


def test_values_come_back_as_numpys() -> None:
    x = lazy()
    x.to_device("@numpy")
    assert isinstance(x.array, np.ndarray)
    np.testing.assert_array_equal(x.array, VALUES)
