"""Manipulation beyond the case table: counts of every integer dtype, several new axes."""

import operator
import types

import numpy as np
import pytest
from tests.building import values, variable

from xpgrad import array_api
from xpgrad.errors import ShapeError
from xpgrad.transforms import grad, vmap


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint64"])
def test_counts_of_repeat_are_integers_of_any_kind(device, dtype):
    x = variable(device, [1.0, 2.0, 3.0])
    y = array_api.repeat(x, variable(device, [2, 0, 1], dtype))
    assert values(y) == [1, 1, 3]
    y.sum().backward()
    assert values(x.grad) == [2, 0, 1]


@pytest.mark.parametrize("axis", [0, -1, None])
def test_a_number_is_repeated_along_its_only_axis_as_in_numpy(axis):
    x = np.asarray([1.0, 2.0])
    assert vmap(lambda x: array_api.repeat(x, 2, axis=axis))(x).tolist() == [[1.0, 1.0], [2.0, 2.0]]
    assert grad(lambda x: array_api.sum(np.repeat(x, 3, axis=axis)))(np.asarray(1.0)) == 3.0


def test_counts_of_repeat_are_whole(device):
    with pytest.raises(TypeError):
        array_api.repeat(variable(device, [1.0, 2.0]), variable(device, [1.5, 2.0]))


@pytest.mark.parametrize(("axis", "shape"), [((-2, 0), (1, 2, 1, 3)), ((), (2, 3)), ([1, 2], (2, 1, 1, 3))])
def test_new_axes_are_added_one_at_a_time(axis, shape):
    asked = []

    def expand_dims(x, /, *, axis):  # as in versions of the standard before 2025.12
        asked.append(axis)
        return np.expand_dims(x, operator.index(axis))

    body = array_api.expand_dims.definition.body
    assert body(types.SimpleNamespace(expand_dims=expand_dims), np.ones((2, 3)), axis=axis).shape == shape
    assert asked == [i for i, n in enumerate(shape) if n == 1]


def test_functions_along_one_axis_do_not_flatten(device):
    x = device.send(np.ones((2, 2)))
    for name, others in (("sort", ()), ("take_along_axis", (device.send(np.asarray([0, 1])),))):
        with pytest.raises(TypeError, match=rf"^{name}: 'NoneType' object cannot be interpreted as an integer; got"):
            getattr(array_api, name)(x, *others, axis=None)


@pytest.mark.parametrize("axis", [(0, 0), (4,), (0, -4)])
def test_new_axes_are_distinct_and_within_the_result(device, axis):
    with pytest.raises(ShapeError, match=r"^expand_dims: "):
        array_api.expand_dims(variable(device, [[1.0, 2.0]]), axis=axis)
