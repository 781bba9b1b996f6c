"""Gradients of gathers: the fast additions at positions equal `numpy.add.at`, bit by bit."""

import numpy as np
import pytest

from xpgrad_numpy.kernels.gathers import WIDE, _add_at


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("width", [3, WIDE])
@pytest.mark.parametrize("places", [[0, 0, 3, -1, 3], [], [[1, 2], [1, -3]]], ids=["line", "empty", "table"])
def test_rows_along_an_axis(axis: int, width: int, places: list[int]) -> None:
    rng = np.random.default_rng(0)
    shape = [4, 4, 4]
    shape[(axis + 1) % 3] = width
    index = (*(slice(None),) * axis, np.asarray(places, int))
    value = rng.standard_normal(np.empty(shape)[index].shape)
    found, expected = np.ones(shape), np.ones(shape)
    _add_at(found, index, value)
    np.add.at(expected, index, value)
    np.testing.assert_array_equal(found, expected)
