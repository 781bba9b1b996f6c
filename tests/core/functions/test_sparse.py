"""`CooMatrix` and `to_coo`, and their products: storage, order, duplicates, errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable, transforms
from xpgrad.testing.arrays import on_host as host
from xpgrad.utils import CooMatrix, to_coo

RNG = np.random.default_rng(0)
X = RNG.normal(size=(4, 5)) * (RNG.random((4, 5)) < 0.4)
BATCH = RNG.normal(size=(3, 4, 5)) * (RNG.random((3, 4, 5)) < 0.4)


@pytest.mark.parametrize("x", [X, BATCH, np.zeros((2, 3)), np.ones((2, 1, 2), "f2")])
@pytest.mark.parametrize("room", [None, 1, 15])
def test_round_trip(device, x, room):
    if x.dtype == np.float16 and "strict" in str(device):
        x = x.astype("f4")
    sparse = to_coo(device.send(x), room)
    np.testing.assert_array_equal(host(sparse.to_dense()), x)
    counts = (x != 0).sum(axis=(-2, -1))
    assert sparse.data.shape == (*x.shape[:-2], max(counts.max(), room or 0))
    assert sparse.data.dtype == device.send(x).dtype
    assert host(sparse.row).dtype == np.int32
    assert sparse.shape == x.shape[-2:]


def test_elements_agree_with_chainer():
    x = to_coo(np.asarray([[0, 2, 0], [-1, 0, 0]], np.float32), ldnz=3)
    np.testing.assert_array_equal(x.data.array, [2, -1, 0])
    np.testing.assert_array_equal(x.row, [0, 1, -1])
    np.testing.assert_array_equal(x.col, [1, 0, -1])
    assert not x.data.requires_grad
    assert to_coo(X, requires_grad=True).data.requires_grad


def test_data_may_be_a_variable_in_a_graph():
    data = Variable(np.asarray([1.0, 2.0, 3.0]))
    sparse = CooMatrix(data * data, np.asarray([0, 1, 0]), np.asarray([0, 1, 0]), (2, 2))
    np.testing.assert_array_equal(sparse.to_dense(), [[10, 0], [0, 4]])
    F.sum(F.sparse_matmul(sparse, np.asarray([[1.0], [5.0]]))).backward()
    np.testing.assert_array_equal(data.grad, [2, 20, 6])


@pytest.mark.parametrize(
    ("row", "col", "order"),
    [
        ([0, 0, 1], [0, 2, 1], "C"),
        ([0, 1, 0], [0, 0, 2], "F"),
        ([1, 0, 0], [0, 2, 1], "other"),
        ([0, 1, -1],) * 2 + ("C",),
    ],
)
def test_the_order_is_found(row, col, order):
    row, col = np.asarray(row), np.asarray(col)
    assert CooMatrix(np.ones(3), row, col, (2, 3)).order == order
    assert CooMatrix(np.ones((1, 3)), row[None], col[None], (2, 3)).order == order
    assert CooMatrix(np.ones(3), row, col, (2, 3), "other").order == "other"


def test_wrong_arguments_raise():
    ones, places = np.ones(3), np.zeros(3, int)
    with pytest.raises(ValueError, match=r"data, row and col must be of one shape \(K,\) or \(B, K\), got"):
        CooMatrix(ones, places, places[:2], (2, 2))
    with pytest.raises(ValueError, match=r"data, row and col must be of one shape"):
        CooMatrix(np.ones((1, 1, 3)), places[None, None], places[None, None], (2, 2))
    with pytest.raises(ValueError, match=r"shape must be two positive numbers, got \(2, 0\)"):
        CooMatrix(ones, places, places, (2, 0))
    with pytest.raises(ValueError, match="order must be 'C', 'F', 'other' or None, got 'A'"):
        CooMatrix(ones, places, places, (2, 2), "A")
    with pytest.raises(ValueError, match=r"x must have shape \(M, N\) or \(B, M, N\), got \(3,\)"):
        to_coo(ones)


@pytest.mark.parametrize("made", ["csr_matrix", "csc_array", "coo_array", "bsr_array", "lil_matrix"])
def test_products_with_matrices_of_scipy(device, made):
    sparse = getattr(pytest.importorskip("scipy.sparse"), made)(X)
    b = RNG.normal(size=(5, 2))
    dense = Variable(device.send(b))
    y = F.sparse_matmul(sparse, dense)
    assert y.device == device
    np.testing.assert_allclose(host(y.array), X @ b, atol=1e-12)
    F.sum(y * y).backward()
    np.testing.assert_allclose(host(dense.grad), 2 * X.T @ X @ b, atol=1e-12)
    np.testing.assert_allclose(host(F.sparse_matmul(device.send(b), sparse, True, True).array), b.T @ X.T, atol=1e-12)


def test_transformed_products():
    sparse, b = to_coo(X), RNG.normal(size=(2, 5, 3))
    y = X @ b
    np.testing.assert_allclose(xpgrad.as_array(transforms.vmap(lambda b: F.sparse_matmul(sparse, b))(b)), y)
    np.testing.assert_allclose(xpgrad.compile(lambda b: F.sparse_matmul(sparse, b))(b[0]), y[0])
    _, tangent = transforms.jvp(lambda b: F.sparse_matmul(sparse, b), (b[0],), (b[1],))
    np.testing.assert_allclose(xpgrad.as_array(tangent), y[1])
