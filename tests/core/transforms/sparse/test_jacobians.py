"""`sparse_jacobian` and `sparse_hessian`: dense ones are the reference, and no entry is missed silently."""

import builtins

import numpy as np
import pytest
from tests.building import array

import xpgrad
import xpgrad.functions as F
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import BatchWarning, DtypeError, GradientError, SparsityError
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import grad, hessian, jacobian, sparse_hessian, sparse_jacobian

sparse = pytest.importorskip("scipy.sparse")
X = np.asarray([1.1, -0.4, 0.7, 1.9, 0.3, -1.2, 0.8, 0.5])
RNG = np.random.default_rng(5)
SCATTERED = (RNG.random((11, 8)) < 0.2) * RNG.standard_normal((11, 8))


def tridiagonal(x):
    inner = xp.sin(x[1:-1]) * x[:-2] + x[2:] ** 2
    return xp.concat([x[:1] * x[1:2], inner, x[-1:] ** 2 - x[-2:-1]])


def pentadiagonal(x):
    padded = xp.concat([xp.zeros_like(x[:2]), x, xp.zeros_like(x[:2])])
    return x**3 + padded[:-4] * x - padded[4:] ** 2 + padded[1:-3] * padded[3:-1]


CASES = {
    "tridiagonal": (tridiagonal, "reverse", 3),
    "pentadiagonal": (pentadiagonal, "reverse", 5),
    "arrow": (lambda x: xp.concat([xp.sum(x**2)[None], x[1:] * x[0]]), "reverse", 8),
    "dense row": (lambda x: xp.concat([x**2, xp.sum(xp.sin(x))[None]]), "reverse", 2),
    "dense column": (lambda x: x[:-1] * x[-1] + x[:-1] ** 2, "forward", 2),
    "scattered": (lambda x: xp.sin(xp.matmul(array(x.device, SCATTERED, "float64"), x)), None, None),
    "zero rows and columns": (lambda x: xp.stack([0 * x[0], x[2] * x[3], 0 * x[0], x[3] ** 2]), "reverse", 2),
    "nothing": (lambda x: 0 * x, "reverse", 0),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("given", [True, False])
def test_equals_the_dense_jacobian(device, name, mode, given):
    f, chosen, colors = CASES[name]
    x = array(device, X, "float64")
    expected = on_host(jacobian(f)(x))
    compressed = sparse_jacobian(f, expected if given else None, mode=mode)
    found = compressed(x)
    assert type(found) is sparse.csr_array
    assert (found.dtype, found.shape) == (np.float64, expected.shape)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-13, atol=1e-15)
    assert compressed.mode == (mode if mode != "auto" else chosen or compressed.mode)
    if mode == "auto" and colors is not None:
        assert compressed.colors == colors
    assert compressed.sparsity.nnz <= np.count_nonzero(expected) or name == "nothing"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_all_colours_and_the_check_are_one_batch(mode):
    calls = []
    f = lambda x: (calls.append(1), xp.sin(x) * x)[1]  # noqa: E731
    compressed = sparse_jacobian(f, np.eye(8), mode=mode)
    compressed(X)
    assert len(calls) == 2


def test_a_function_that_rejects_batches_takes_a_sweep_for_each_colour():
    def square(x):
        return x**2 * len(memoryview(x.array)) / 8  # of NumPy's arrays only

    for mode in ("auto", "reverse", "forward"):
        with pytest.warns(BatchWarning, match="sparse_jacobian: computed by a sweep for each color") as caught:
            found = sparse_jacobian(square, np.eye(8), mode=mode)(X)
        assert caught[0].filename == __file__
        np.testing.assert_allclose(found.toarray(), np.diag(2 * X))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", ["tridiagonal", "pentadiagonal", "arrow", "dense column", "scattered"])
def test_a_missing_entry_of_a_pattern_is_reported_with_row_and_column(name, mode):
    f = CASES[name][0]
    full = jacobian(f)(X) != 0
    for row, column in np.argwhere(full)[::3].tolist():
        pattern = full.copy()
        pattern[row, column] = False
        text = rf"sparse_jacobian: the sparsity misses the entry at row {row}, column {column}; add it"
        with pytest.raises(SparsityError, match=text):
            sparse_jacobian(f, pattern, mode=mode)(X)
        assert sparse_jacobian(f, pattern, mode=mode, check=False)(X).nnz == pattern.sum()


def test_a_small_entry_next_to_large_entries_is_detected():
    weights = np.asarray([1e6, 1.0, 1e-4])
    f = lambda x: xp.stack([xp.sum(x * weights), x[0]])  # noqa: E731
    with pytest.raises(SparsityError, match="row 0, column 2"):
        sparse_jacobian(f, [[1, 1, 0], [1, 0, 0]], mode="forward")(np.ones(3))


def test_a_pattern_that_was_found_grows_where_another_branch_needs_more():
    f = lambda x: xp.where(x > 0, x * xp.roll(x, 1), x**2)  # noqa: E731
    compressed = sparse_jacobian(f)
    for x in (-np.abs(X), X, np.abs(X)):
        np.testing.assert_allclose(compressed(x).toarray(), jacobian(f)(x), rtol=1e-13)
    assert compressed.sparsity.nnz == 16


