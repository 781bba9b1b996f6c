"""Indexing beyond the case table: assignment to elements, errors, indices that are changed afterwards."""

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable, array_api
from xpgrad.errors import (
    BackendMismatch,
    ChangedArray,
    DeviceMismatch,
    DtypeError,
    GraphError,
    ShapeError,
    UnknownArray,
)
from xpgrad.testing.arrays import on_host, placed


def variable(device, values, dtype="float64", **options):
    return Variable(placed(np.asarray(values, dtype), device), **options)


def arange(device, shape=(3, 4), **options):
    return variable(device, np.arange(np.prod(shape)).reshape(shape), **options)


# Reading


def test_element_is_an_array_and_no_scalar(device):
    x = arange(device)
    for index in (1, -1), (..., 0, 1), (np.int64(1), 2):
        assert type(x[index].array) is type(x.array)
        assert x[index].shape == ()


def test_whole_numbers_of_any_kind_are_indices(device):
    x = arange(device)
    one = variable(device, 1, "int64")
    for index in (1, np.int32(1), np.uint8(1), one, one.array):
        assert on_host(x[index]).tolist() == [4, 5, 6, 7]
    assert on_host(x[one:, : one + 1]).tolist() == [[4, 5], [8, 9]]
    assert on_host(x[[0, one]]).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_narrow_integers_index_arrays_that_are_longer_than_their_range(device):
    x, places = arange(device, (3, 100)), variable(device, [2, -1, 0], "int8")
    y = x[places, places]
    assert on_host(y).tolist() == [202, 299, 0]
    y.sum().backward()
    assert on_host(x.grad).nonzero()[1].tolist() == [0, 2, 99]
    rows = x[places]
    x.cleargrad()
    rows.sum().backward()
    assert on_host(x.grad).sum(axis=1).tolist() == [100, 0, 200]


def test_list_is_one_index_array(device):
    x = arange(device)
    assert on_host(x[[0, 2]]).tolist() == [[0, 1, 2, 3], [8, 9, 10, 11]]
    assert on_host(x[[True, False, True]]).tolist() == [[0, 1, 2, 3], [8, 9, 10, 11]]
    assert x[[]].shape == (0, 4)
    assert x[:, []].shape == (3, 0)


def test_repeated_positions_accumulate(device):
    x = arange(device, (4,))
    y = x[[1, 1, -3, 2]] * variable(device, [1, 10, 100, 1000], requires_grad=False)
    y.sum().backward()
    assert on_host(x.grad).tolist() == [0, 111, 1000, 0]


def test_many_elements_of_one_array_give_one_dense_gradient(device):
    x = arange(device, (50,))
    total = x[0] * 0
    for i in range(25):
        total = total + x[2 * i] * i
    total.backward()
    assert on_host(x.grad)[::2].tolist() == list(range(25))
    assert not on_host(x.grad)[1::2].any()


def test_out_of_range_is_an_index_error_that_names_the_operation(device):
    x = arange(device)
    for index in (3, (0, 4), (0, 0, 0), ([5],)):
        with pytest.raises(IndexError, match="getitem"):
            x[index]


@pytest.mark.parametrize("index", ["a", 1.5, [0.5], (0, None, "b"), {}])
def test_invalid_index_raises(device, index):
    with pytest.raises((IndexError, TypeError), match="getitem"):
        arange(device)[index]


def test_objects_with_an_index_are_integers():
    class Place:
        def __index__(self) -> int:
            return 1

    x = Variable(np.arange(6.0).reshape(2, 3))
    assert x[Place(), Place()].array == 4.0


def test_index_arrays_must_hold_whole_numbers(device):
    x = arange(device)
    with pytest.raises(IndexError, match=r"getitem: expected integers or booleans as an index, got float64 \(3, 4\)"):
        x[x]


def test_two_ellipses_raise_in_debug_mode(device):
    x = arange(device)
    with xpgrad.using_config("debug", True), pytest.raises(ValueError, match="at most one ellipsis"):
        x[..., 0, ...]


def test_uninitialised_variable_has_no_elements():
    with pytest.raises(UnknownArray, match="uninitialised"):
        Variable()[0]


def test_index_of_another_library_or_device_raises():
    numpy, strict = xpgrad.get_device("@numpy"), xpgrad.get_device("@strict:device1")
    other = xpgrad.get_device("@strict:device2")
    with pytest.raises(BackendMismatch, match="the array is strict's but the index numpy's"):
        arange(strict)[np.asarray([0])]
    with pytest.raises(BackendMismatch, match="the array is numpy's but the index strict's"):
        arange(numpy)[placed(np.asarray([0]), strict)]
    with pytest.raises(
        DeviceMismatch, match="getitem: the array is on @strict:device1 but the index on @strict:device2"
    ):
        arange(strict)[placed(np.asarray([0]), other)]


def test_index_array_changed_after_the_forward_computation_is_found_in_debug_mode():
    x, index = arange(xpgrad.get_device("@numpy"), (4,)), np.asarray([0, 1])
    with xpgrad.using_config("debug", True):
        y = x[(index,)].sum()
        index[0] = 3
        with pytest.raises(ChangedArray, match="getitem"):
            y.backward()


def test_elements_are_plain_in_no_backprop_mode(device):
    x = arange(device)
    with xpgrad.no_backprop_mode():
        assert x[0].creator is None
        assert x[[0]].creator is None


# Writing


