"""Linear algebra beyond the case table: degenerate matrices, errors and signatures."""

import inspect

import array_api_strict
import numpy as np
import pytest

import xpgrad
from xpgrad import Variable, array_api
from xpgrad.errors import DtypeError, ShapeError, SingularMatrix
from xpgrad.testing.arrays import on_host, placed

linalg = array_api.linalg


def variable(device, values, dtype="float64"):
    return Variable(placed(np.asarray(values, dtype), device))


def gradient(device, function, values):
    x = variable(device, values)
    function(x).backward()
    return on_host(x.grad)


def second(device, function, values, direction):
    """Return the Hessian of a function times a direction."""
    x = variable(device, values)
    (gx,) = xpgrad.grad([function(x)], [x], enable_double_backprop=True)
    (ggx,) = xpgrad.grad([array_api.sum(gx * variable(device, direction))], [x])
    return np.zeros_like(direction) if ggx is None else on_host(ggx)


# The namespace


@pytest.mark.parametrize("name", linalg.__all__)
def test_signatures_agree_with_the_standard(name):
    ours, theirs = (inspect.signature(getattr(module, name)) for module in (linalg, array_api_strict.linalg))
    for one, two in zip(ours.parameters.values(), theirs.parameters.values(), strict=True):
        assert (one.name, one.kind, one.default) == (two.name, two.kind, two.default)


def test_every_namespace_has_the_extension_complete(backend):
    x = variable(backend.default_device, np.eye(2))
    found = x.__array_namespace__().linalg
    assert inspect.ismodule(found)
    missing = {name for name in array_api_strict.linalg.__all__ if not hasattr(found, name)}
    assert not missing
    assert {"eig", "eigvals"} <= vars(found).keys()


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("eig", ("eigenvalues", "eigenvectors")),
        ("eigh", ("eigenvalues", "eigenvectors")),
        ("qr", ("Q", "R")),
        ("slogdet", ("sign", "logabsdet")),
        ("svd", ("U", "S", "Vh")),
    ],
)
def test_several_results_are_a_named_tuple(device, name, fields):
    result = getattr(linalg, name)(variable(device, np.diag([3.0, 2.0])))
    assert result._fields == fields
    assert all(type(each) is Variable for each in result)


def test_functions_of_the_main_namespace_are_the_same():
    for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
        assert getattr(linalg, name) is getattr(array_api, name)


# Degenerate matrices


def test_singular_value_zero_is_a_kink(device):
    x = np.outer([1.0, 2.0], [3.0, 0.0, 4.0])
    direction = np.outer([1.0, 2.0], [3.0, 0.0, 4.0]) / np.sqrt(125)
    nuclear = gradient(device, lambda x: linalg.matrix_norm(x, ord="nuc"), x)
    np.testing.assert_allclose(nuclear, direction, atol=1e-15)
    np.testing.assert_array_equal(gradient(device, lambda x: linalg.matrix_norm(x, ord="nuc"), np.zeros((2, 3))), 0)


def test_pseudo_inverse_along_matrices_of_one_rank(device):
    a, b = np.asarray([[1.0], [2.0], [-1.0]]), np.asarray([[0.5, 3.0]])
    gx = gradient(device, lambda x: array_api.sum(linalg.pinv(x)), a @ b)

    def exact(t):
        return (np.linalg.pinv(b) @ np.linalg.pinv(a + t * np.asarray([[1.0], [0.5], [2.0]]))).sum()

    direction = np.asarray([[1.0], [0.5], [2.0]]) @ b
    np.testing.assert_allclose(np.sum(gx * direction), (exact(1e-6) - exact(-1e-6)) / 2e-6, rtol=1e-8)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")  # the library's
def test_second_derivative_of_a_determinant_with_overflowing_singular_values(device):
    x = variable(device, np.diag([1e2, 1e-2] * 30), "float32")
    (gx,) = xpgrad.grad([linalg.det(x)], [x], enable_double_backprop=True)
    (ggx,) = xpgrad.grad([gx[0, 0]], [x])
    np.testing.assert_allclose(on_host(ggx)[1, 1], 1.0, 1e-3)


def test_log_determinant_of_a_singular_matrix_in_a_stack(device):
    x = variable(device, [np.diag([2.0, 4.0]), [[1.0, 2.0], [2.0, 4.0]]])
    sign, log = linalg.slogdet(x)
    assert on_host(sign)[1] == 0
    assert on_host(log)[1] == -np.inf
    array_api.sum(log).backward()
    np.testing.assert_allclose(on_host(x.grad)[0], np.diag([0.5, 0.25]))
    assert np.isnan(on_host(x.grad)[1]).all()


