"""What no case of manipulation can say: counts of every integer dtype."""

import pytest
from tests.building import values, variable

from xpgrad import array_api


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
def test_counts_of_repeat_are_integers_of_any_kind(device, dtype):
    x = variable(device, [1.0, 2.0, 3.0])
    y = array_api.repeat(x, variable(device, [2, 0, 1], dtype))
    assert values(y) == [1, 1, 3]
    y.sum().backward()
    assert values(x.grad) == [2, 0, 1]


def test_counts_of_repeat_are_whole(device):
    with pytest.raises(TypeError):
        array_api.repeat(variable(device, [1.0, 2.0]), variable(device, [1.5, 2.0]))
