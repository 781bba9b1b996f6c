"""NumPy's `block`, `insert` and `delete` of Variables, and creation with ``like=v``."""

import numpy as np
import pytest
from tests.core.interop.test_numpy_functions import X, Y, compare

import xpgrad
from xpgrad import Variable
from xpgrad.errors import DtypeError
from xpgrad.testing.arrays import on_host, placed

BLOCKS = {
    "row": lambda x, y: np.block([x, y]),
    "grid": lambda x, y: np.block([[x, y], [y, x]]),
    "vectors": lambda x, y: np.block([x[0], y[1], 2.5]),
    "mixed": lambda x, y: np.block([[x, x[:, :1]], [y[0], 1.0]]),
    "deep": lambda x, y: np.block([[[x], [y]]]),
    "one": lambda x, y: np.block(x) + np.block(y),
    "more axes": lambda x, y: np.block([x[None], y[None]]),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks(name):
    compare(BLOCKS[name], X, Y)


@pytest.mark.parametrize(
    ("blocks", "error", "text"),
    [
        (lambda v: np.block([[v], v]), ValueError, r"expected lists nested to one depth, got depths \[0, 1\]"),
        (lambda v: np.block([[v], []]), ValueError, "got an empty list"),
        (lambda v: np.block([(v, v)]), TypeError, "tuple"),
    ],
)
def test_invalid_blocks_raise(blocks, error, text):
    with pytest.raises(error, match=text):
        blocks(Variable(X))


EDITS = {
    "delete": lambda x: np.delete(x, 1),
    "delete-axis": lambda x: np.delete(x, -1, axis=1),
    "delete-list": lambda x: np.delete(x, [0, 2, 0], axis=1),
    "delete-slice": lambda x: np.delete(x, slice(None, None, 2), axis=-1),
    "delete-mask": lambda x: np.delete(x, [True, False, True], axis=1),
    "delete-array": lambda x: np.delete(x, np.array([5, 0])),
    "delete-none": lambda x: np.delete(x, [], axis=1),
    "delete-all": lambda x: np.delete(x, np.s_[:], axis=0),
    "insert": lambda x: np.insert(x, 1, 7.0),
    "insert-end": lambda x: np.insert(x, 3, 7.0, axis=1),
    "insert-row": lambda x: np.insert(x, 1, x[0] * 2, axis=0),
    "insert-rows": lambda x: np.insert(x, [0], x * 2, axis=0),
    "insert-column": lambda x: np.insert(x, [1], [[1.0], [2.0]], axis=1),
    "insert-vector": lambda x: np.insert(x, 1, [1.0, 2.0], axis=1),
    "insert-places": lambda x: np.insert(x, [2, 0, -1], x[1, :3] * x[0, :3], axis=None),
    "insert-same-place": lambda x: np.insert(x, [1, 1], [8.0, 9.0]),
    "insert-matrix": lambda x: np.insert(x, [0, 2], [[5.0, 6.0], [7.0, 8.0]], axis=1),
    "insert-slice": lambda x: np.insert(x, slice(0, 3, 2), 1.5, axis=1),
    "insert-mask": lambda x: np.insert(x, np.array([True, False, True]), 1.5, axis=1),
    "insert-nothing": lambda x: np.insert(x, [], [], axis=None),
}


@pytest.mark.parametrize("name", EDITS)
def test_edits(name):
    compare(EDITS[name], X)


@pytest.mark.parametrize("name", ["delete", "delete-list", "insert-row", "insert-places", "insert-vector"])
def test_edits_on_each_device_to_second_order(name, device):
    x = Variable(placed(X, device))
    y = EDITS[name](x)
    np.testing.assert_array_equal(on_host(y), EDITS[name](X))
    (gx,) = xpgrad.grad([(y * y * y).sum()], [x], enable_double_backprop=True)
    (ggx,) = xpgrad.grad([gx.sum()], [x])
    assert (ggx.device, ggx.shape) == (device, X.shape)


def test_inserted_variables_get_their_gradients():
    a, v = np.zeros(3), Variable(np.array([1.0, 2.0]))
    y = np.insert(a, [1, 3], v)
    (y * np.arange(5.0)).sum().backward()
    assert y.array.tolist() == [0, 1, 0, 0, 2]
    assert v.grad.tolist() == [1, 4]


def test_invalid_edits_raise():
    v = Variable(X)
    with pytest.raises(DtypeError, match="insert: expected values that int64 can hold, got float64; cast one with"):
        np.insert(np.array([1, 2]), 0, v[0, 0])  # NumPy would cut the fraction, and with it the gradient
    with pytest.raises(IndexError, match="delete: expected an index into an axis of 3, got 3"):
        np.delete(v, 3, axis=1)
    with pytest.raises(IndexError, match="insert: expected an index into an axis of 3, got 4"):
        np.insert(v, 4, 1.0, axis=1)
    with pytest.raises(IndexError, match="delete: expected an axis of an array with 2 axes, got 2"):
        np.delete(v, 0, axis=2)
    with pytest.raises(xpgrad.ShapeError, match="delete: expected a mask of 3 elements, got 2"):
        np.delete(v, [True, False], axis=1)
    with pytest.raises(IndexError, match="delete: expected an int, a slice"):
        np.delete(v, [0.5], axis=1)


LIKE = {
    "full": lambda v, x: np.full((2, 3), 2.5, **v),
    "full-variable": lambda v, x: np.full(3, x, **v),
    "zeros": lambda v, x: np.zeros((2, 1), **v),
    "ones": lambda v, x: np.ones(3, np.float32, **v),
    "eye": lambda v, x: np.eye(2, 3, 1, **v),
    "identity": lambda v, x: np.identity(2, dtype=int, **v),
    "arange": lambda v, x: np.arange(1, 6, 2, **v),
    "arange-float": lambda v, x: np.arange(3.0, **v),
    "array": lambda v, x: np.array([1.0, 2.0], ndmin=2, **v),
    "array-of": lambda v, x: np.array([x, 1.0, x * 2], **v),
    "asarray": lambda v, x: np.asarray([[x, x], [1.0, 0.0]], **v),
}


@pytest.mark.parametrize("name", LIKE)
def test_creation_like_a_variable(name):
    compare(lambda x: LIKE[name]({"like": x if isinstance(x, Variable) else np.asarray(x)}, x), np.array(1.5))


def test_creation_like_a_variable_of_another_library(device):
    v = Variable(placed(X, device))
    for y in (np.zeros(3, like=v), np.full(2, v.sum(), like=v), np.arange(3, like=v), np.eye(2, dtype=bool, like=v)):
        assert y.device == device
    with pytest.raises(TypeError, match="order='F' is not for Variables"):
        np.ones(2, order="F", like=v)


def test_full_of_a_single_variable_rejects_conversion():
    with pytest.raises(TypeError, match=r"a Variable is not converted silently.*v\.array"):
        np.full(3, Variable(np.array(1.5)))
