"""NumPy's functions that call a function of the user, that assign to a Variable, or that raise an error."""

import numpy as np
import pytest
from tests.core.interop.test_numpy_functions import X, Y, compare

import xpgrad
from xpgrad import Variable
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.transforms.batch.vmap import vmap


def product_or_sum(a, b):
    return a * b if a > b else a + b


def both(f, **options):
    """Return the vectorized function: NumPy's for arrays, ours for Variables."""
    return lambda *xs: (xpgrad if isinstance(xs[0], Variable) else np).vectorize(f, **options)(*xs)


@pytest.mark.parametrize(
    ("f", "options"),
    [
        (product_or_sum, {}),
        (lambda a, b: (a * b, a - b), {}),
        (lambda m, u: m @ u, {"signature": "(m,n),(n)->(m)"}),
        (lambda a, b: a + np.sum(b), {"excluded": {1}}),
    ],
    ids=["branches", "tuple", "signature", "excluded"],
)
def test_vectorize(f, options):
    compare(both(f, **options), X, Y)


def test_vectorize_of_names_and_errors():
    f = xpgrad.vectorize(product_or_sum)
    np.testing.assert_allclose(f(Variable(X), b=2.0).array, np.vectorize(product_or_sum)(X, b=2.0))
    with pytest.raises(ValueError, match="vectorize: expected arguments with elements"):
        f(Variable(X[:0]), 1.0)
    with pytest.raises(ValueError, match="expected a signature such as"):
        xpgrad.vectorize(product_or_sum, signature="m,n->m")
    with pytest.raises(ShapeError, match="expected at least 2 axes"):
        xpgrad.vectorize(product_or_sum, signature="(m,n),()->()")(Variable(X[0]), 1.0)


@pytest.mark.parametrize(("indices", "axis"), [([[0], [2]], 1), ([[1, 0, 1]], 0), ([1, 5], None)])
def test_put_along_axis(indices, axis):
    indices = np.array(indices)

    def put(x):
        y = x * 1
        np.put_along_axis(y, indices, np.take_along_axis(x, indices, axis) ** 2 + 3, axis)
        return y

    compare(put, X)


def test_put_along_axis_refuses_an_array():
    with pytest.raises(TypeError, match="expected a Variable as the array to assign to, got ndarray"):
        np.put_along_axis(X.copy(), np.array([[0], [1]]), Variable(Y[:, :1]), 1)


def test_arguments_that_are_refused():
    v = Variable(X)
    with pytest.raises(ValueError, match="choose: expected indices from 0 to 1"):
        np.choose([0, 2, 1], v)
    with pytest.raises(ValueError, match="piecewise: expected 1 or 2 functions, got 3"):
        np.piecewise(v, [v < 0], [1.0, 2.0, 3.0])
    with pytest.raises(DtypeError, match="ldexp: expected exponents of an integer dtype"):
        np.ldexp(v, Y)
    with pytest.raises(DtypeError, match="heaviside: expected real numbers"):
        np.heaviside(v, 2j)
    with pytest.raises(ShapeError, match="matvec: expected a matrix"):
        np.matvec(v[0], v[0])
    with pytest.raises(ShapeError, match="vecmat: expected a matrix"):
        np.vecmat(v[0], v[0])
    with pytest.raises(IndexError, match="expected an axis of an array with 2 axes, got 2"):
        np.apply_along_axis(np.sum, 2, v)
    with pytest.raises(ShapeError, match="roots: expected a vector"):
        np.roots(v)
    with pytest.raises(ShapeError, match="polyfit: expected a degree from 0 on"):
        np.polyfit(v[0], v[1], -1)
    with pytest.raises(ValueError, match="expected more than 3 points for the covariance"):
        np.polyfit(v[0], v[1], 2, cov=True)


def test_a_fit_without_full_rank_warns_as_numpys_does():
    with pytest.warns(np.exceptions.RankWarning, match="rank 1 of 2"):
        np.polyfit(Variable(np.ones(3)), X[0], 1)


def test_products_by_powers_of_2_do_not_overflow_on_the_way():
    x, n = np.array([3e-308, 1e300, 5e-324]), np.array([2000, -2000, 1074])
    np.testing.assert_array_equal(np.ldexp(Variable(x), n).array, np.ldexp(x, n))


@pytest.mark.parametrize("n", [2, -3, np.int8(1), [1, -2, 0], (1, 2, 3), True, np.array(2)])
def test_exponents_of_2_are_numbers_and_lists_as_well(n):
    x = np.array([1.0, -2.5, 0.0])
    np.testing.assert_array_equal(np.ldexp(Variable(x), n).array, np.ldexp(x, n), strict=True)


@pytest.mark.parametrize("name", ["add", "divide", "power", "maximum", "less", "equal", "logical_and", "hypot"])
def test_either_operand_may_be_a_list(name):
    f, x = getattr(np, name), [1.0, 2.0, 3.0]
    v = Variable(np.array([2.0, 2.0, 2.0]))
    np.testing.assert_array_equal(f(x, v).array, f(x, v.array))
    np.testing.assert_array_equal(f(v, x).array, f(v.array, x))


def test_zeros_of_polynomials_with_zeros_at_the_ends_and_in_batches():
    p = np.array([0.0, 1.0, -6.0, 11.0, -6.0, 0.0])
    np.testing.assert_allclose(np.sort(np.roots(Variable(p)).array), np.sort(np.roots(p)), atol=1e-12)
    assert np.roots(Variable(np.zeros(3))).shape == (0,)
    rows = np.stack([p[1:5], p[1:5] * [1, 1.1, 1, 1.2]])
    got = vmap(lambda p: np.prod(np.roots(p)).real)(Variable(rows))
    np.testing.assert_allclose(got.array, -rows[:, 3] / rows[:, 0], rtol=1e-10)