def test_an_entry_of_a_random_point_that_is_zero_here_is_in_the_pattern():
    compressed = sparse_jacobian(lambda x: x**2)
    assert compressed(np.zeros(3)).nnz == 3
    np.testing.assert_array_equal(compressed(np.ones(3)).toarray(), 2 * np.eye(3))


def test_trees_of_arguments_and_outputs_follow_each_other():
    f = lambda a, p: {"u": p["w"] * a, "v": (xp.sum(p["w"]) * p["b"],)}  # noqa: E731
    p = {"b": np.asarray(3.0), "w": np.asarray([[1.0, 2.0]])}
    expected = [[0, 5.0, 0], [0, 0, 5.0], [3.0, 3.0, 3.0]]
    assert sparse_jacobian(f, argnums=1)(5.0, p).toarray().tolist() == expected
    assert sparse_jacobian(f, argnums=-1, format="csc")(5.0, p).format == "csc"


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.coo_matrix, np.asarray, list, Variable])
def test_patterns_may_be_of_any_kind_of_matrix(make):
    full = (jacobian(tridiagonal)(X) != 0).astype(float)
    found = sparse_jacobian(tridiagonal, make(full) if make is not list else full.tolist())(X)
    np.testing.assert_allclose(found.toarray(), jacobian(tridiagonal)(X))


def test_numbers_of_32_bits_give_such_a_matrix(device):
    x = array(device, X, "float32")
    found = sparse_jacobian(tridiagonal)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found.toarray(), on_host(jacobian(tridiagonal)(x)), rtol=1e-6)


def test_sparse_hessian_equals_dense_hessian(device):
    f = lambda x: xp.sum(tridiagonal(x) ** 2)  # noqa: E731
    x = array(device, X, "float64")
    expected = on_host(hessian(f)(x))
    compressed = sparse_hessian(f)
    np.testing.assert_allclose(compressed(x).toarray(), expected, rtol=1e-12, atol=1e-14)
    assert compressed.colors == 5
    expected[3, 4] = 0
    with pytest.raises(SparsityError, match="sparse_hessian: the sparsity misses the entry at row 3, column 4"):
        sparse_hessian(f, expected)(x)


def test_captured_parameters_and_more_arguments():
    w = Variable(np.asarray(2.0))
    f = lambda x, k, *, s: w * x**k * s  # noqa: E731
    assert sparse_jacobian(f)(np.ones(2), 3, s=5.0).toarray().tolist() == [[30.0, 0.0], [0.0, 30.0]]


def test_a_compiled_function():
    compressed = sparse_jacobian(xpgrad.compile(tridiagonal))
    for _ in range(3):
        np.testing.assert_allclose(compressed(X).toarray(), jacobian(tridiagonal)(X))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_infinite_entries_of_the_pattern_are_not_missing(mode):
    f = lambda x: xp.sqrt(x)  # noqa: E731
    with np.errstate(all="ignore"):
        found = sparse_jacobian(f, np.eye(3), mode=mode)(np.asarray([1.0, 0.0, 4.0]))
    assert found.diagonal().tolist() == [0.5, np.inf, 0.25]


def test_mismatched_arguments_raise():
    with pytest.raises(SparsityError, match=r"expected a sparsity of shape \(8, 8\), as the function .* got \(8, 7\)"):
        sparse_jacobian(tridiagonal, np.ones((8, 7)))(X)
    with pytest.raises(SparsityError, match=r"sparsity must be a matrix of two axes, got shape \(8,\)"):
        sparse_jacobian(tridiagonal, np.ones(8))
    with pytest.raises(SparsityError, match="sparsity must be a matrix, dense or sparse, got str"):
        sparse_jacobian(tridiagonal, "banded")
    with pytest.raises(ValueError, match="mode must be 'auto', 'forward' or 'reverse', got 'columns'"):
        sparse_jacobian(tridiagonal, mode="columns")
    with pytest.raises(ValueError, match="format must be 'csr', 'csc' or 'coo', got 'dia'"):
        sparse_jacobian(tridiagonal, format="dia")
    with pytest.raises(TypeError, match=r"argnums must be one integer, got \(0, 1\)"):
        sparse_jacobian(tridiagonal, argnums=(0, 1))
    with pytest.raises(TypeError, match="sparse_jacobian: expected a function, got int"):
        sparse_jacobian(3)
    with pytest.raises(DtypeError, match="sparse_jacobian: expected real numbers, got complex numbers"):
        sparse_jacobian(lambda x: x * 1j)(X)
    with pytest.raises(GradientError, match="sparse_jacobian: expected a call outside of other transforms"):
        grad(lambda x: xp.sum(xp.asarray(sparse_jacobian(tridiagonal)(x).toarray())))(X)


def test_without_scipy_the_error_names_scipy(monkeypatch):
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == "scipy":
            raise ModuleNotFoundError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"sparse_jacobian: needs SciPy .* pip install scipy"):
        sparse_jacobian(tridiagonal)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("sparsity", [None, np.eye(8), np.tri(8)])
def test_random_numbers_agree_with_one_evaluation(mode, sparsity):
    xpgrad.random.seed(4)
    mask = F.dropout(Variable(np.ones(8)), 0.5).array
    xpgrad.random.seed(4)
    found = sparse_jacobian(lambda x: F.dropout(2 * x, 0.5), sparsity=sparsity, mode=mode)(X)
    np.testing.assert_allclose(found.toarray(), 2 * np.diag(mask))
