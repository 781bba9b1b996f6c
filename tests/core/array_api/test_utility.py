"""Utility functions beyond the case table: axes and orders that do not exist."""

import pytest
from tests.building import variable

from xpgrad import array_api


@pytest.mark.parametrize("axis", [2, -3, 5])
def test_diff_along_invalid_axis_raises(device, axis):
    with pytest.raises(IndexError, match=f"diff: expected distinct axes of an array with 2 axes, got {axis}"):
        array_api.diff(variable(device, [[1.0, 2.0], [3.0, 5.0]]), axis=axis)


def test_difference_of_no_axes(device):
    with pytest.raises(IndexError, match="diff: "):
        array_api.diff(variable(device, 1.0))


def test_negative_order_of_differences(device):
    with pytest.raises(ValueError, match="diff: expected n to be 0 or more, got -1"):
        array_api.diff(variable(device, [1.0, 2.0]), n=-1)
