"""`clip` beyond the case table: its dtype, and bounds that no integer dtype can represent."""

import pytest
from tests.building import values, variable

from xpgrad import array_api
from xpgrad.array_api.namespace import namespace
from xpgrad.errors import UnknownArray


@pytest.mark.parametrize(("low", "high"), [(-1000, 1000), (-128, 127), (None, 10**30), (-(10**30), None)])
def test_integers_beyond_the_dtype_are_no_bounds(device, low, high):
    x = variable(device, [-100, 0, 100], "int8")
    y = array_api.clip(x, low, high)
    assert y.dtype == x.dtype
    assert values(y) == [-100, 0, 100]
    assert y is not x


def test_clip_has_the_dtype_of_its_input(device):
    x = variable(device, [-1.0, 0.5, 2.0])
    low, high = variable(device, 0.0, "float64"), variable(device, [1.0, 1.0, 1.0], "float64")
    y = array_api.clip(x, low, high)
    assert y.dtype == x.dtype
    assert values(y) == [0, 0.5, 1]
    y.sum().backward()
    assert values(x.grad) == [0, 1, 0]
    assert (values(low.grad), values(high.grad)) == (1, [0, 0, 1])
    assert low.grad.dtype == namespace(device.backend).float64


def test_clip_without_bounds_is_a_copy(device):
    for dtype in ("float32", "bool", "int64"):
        x = variable(device, [1, 0], dtype)
        y = array_api.clip(x)
        assert y.array is not x.array
        assert (y.dtype, values(y)) == (x.dtype, values(x))


def test_bounds_that_are_not_arrays_raise(device):
    with pytest.raises(UnknownArray, match="clip: expected a Variable, an array or a scalar, got list"):
        array_api.clip(variable(device, [1.0]), [0.0])
