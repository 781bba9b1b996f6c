"""`least_squares`: the path of SciPy with a Jacobian by hand, over trees of unknowns and residuals."""

import numpy as np
import pytest
from tests.building import array, place, values

from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import DtypeError, SparsityError
from xpgrad.scipy import least_squares

optimize = pytest.importorskip("scipy.optimize")
TIMES = np.linspace(0, 1, 9)
DATA = 3 * np.exp(-2 * TIMES) + 0.05 * np.cos(9 * TIMES)
SIZE = 12


def decay(p):
    return p[0] * xp.exp(p[1] * array(p.device, TIMES, "float64")) - array(p.device, DATA, "float64")


def chain(x):
    return xp.concat([10 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])


def chain_jacobian(x):
    upper = np.zeros((len(x) - 1, len(x)))
    i = np.arange(len(x) - 1)
    upper[i, i + 1], upper[i, i] = 10.0, -20 * x[:-1]
    return np.concatenate([upper, -np.eye(len(x))[:-1]])


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_takes_the_path_of_scipy_with_a_jacobian_by_hand(device, method, mode):
    def jacobian(p):
        decayed = np.exp(p[1] * TIMES)
        return np.stack([decayed, p[0] * TIMES * decayed], axis=1)

    found = least_squares(decay, array(device, [1.0, -1.0], "float64"), method=method, mode=mode)
    expected = optimize.least_squares(
        lambda p: p[0] * np.exp(p[1] * TIMES) - DATA, [1.0, -1.0], jacobian, method=method
    )
    assert (found.nfev, found.njev, found.status) == (expected.nfev, expected.njev, expected.status)
    np.testing.assert_allclose(values(found.x), expected.x)
    np.testing.assert_allclose(found.jac, expected.jac)
    np.testing.assert_allclose(values(found.fun), expected.fun, atol=1e-12)
    assert place(found.x)[1:] == place(found.fun)[1:] == ("float64", device.name)


@pytest.mark.parametrize("method", ["trf", "dogbox"])
@pytest.mark.parametrize("known", [True, False])
def test_sparse_jacobians_take_the_path_of_a_sparse_one_by_hand(method, known):
    sparse = pytest.importorskip("scipy.sparse")
    start = np.linspace(0.5, 1.5, SIZE)
    pattern = sparse.csr_array(chain_jacobian(np.ones(SIZE)))
    found = least_squares(chain, start, sparsity=pattern if known else True, method=method)
    expected = optimize.least_squares(
        lambda x: np.concatenate([10 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]]), start,
        lambda x: sparse.csr_array(chain_jacobian(x)), method=method,
    )  # fmt: skip
    assert sparse.issparse(found.jac)
    assert (found.nfev, found.njev) == (expected.nfev, expected.njev)
    np.testing.assert_allclose(found.x, expected.x, atol=1e-9)


def test_a_sparsity_that_misses_an_entry_is_an_error():
    pattern = chain_jacobian(np.ones(SIZE)) != 0
    pattern[3, 4] = False
    with pytest.raises(SparsityError, match="least_squares: the sparsity misses the entry at row 3, column 4"):
        least_squares(chain, np.linspace(0.5, 1.5, SIZE), sparsity=pattern)


def test_trees_of_unknowns_and_residuals(device):
    x0 = {"a": array(device, 1.0, "float32"), "k": (Variable(array(device, [1.0], "float64")),)}
    t = array(device, TIMES, "float64")

    def f(p, scale):
        a = xp.astype(p["a"], t.dtype)
        return {"decay": (a * xp.exp(-p["k"][0] * t) - 3 * xp.exp(-2 * t)) * scale, "prior": [0.0 * a]}

    found = least_squares(f, x0, (2.0,), bounds=({"a": 0.0, "k": (None,)}, 10.0), x_scale={"a": 2.0, "k": (1.0,)})
    assert place(found.x["a"]) == place(x0["a"])
    assert type(found.x["k"][0]) is Variable
    np.testing.assert_allclose([values(found.x["a"]), *values(found.x["k"][0])], [3, 2], rtol=1e-5)
    assert found.fun["decay"].shape == (9,)
    np.testing.assert_allclose(values(found.grad["a"]), 0, atol=1e-4)
    assert found.jac.shape == (10, 2)


def test_a_compiled_function_takes_the_same_path():
    expected = least_squares(decay, np.asarray([1.0, -1.0]))
    found = least_squares(decay, np.asarray([1.0, -1.0]), compiled=True)
    assert found.nfev == expected.nfev
    np.testing.assert_allclose(found.x, expected.x)


def test_callbacks_get_trees():
    seen, results = [], []
    start = {"p": np.asarray([1.0, -1.0])}

    def of_result(intermediate_result):
        results.append(intermediate_result)

    for callback in (lambda x: seen.append(x["p"]), of_result):
        found = least_squares(lambda p: decay(p["p"]), start, callback=callback)
    assert len(seen) == len(results) > 1
    np.testing.assert_array_equal(seen[-1], results[-1].x["p"])
    assert results[-1].cost == pytest.approx(found.cost)


@pytest.mark.filterwarnings("ignore")
def test_invalid_arguments_are_named():
    with pytest.raises(
        ValueError,
        match=r"least_squares: what the function returned at \['r'\] at index \(1,\): expected finite .* nan",
    ):
        least_squares(lambda x: {"r": xp.log(x)}, np.asarray([1.0, -1.0]))
    with pytest.raises(
        DtypeError, match="least_squares: what the function returned: expected real numbers, got complex"
    ):
        least_squares(lambda x: x * 1j, np.ones(2))
    with pytest.raises(DtypeError, match="least_squares: x0: expected real floating-point numbers, got int64"):
        least_squares(decay, np.asarray([1, 2]))
    with pytest.raises(ValueError, match=r"least_squares: bounds must be \(lower, upper\)"):
        least_squares(decay, np.ones(2), bounds=1)