def test_sign_of_a_real_determinant_has_no_gradient(device):
    x = variable(device, np.diag([2.0, 4.0]))
    assert xpgrad.grad([linalg.slogdet(x).sign], [x]) == [None]


ORDERS = (2, 1, 3, 1.5, 0.5, -2, np.inf, -np.inf)


@pytest.mark.parametrize("ord", ORDERS)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # a warning of the library, at a negative order
def test_zero_vector_has_the_gradient_zero_and_no_second_derivative(device, ord):
    def norm(x):
        return linalg.vector_norm(x, ord=ord)

    np.testing.assert_array_equal(gradient(device, norm, [0.0, 0.0]), 0)
    np.testing.assert_array_equal(
        second(device, norm, [0.0, 0.0], [1.0, 2.0]), 0 if abs(ord) in (1, np.inf) else np.nan
    )


@pytest.mark.parametrize("ord", [3, 1.5, 0.5])
def test_zeros_in_a_vector_have_the_gradient_zero(device, ord):
    gx = gradient(device, lambda x: linalg.vector_norm(x, ord=ord), [0.0, -2.0])
    np.testing.assert_allclose(gx, [0, -1])


def test_ties_of_norms_share_equally(device):
    gx = gradient(device, lambda x: linalg.vector_norm(x, ord=np.inf), [2.0, -2.0, 1.0])
    np.testing.assert_array_equal(gx, [0.5, -0.5, 0])
    gx = gradient(device, lambda x: linalg.matrix_norm(x, ord=1), [[1.0, -3.0], [2.0, 0.0]])
    np.testing.assert_array_equal(gx, [[0.5, -0.5], [0.5, 0]])
    gx = gradient(device, lambda x: linalg.matrix_norm(x, ord=2), 3 * np.eye(2))
    np.testing.assert_allclose(gx, 0.5 * np.eye(2))


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, 2, np.inf])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (2, 2, 0)])
def test_largest_norm_of_an_empty_matrix_is_zero(device, shape, ord):
    x = variable(device, np.zeros(shape))
    for keepdims in (False, True):
        y = linalg.matrix_norm(x, ord=ord, keepdims=keepdims)
        np.testing.assert_array_equal(on_host(y.array), np.zeros(shape[:-2] + (1, 1) * keepdims))
    y.sum().backward()
    assert x.grad.shape == shape


def test_largest_modulus_of_an_empty_vector_is_zero(device):
    x = variable(device, np.zeros((2, 0)))
    assert on_host(linalg.vector_norm(x, ord=np.inf, axis=-1).array).tolist() == [0, 0]
    assert on_host(linalg.vector_norm(x, ord=np.inf).array) == 0
    with pytest.raises(ValueError, match="vector_norm: "):
        linalg.vector_norm(x, ord=-np.inf)


def test_number_of_nonzeros_has_no_gradient(device):
    assert not linalg.vector_norm(variable(device, [0.0, 2.0]), ord=0).requires_grad


def test_large_power_takes_few_products(device):
    x = variable(device, [[0.5, 0.5], [0.25, 0.75]])
    y = linalg.matrix_power(x, 1000)
    assert y.rank < 30
    np.testing.assert_allclose(on_host(y), np.linalg.matrix_power(on_host(x), 1000))
    assert not linalg.matrix_power(x, 0).requires_grad


def test_tolerance_may_be_a_variable(device):
    x = variable(device, [np.diag([1.0, 0.1]), np.eye(2)])
    rtol = variable(device, [0.5, 0.5])
    assert on_host(linalg.matrix_rank(x, rtol=rtol)).tolist() == [1, 2]
    assert on_host(linalg.pinv(x, rtol=rtol))[0].tolist() == [[1, 0], [0, 0]]


def test_the_upper_factor_of_a_complex_matrix_has_no_negative_zeros_below_its_diagonal(device):
    below = on_host(linalg.cholesky(variable(device, np.eye(2), "complex64"), upper=True).array)[1, 0]
    assert not np.signbit([below.real, below.imag]).any()


def test_gradients_of_hermitian_functions_are_hermitian(device):
    x = np.asarray([[4.0, 1.0 + 1j, 0.5], [1.0 - 1j, 5.0, 0.3j], [0.5, -0.3j, 6.0]])
    for function in (linalg.cholesky, lambda x: linalg.eigh(x).eigenvectors, linalg.eigvalsh):
        v = Variable(placed(x, device))
        y = function(v)
        y.grad = placed(np.arange(1, 1 + on_host(y).size).reshape(y.shape).astype(on_host(y).dtype), device)
        y.backward()
        np.testing.assert_allclose(on_host(v.grad), np.conj(on_host(v.grad).T), atol=1e-12)


