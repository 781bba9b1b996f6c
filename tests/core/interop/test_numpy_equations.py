"""NumPy's least squares, condition numbers, equations of tensors and unwrapped phases of Variables."""

import numpy as np
import pytest
from tests.core.interop.test_numpy_functions import S, compare

import xpgrad
from xpgrad import Variable
from xpgrad.errors import ShapeError
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms.batch.vmap import vmap

RNG = np.random.default_rng(3)
TALL, WIDE = RNG.standard_normal((5, 3)), RNG.standard_normal((3, 5))
FLAT = np.outer([1.0, -2.0, 0.5, 1.5], [0.3, 1.2, -0.7])  # of rank 1
FIVE, THREE = RNG.standard_normal((5, 2)), RNG.standard_normal(3)


@pytest.mark.parametrize(
    ("a", "b"),
    [(TALL, FIVE), (TALL, FIVE[:, 0]), (WIDE, THREE), (S, THREE), (TALL + 1j * TALL[::-1], FIVE), (TALL, FIVE * 1j)],
    ids=["tall", "vector", "wide", "square", "complex", "real and complex"],
)
def test_least_squares(a, b):
    got = np.linalg.lstsq(Variable(a), Variable(b))
    wanted = np.linalg.lstsq(a, b)
    assert got[2] == wanted[2]
    assert type(got[2]) is int
    for i in (0, 1, 3):
        assert (got[i].shape, got[i].dtype) == (wanted[i].shape, wanted[i].dtype)
        np.testing.assert_allclose(got[i].array, wanted[i], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(("a", "b"), [(TALL, FIVE), (WIDE, THREE), (S, THREE)], ids=["tall", "wide", "square"])
def test_gradients_of_least_squares(a, b):
    compare(lambda x, y: [np.linalg.lstsq(x, y)[i] for i in (0, 1, 3)], a, b)


def test_second_derivatives_of_least_squares():
    def slope(a):
        x = Variable(a)
        y = np.linalg.lstsq(x, FIVE)[1].sum()
        return xpgrad.grad([y], [x], enable_double_backprop=True)[0], x

    (gx, x), d = slope(TALL), RNG.standard_normal(TALL.shape)
    (ggx,) = xpgrad.grad([(gx * d).sum()], [x])
    numeric = (slope(TALL + 1e-6 * d)[0].array - slope(TALL - 1e-6 * d)[0].array) / 2e-6
    np.testing.assert_allclose(ggx.array, numeric, rtol=1e-6, atol=1e-7)


def test_least_squares_of_a_matrix_without_full_rank():
    b = np.array([1.0, 0.4, -0.2, 0.9])
    x, residuals, rank, s = np.linalg.lstsq(Variable(FLAT), b)
    wanted = np.linalg.lstsq(FLAT, b)
    assert (rank, residuals.shape) == (wanted[2], wanted[1].shape) == (1, (0,))
    np.testing.assert_allclose(x.array, wanted[0], rtol=1e-10)
    np.testing.assert_allclose(s.array, wanted[3], atol=1e-12)
    v = Variable(b)
    np.linalg.lstsq(FLAT, v)[0].sum().backward()
    np.testing.assert_allclose(v.grad, np.linalg.pinv(FLAT).sum(axis=0), rtol=1e-10)


def test_the_derivative_without_full_rank_is_that_along_matrices_of_the_same_rank():
    u, w, du, b = np.array([1.0, -2.0, 0.5, 1.5]), np.array([0.3, 1.2, -0.7]), np.ones(4), np.arange(4.0)
    a = Variable(np.outer(u, w))
    np.linalg.lstsq(a, b)[0].sum().backward()
    f = [np.linalg.lstsq(np.outer(u + t * du, w), b)[0].sum() for t in (1e-6, -1e-6)]
    assert np.sum(a.grad * np.outer(du, w)) == pytest.approx((f[0] - f[1]) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("rcond", [None, -1, 0.4])
def test_the_tolerance_of_least_squares(rcond):
    a = np.diag([3.0, 1.0, 1e-17])
    got, wanted = (np.linalg.lstsq(x, THREE, rcond=rcond) for x in (Variable(a), a))
    assert got[2] == wanted[2]
    np.testing.assert_allclose(got[0].array, wanted[0], rtol=1e-12)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_least_squares_without_elements(shape):
    a, b = np.zeros(shape), np.ones((shape[0], 2))
    got, wanted = np.linalg.lstsq(Variable(a), b), np.linalg.lstsq(a, b)
    assert got[0].shape == wanted[0].shape
    assert got[1].array.tolist() == wanted[1].tolist()
    assert got[2] == wanted[2]


def test_least_squares_rejects_shapes_that_do_not_fit():
    with pytest.raises(ShapeError, match=r"lstsq: expected shapes \(M, N\) and \(M,\) or \(M, K\), got \(5, 3\) and"):
        np.linalg.lstsq(Variable(TALL), THREE)


NORMS = [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"]


@pytest.mark.parametrize("p", NORMS)
def test_condition_numbers(p):
    compare(lambda x: np.linalg.cond(x, p), S)
    compare(lambda x: np.linalg.cond(x, p), np.stack([S, S + np.eye(3), S.T * 2]) + np.arange(3.0))


@pytest.mark.parametrize("p", [None, 2, -2])
def test_condition_numbers_of_rectangles(p):
    compare(lambda x: np.linalg.cond(x, p), TALL)
    compare(lambda x: np.linalg.cond(x, p), WIDE)


@pytest.mark.parametrize("p", NORMS)
def test_condition_numbers_of_complex_matrices(p):
    z = S + 1j * S[::-1]
    np.testing.assert_allclose(np.linalg.cond(Variable(z), p).array, np.linalg.cond(z, p), rtol=1e-10)


@pytest.mark.parametrize("p", [None, 2, 1, np.inf, "fro", "nuc"])
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of infinite derivatives, further back
@pytest.mark.parametrize("a", [np.zeros((2, 2)), np.diag([1.0, 0.0])], ids=["zero", "singular"])
def test_the_condition_number_of_a_singular_matrix_is_infinite_and_so_is_its_derivative(p, a):
    x = Variable(np.stack([a, np.array([[2.0, 1.0], [0.5, 3.0]])]))
    y = np.linalg.cond(x, p)
    assert y.array[0] == np.inf
    assert y.array[1] == pytest.approx(np.linalg.cond(x.array[1], p), rel=1e-12)
    y.sum().backward()
    assert not np.any(np.isfinite(x.grad[0]))
    assert np.all(np.isfinite(x.grad[1]))  # the other matrix of the stack is not touched
    assert np.any(x.grad[1] != 0)


def test_condition_numbers_need_elements():
    with pytest.raises(ShapeError, match=r"cond: expected matrices with elements, got shape \(0, 2\)"):
        np.linalg.cond(Variable(np.zeros((0, 2))))


def test_equations_of_tensors():
    a = RNG.standard_normal((2, 3, 6))
    compare(lambda x: np.linalg.tensorinv(x), a)
    compare(lambda x, b: np.linalg.tensorsolve(x, b), a, RNG.standard_normal((2, 3)))
    c = RNG.standard_normal((3, 6, 2))
    compare(lambda x, b: np.linalg.tensorsolve(x, b, axes=(1,)), c, RNG.standard_normal((3, 2)))
    with pytest.raises(ShapeError, match="tensorsolve: expected a square map of 4 elements"):
        np.linalg.tensorsolve(Variable(a), np.ones((2, 2)))


PHASES = np.array([[0.0, 2.9, -2.8, 3.0, -0.4, 2.5, 11.0], [1.0, -1.2, 5.5, -6.4, 0.3, 9.9, 2.3]])
UNWRAPPED = {
    "plain": lambda p: np.unwrap(p),
    "axis": lambda p: np.unwrap(p, axis=0),
    "discont": lambda p: np.unwrap(p, 4.0),
    "period": lambda p: np.unwrap(p, period=4.0),
    "whole": lambda p: np.unwrap(p, period=4),
    "one": lambda p: np.unwrap(p[:, :1]),
}


@pytest.mark.parametrize("name", UNWRAPPED)
def test_unwrapped_phases(name, device):
    compare(UNWRAPPED[name], PHASES)
    x = Variable(placed(PHASES, device))
    np.testing.assert_allclose(on_host(UNWRAPPED[name](x)), UNWRAPPED[name](PHASES), rtol=1e-13, atol=1e-13)


def test_unwrapped_half_periods_and_whole_numbers():
    for p in (np.array([0.0, np.pi, 0.0, -np.pi, 0.0]), np.array([0.0, 2.0, 4.0, 2.0]) * np.pi / 2):
        np.testing.assert_allclose(np.unwrap(Variable(p)).array, np.unwrap(p), atol=1e-14)
    i = np.array([0, 1, 2, -1, 0, 3, 9])
    assert np.unwrap(Variable(i), period=4).array.tolist() == np.unwrap(i, period=4).tolist()
    assert np.unwrap(Variable(i), period=4).dtype == np.unwrap(i, period=4).dtype


def test_equations_on_each_device(device):
    a, b = Variable(placed(TALL, device)), Variable(placed(FIVE, device))
    x, residuals, rank, s = np.linalg.lstsq(a, b)
    (residuals.sum() + x.sum() + s.sum()).backward()
    assert rank == 3
    assert a.grad is not None
    assert b.grad is not None
    np.testing.assert_allclose(on_host(x), np.linalg.lstsq(TALL, FIVE)[0], rtol=1e-10)
    for p in NORMS:
        np.testing.assert_allclose(on_host(np.linalg.cond(Variable(placed(S, device)), p)), np.linalg.cond(S, p))


def test_least_squares_of_each_member():
    a, b = np.stack([S[:, :2], S[:, 1:], np.ones((3, 2))]), S
    x, residuals, rank, s = vmap(lambda a, b: np.linalg.lstsq(a, b))(Variable(a), Variable(b))
    assert on_host(rank).tolist() == [2, 2, 1]
    for i in range(3):
        one = np.linalg.lstsq(a[i], b[i])
        np.testing.assert_allclose(on_host(x)[i], one[0], atol=1e-12)
        np.testing.assert_allclose(on_host(residuals)[i], one[1] if one[1].size else [np.nan], atol=1e-12)
        np.testing.assert_allclose(on_host(s)[i], one[3], atol=1e-12)