def test_assignment_is_a_new_array(device):
    v = arange(device, requires_grad=False)
    array, row, double = v.array, v[1], v * 2
    v[1] = 0.5
    assert on_host(v).tolist() == [[0, 1, 2, 3], [0.5] * 4, [8, 9, 10, 11]]
    assert on_host(array)[1].tolist() == on_host(row).tolist() == [4, 5, 6, 7]
    assert on_host(double)[1].tolist() == [8, 10, 12, 14]


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        (1, (4,)),
        ((slice(None), 1), (3,)),
        ((slice(0, 3, 2), slice(None, None, -1)), (2, 4)),
        (..., ()),
        ((0, 0), ()),
        (([0, 2], [1, 1]), (2,)),
        ((slice(None), [0, 3]), (3, 2)),
        ([True, False, True], (2, 4)),
        ([2, 0], (1, 4)),
    ],
    ids=str,
)
def test_assignment_and_its_gradients_agree_with_numpy(device, index, shape):
    rng = np.random.default_rng(0)
    a, b, gy = rng.standard_normal((3, 4)), rng.standard_normal(shape), rng.standard_normal((3, 4))
    x, u = variable(device, a), variable(device, b)
    v = x * 1
    v[index] = u
    (v * variable(device, gy, requires_grad=False)).sum().backward()
    expected, gx = a.copy(), gy.copy()
    expected[index] = b
    gx[index] = 0
    np.testing.assert_allclose(on_host(v), expected)
    np.testing.assert_allclose(on_host(x.grad), gx)
    gu = gy[index]
    gu = gu.sum(tuple(range(gu.ndim - len(shape)))) if gu.ndim > len(shape) else gu
    np.testing.assert_allclose(on_host(u.grad), gu.sum(0, keepdims=True) if shape == (1, 4) else gu)


def test_assignment_inside_a_graph_does_not_change_earlier_results(device):
    x = arange(device, (3,))
    v = x * 2
    before = v * v
    v[0] = x[2] * 10
    (before.sum() + v.sum()).backward()
    assert on_host(x.grad).tolist() == [0, 8 + 2, 16 + 2 + 10]


def test_assignment_from_a_graph_connects_a_plain_variable(device):
    x, v = arange(device, (2,)), variable(device, np.zeros(3), requires_grad=False)
    v.name = "v"
    v[1:] = x * x
    assert v.requires_grad
    assert v.name == "v"
    assert v.node.get_variable() is v
    v.sum().backward()
    assert on_host(x.grad).tolist() == [0, 2]


def test_augmented_assignment_works_on_elements(device):
    x = arange(device, (3,))
    v = x * 1
    v[1:] += 10
    v[0] *= 5
    v.sum().backward()
    assert on_host(v).tolist() == [0, 11, 12]
    assert on_host(x.grad).tolist() == [5, 1, 1]


def test_leaf_that_requires_a_gradient_rejects_assignment_while_recording(device):
    x = arange(device)
    with pytest.raises(GraphError, match=r"setitem: the Variable of float64 \(3, 4\) is a leaf .*copy\(v\)"):
        x[0] = 1.0
    v = xpgrad.functions.copy(x)
    v[0] = 1.0
    v.sum().backward()
    assert on_host(x.grad).tolist() == [[0] * 4, [1] * 4, [1] * 4]


def test_leaf_accepts_assignment_without_recording(device):
    x = arange(device)
    node, array = x.node, x.array
    x.grad = x.array
    with xpgrad.no_backprop_mode():
        x[0] = 1.0
    assert x.node is node
    assert x.requires_grad
    assert on_host(x.grad)[0].tolist() == on_host(array)[0].tolist() == [0, 1, 2, 3]
    assert on_host(x)[0].tolist() == [1] * 4


def test_values_must_fit_the_dtype(device):
    v = variable(device, [1, 2, 3], "int64")
    with pytest.raises(DtypeError, match=r"setitem: expected values that .*int64 can hold, got float"):
        v[0] = 0.5
    with pytest.raises(DtypeError, match="cast them with astype"):
        v[:] = variable(device, [1, 2, 3], "float64")
    with pytest.raises(DtypeError, match="complex"):
        arange(device, requires_grad=False)[0] = 1j
    v[0] = np.int64(7)
    assert on_host(v).tolist() == [7, 2, 3]


def test_values_of_another_width_are_cast(device):
    x = arange(device, (3,))
    v = variable(device, np.zeros(3), "float32", requires_grad=False)
    v[:] = x
    assert v.dtype == v.array.dtype
    assert device.backend.dtype_name(v.dtype) == "float32"
    v.sum().backward()
    assert device.backend.dtype_name(x.grad.dtype) == "float64"


def test_failed_assignment_leaves_the_state_unchanged(device):
    x = arange(device)
    v = x * 1
    node, array = v.node, v.array
    with pytest.raises((ShapeError, IndexError)):
        v[0] = variable(device, np.zeros(5))
    with pytest.raises(IndexError):
        v[7] = 0.0
    assert v.node is node
    assert v.array is array


# Gathers along an axis


def test_take_without_an_axis_needs_one_axis(device):
    with pytest.raises(ValueError, match="take"):
        array_api.take(arange(device), placed(np.asarray([0]), device))


def test_take_along_axis_broadcasts(device):
    x = arange(device, (3, 4))
    y = array_api.take_along_axis(x, variable(device, [[1, 1]], "int64"), axis=1)
    assert on_host(y).tolist() == [[1, 1], [5, 5], [9, 9]]
    y.sum().backward()
    assert on_host(x.grad).tolist() == [[0, 2, 0, 0]] * 3