# Errors

SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
NONE = {
    "inv": lambda x: linalg.inv(x),
    "solve": lambda x: linalg.solve(x, x),
    "matrix_power": lambda x: linalg.matrix_power(x, -1),
    "cholesky": lambda x: linalg.cholesky(-x),
}


@pytest.mark.parametrize("name", NONE)
def test_what_does_not_exist_names_function_and_shape(device, name):
    with pytest.raises(SingularMatrix, match=rf"{name}: .*got float64 \(2, 2\)"):
        NONE[name](variable(device, SINGULAR))


def test_factors_of_dependent_columns_have_no_gradient(device):
    x = variable(device, np.zeros((3, 2)))
    with pytest.raises(SingularMatrix, match=r"qr: there is no gradient.*\(3, 2\)"):
        array_api.sum(linalg.qr(x).Q).backward()


SQUARE_ONLY = ("cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "slogdet")
MATRICES = ("diagonal", "matrix_norm", "matrix_rank", "pinv", "qr", "svd", "svdvals", "trace")


@pytest.mark.parametrize("name", SQUARE_ONLY)
@pytest.mark.parametrize("shape", [(2, 3), (3,), ()])
def test_rectangular_matrix_raises(device, name, shape):
    with pytest.raises(
        ShapeError, match=rf"{name.removesuffix('valsh').removesuffix('vals')}\w*: .*square.*\({str(shape)[1:-1]}\)"
    ):
        getattr(linalg, name)(variable(device, np.ones(shape)))


@pytest.mark.parametrize("name", MATRICES)
def test_vector_instead_of_matrix_raises(device, name):
    with pytest.raises(ShapeError, match=rf"{name.replace('vals', '')}\w*: "):
        getattr(linalg, name)(variable(device, np.ones(3)))


def test_right_hand_sides_of_another_length_raise(device):
    a = variable(device, np.eye(3))
    for shape in ((2,), (2, 3), ()):
        with pytest.raises(ShapeError, match=r"solve: expected right-hand sides of shape \(3,\) or"):
            linalg.solve(a, variable(device, np.ones(shape)))


def test_unknown_options_raise(device):
    x = variable(device, np.eye(2))
    with pytest.raises(ValueError, match="qr: expected mode 'reduced' or 'complete', got 'raw'"):
        linalg.qr(x, mode="raw")
    with pytest.raises(ValueError, match=r"matrix_norm: expected ord .*, got 3"):
        linalg.matrix_norm(x, ord=3)
    with pytest.raises(TypeError, match=r"matrix_power: expected an integer as n, got 0\.5"):
        linalg.matrix_power(x, 0.5)
    with pytest.raises(ShapeError, match="cross: expected vectors of length 3"):
        linalg.cross(x, x)


def test_dtypes_without_linear_algebra_raise():
    x = Variable(np.eye(2, dtype=np.float16))
    for name in ("inv", "eigh", "svd", "solve"):
        with pytest.raises(DtypeError, match=rf"{name}: .*float16 \(2, 2\)"):
            getattr(linalg, name)(*[x] * (2 if name == "solve" else 1))
    with pytest.raises(DtypeError, match=r"vector_norm: expected a floating-point dtype, got int64 \(2,\)"):
        linalg.vector_norm(np.asarray([1, 2]))


# Factors whose further columns may be any basis


def test_gradient_of_the_columns_added_to_the_matrix(device, rng):
    x, direction = rng.normal(size=(4, 2)), rng.normal(size=(4, 2))
    weights = rng.normal(size=(4, 4))

    def function(factor):
        def loss(x):
            beyond = factor(x)[:, 2:]
            return array_api.sum(
                array_api.matmul(beyond, array_api.matrix_transpose(beyond)) * variable(device, weights)
            )

        return loss

    def exact(t):
        q = np.linalg.qr(x + t * direction)[0]
        return np.sum((np.eye(4) - q @ q.T) * weights)

    for factor in (lambda x: linalg.svd(x).U, lambda x: linalg.qr(x, mode="complete").Q):
        gx = gradient(device, function(factor), x)
        np.testing.assert_allclose(np.sum(gx * direction), (exact(1e-5) - exact(-1e-5)) / 2e-5, rtol=1e-6)


def test_a_sweep_that_releases_and_unused_outputs(device):
    x = variable(device, [[2.0, 1.0], [0.5, 3.0]])
    u = linalg.svd(x).U
    array_api.sum(u * u).backward(retain_graph=False)
    np.testing.assert_allclose(on_host(x.grad), 0, atol=1e-14)
