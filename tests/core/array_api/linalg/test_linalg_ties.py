"""Equal and nearly equal eigenvalues and singular values: gradients from closed forms, and NaN where undefined."""

import numpy as np
import pytest
from tests.core.graph.nodes import node

import xpgrad
from xpgrad import Variable, array_api
from xpgrad.function_hooks import TimerHook
from xpgrad.testing.arrays import on_host, placed

linalg = array_api.linalg
RNG = np.random.default_rng(12)
W, D = (RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3)) for _ in range(2))
BASIS = np.linalg.qr(RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3)))[0]
REAL_BASIS = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
VALUES = {
    "all equal": [2.0, 2.0, 2.0],
    "two equal": [2.0, 2.0, 3.0],
    "1e-9 apart": [2.0, 2.0 + 1e-9, 3.0],
    "1e-12 apart": [2.0, 2.0 + 1e-12, 2.0 + 1e-9],
    "apart": [1.0, 2.0, 3.5],
}
SPECTRAL = {
    "identity": (lambda xp, w: w, lambda w: 1 + 0 * w),
    "square root": (lambda xp, w: xp.sqrt(w), lambda w: 0.5 * w**-0.5),
    "inverse square root": (lambda xp, w: 1 / xp.sqrt(w), lambda w: -0.5 * w**-1.5),
    "logarithm": (lambda xp, w: xp.log(w), lambda w: 1 / w),
    "exponential": (lambda xp, w: xp.exp(w), np.exp),
}


def adjoint(x):
    return array_api.matrix_transpose(array_api.conj(x) if x.node.spec.complex else x)


def h(x):
    return np.conj(np.swapaxes(x, -1, -2))


def hermitian(x):
    return 0.5 * (x + h(x))


def weighted(y, weights, device):
    """Return the real part of the sum of ``y * conj(weights)``, whose gradient with respect to `y` is the weights."""
    weights = placed(np.conj(weights), device)
    y = array_api.sum(y * weights)
    return array_api.real(y) if y.node.spec.complex else y


def gradients(device, function, x, direction=None):
    """Return the raw and the recorded gradient, and the Hessian times a direction."""
    v = Variable(placed(x, device))
    function(v).backward()
    (recorded,) = xpgrad.grad([function(v)], [v], enable_double_backprop=True)
    if direction is None:
        return on_host(v.grad), on_host(recorded), None
    (hessian,) = xpgrad.grad([weighted(recorded, direction, device)], [v])
    return on_host(v.grad), on_host(recorded), on_host(hessian)


def matrix(values, is_complex):
    """Return Hermitian matrices with these eigenvalues."""
    basis = BASIS if is_complex else REAL_BASIS
    return hermitian((basis * np.asarray(values)[..., None, :]) @ h(basis))


def kind(weights, is_complex):
    return weights if is_complex else weights.real


def spectral_gradient(f, slope, x, weights):
    """Return the gradient of a function of a Hermitian matrix by divided differences (Daleckii and Krein)."""
    w, v = np.linalg.eigh(x)
    one, other = w[..., :, None], w[..., None, :]
    gap, middle = one - other, 0.5 * (one + other)
    near = np.abs(gap) < 1e-4  # there the central slope is exact to 1e-9
    divided = np.where(near, slope(middle), (f(one) - f(other)) / np.where(near, 1.0, gap))
    return v @ (divided * (h(v) @ hermitian(weights) @ v)) @ h(v)


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("name", SPECTRAL)
def test_functions_of_hermitian_matrices(device, name, is_complex):
    f, slope = SPECTRAL[name]
    x, weights, direction = (
        matrix(list(VALUES.values()), is_complex),
        kind(W, is_complex),
        hermitian(kind(D, is_complex)),
    )

    def loss(x):
        w, v = linalg.eigh(x)
        return weighted(array_api.matmul(v * f(array_api, w)[..., None, :], adjoint(v)), weights, device)

    def exact(x):
        return spectral_gradient(lambda w: f(np, w), slope, x, weights)

    raw, recorded, hessian = gradients(device, loss, x, direction)
    np.testing.assert_allclose(raw, exact(x), rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(raw, recorded)
    step = 1e-3  # away from ties, where the closed form is exact
    expected = (8 * (exact(x + step * direction) - exact(x - step * direction))
                - (exact(x + 2 * step * direction) - exact(x - 2 * step * direction))) / (12 * step)  # fmt: skip
    np.testing.assert_allclose(hessian, expected, rtol=1e-4, atol=1e-5)


def cube_gradient(x, weights):
    """Return the gradient of ``x x^H x``."""
    return weights @ h(x) @ x + x @ h(weights) @ x + x @ h(x) @ weights


def rotated(shape, values, is_complex):
    """Return matrices with these singular values."""
    rng = np.random.default_rng(3)
    u, v = (np.linalg.qr(rng.normal(size=(n, n)) + 1j * is_complex * rng.normal(size=(n, n)))[0] for n in shape)
    x = (u[:, :3] * np.asarray(values)[..., None, :]) @ h(v[:, :3])
    return x if is_complex else x.real


SINGULAR = VALUES | {
    "one zero": [2.0, 1.0, 0.0],
    "two zeros": [2.0, 0.0, 0.0],
    "all zeros": [0.0, 0.0, 0.0],
    "equal, and a zero": [1.0, 1.0, 0.0],
    "nearly zero": [2.0, 1.0, 1e-9],
    "nearly zero, and a zero": [2.0, 1e-9, 0.0],
}


@pytest.mark.parametrize("full", [False, True], ids=["thin", "full"])
@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5)])
def test_functions_of_matrices_by_singular_values(device, shape, is_complex, full):
    rng = np.random.default_rng(4)
    x = rotated(shape, list(SINGULAR.values()), is_complex)
    weights, direction = (kind(rng.normal(size=shape) + 1j * rng.normal(size=shape), is_complex) for _ in range(2))

    def loss(power):
        def function(x):
            u, s, vh = linalg.svd(x, full_matrices=full)
            return weighted(array_api.matmul(u[..., :3] * (s**power)[..., None, :], vh[..., :3, :]), weights, device)

        return function

    raw, recorded, hessian = gradients(device, loss(1), x, direction)
    np.testing.assert_allclose(raw, np.broadcast_to(weights, x.shape), rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(raw, recorded)
    np.testing.assert_allclose(hessian, np.zeros(x.shape), atol=2e-8)
    raw, recorded, hessian = gradients(device, loss(3), x, direction)
    np.testing.assert_allclose(raw, cube_gradient(x, weights), rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(raw, recorded)
    expected = (cube_gradient(x + 1e-3 * direction, weights) - cube_gradient(x - 1e-3 * direction, weights)) / 2e-3
    np.testing.assert_allclose(hessian, expected, rtol=1e-6, atol=1e-6)  # a quadratic function of x


@pytest.mark.parametrize("is_complex", [False, True], ids=["real", "complex"])
def test_functions_of_matrices_by_eigenvalues(device, is_complex):
    rng = np.random.default_rng(5)
    basis, weights, direction = (
        kind(rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)), is_complex) for _ in range(3)
    )
    x = (basis * np.asarray(list(VALUES.values()))[..., None, :]) @ np.linalg.inv(basis)

    def loss(x):
        w, v = linalg.eig(x)
        return weighted(array_api.matmul(v * (w**3)[..., None, :], linalg.inv(v)), weights + 0j, device)

    def exact(x):
        return weights @ h(x) @ h(x) + h(x) @ weights @ h(x) + h(x) @ h(x) @ weights

    raw, recorded, hessian = gradients(device, loss, x, direction)
    np.testing.assert_allclose(raw, exact(x), rtol=1e-8, atol=1e-8)
    np.testing.assert_array_equal(raw, recorded)
    expected = (exact(x + 1e-3 * direction) - exact(x - 1e-3 * direction)) / 2e-3
    np.testing.assert_allclose(hessian, expected, rtol=1e-5, atol=1e-5)


def polar(x):
    u, _, vh = linalg.svd(x, full_matrices=False)
    return array_api.matmul(u, vh)


def test_polar_factor_of_a_matrix_with_equal_singular_values(device):
    weights = W.real
    raw, recorded, _ = gradients(device, lambda x: weighted(polar(x), weights, device), 2 * REAL_BASIS)
    expected = REAL_BASIS @ (REAL_BASIS.T @ weights - weights.T @ REAL_BASIS) / 4
    np.testing.assert_allclose(raw, expected, atol=1e-14)
    np.testing.assert_array_equal(raw, recorded)


@pytest.mark.parametrize("values", [[2.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
@pytest.mark.parametrize("shape", [(3, 3), (5, 3)])
def test_polar_factor_of_a_singular_matrix_has_no_gradient(device, shape, values):
    weights = np.random.default_rng(6).normal(size=shape)
    raw, recorded, _ = gradients(device, lambda x: weighted(polar(x), weights, device), rotated(shape, values, False))
    assert np.isnan(raw).all()
    assert np.isnan(recorded).all()


def test_projection_on_a_group_of_equal_eigenvalues(device):
    weights = hermitian(W.real)

    def projection(x):
        v = linalg.eigh(x).eigenvectors[:, :2]
        return weighted(array_api.matmul(v, adjoint(v)), weights, device)

    mixed = np.zeros((3, 3))
    mixed[:2, 2] = mixed[2, :2] = weights[:2, 2] / (1 - 3)
    raw, _, _ = gradients(device, projection, np.diag([1.0, 1.0, 3.0]))
    np.testing.assert_allclose(raw, mixed, atol=1e-14)


def test_matrices_of_a_batch_do_not_disturb_each_other(device):
    x = np.stack([matrix(VALUES["apart"], False), 2 * np.eye(3), matrix(VALUES["two equal"], False), np.eye(3)])

    def coupled(x):
        w, v = linalg.eigh(x)
        return array_api.sum(array_api.matmul(v * array_api.sqrt(w)[..., None, :], adjoint(v)) * weights) ** 2

    weights = placed(W.real, device)
    raw, recorded, _ = gradients(device, coupled, x)
    f, slope = SPECTRAL["square root"]
    roots = [spectral_gradient(lambda w: f(np, w), slope, each, W.real) for each in x]
    total = sum(np.sum((v * np.sqrt(w)) @ v.T * W.real) for w, v in map(np.linalg.eigh, x))
    np.testing.assert_allclose(raw, 2 * total * np.stack(roots), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(raw, recorded)


DEPENDENT = {
    "all eigenvectors": lambda x: array_api.sum(linalg.eigh(x).eigenvectors),
    "one eigenvector": lambda x: linalg.eigh(x).eigenvectors[0, 0],
    "a square": lambda x: linalg.eigh(x).eigenvectors[0, 0] ** 2,
    "left": lambda x: array_api.sum(linalg.svd(x).U),
    "right": lambda x: linalg.svd(x).Vh[0, 0] ** 2,
    "eig": lambda x: array_api.sum(array_api.real(linalg.eig(x).eigenvectors)),
}


@pytest.mark.parametrize("name", DEPENDENT)
@pytest.mark.parametrize("recorded", [False, True], ids=["raw", "recorded"])
def test_basis_dependent_gradient_is_nan_only_for_its_batch_element(device, name, recorded):
    x = Variable(placed(np.stack([np.eye(3), matrix([1.0, 2.0, 3.5], False)]), device))
    total = DEPENDENT[name](x[0, ...]) + DEPENDENT[name](x[1, ...])
    (gx,) = xpgrad.grad([total], [x], enable_double_backprop=recorded)
    assert np.isnan(on_host(gx)[0]).all()
    assert np.isfinite(on_host(gx)[1]).all()


def repeated_derivative(device, function, x, directions):
    v = Variable(placed(x, device))
    y = function(v)
    for direction in directions:
        (gx,) = xpgrad.grad([y], [v], enable_double_backprop=True)
        y = array_api.sum(gx * placed(direction, device))
    return on_host(xpgrad.grad([y], [v])[0])


@pytest.mark.parametrize("values", [linalg.eigvalsh, linalg.svdvals])
@pytest.mark.parametrize("x", [np.eye(3), matrix([2.0, 2.0, 3.0], False)], ids=["identity", "two equal"])
def test_second_derivative_of_a_sum_of_squares_of_equal_values(device, values, x):
    direction = hermitian(D.real)
    found = repeated_derivative(device, lambda x: array_api.sum(values(x) ** 2), x, [direction])
    np.testing.assert_allclose(found, 2 * direction, atol=1e-12)


@pytest.mark.parametrize("x", [np.zeros((3, 3)), np.diag([1.0, 1.0, 0.0]), np.ones((3, 3))])
def test_second_derivative_of_a_sum_of_squares_of_singular_values_that_are_zero(device, x):
    found = repeated_derivative(device, lambda x: array_api.sum(linalg.svdvals(x) ** 2), x, [D.real])
    np.testing.assert_allclose(found, 2 * D.real, atol=1e-12)


def test_third_derivative_of_functions_of_equal_eigenvalues_and_nan_as_the_fourth(device):
    one, other = hermitian(D.real), hermitian(W.real)
    third = repeated_derivative(device, lambda x: array_api.sum(linalg.eigvalsh(x) ** 3), np.eye(3), [one, other])
    np.testing.assert_allclose(third, 3 * (one @ other + other @ one), atol=1e-12)
    cubes = [one, other, one]
    fourth = repeated_derivative(device, lambda x: array_api.sum(linalg.eigvalsh(x) ** 4), np.eye(3), cubes)
    assert np.isnan(fourth).all()


@pytest.mark.exhaustive(1)
def test_third_derivative_of_functions_of_eigenvectors_is_nan_not_wrong(device):
    def cube(x):
        w, v = linalg.eigh(x)
        return weighted(array_api.matmul(v * (w**3)[..., None, :], adjoint(v)), W.real, device)

    directions = [hermitian(D.real), hermitian(W.real)]
    assert np.isnan(repeated_derivative(device, cube, np.eye(3), directions)).all()
    assert np.isfinite(repeated_derivative(device, cube, np.diag([1.0, 2.0, 3.0]), directions)).all()


def root(x):
    w, v = linalg.eigh(x)
    return array_api.matmul(v * array_api.sqrt(w)[..., None, :], adjoint(v))


@pytest.mark.slow
def test_roots_of_roots(device):
    raw, recorded, _ = gradients(device, lambda x: weighted(root(root(x)), W.real, device), 16 * np.eye(3))
    np.testing.assert_allclose(raw, hermitian(W.real) * 0.25 * 16**-0.75, rtol=1e-12)
    np.testing.assert_array_equal(raw, recorded)


def test_gradient_at_an_optimum_is_zero_though_only_rounding_is_left(device):
    x = matrix([2.0, 2.0, 3.0], False)
    w, v = np.linalg.eigh(x)
    target = placed((v * np.sqrt(w)) @ v.T, device)
    raw, _, _ = gradients(device, lambda x: array_api.sum((root(x) - target) ** 2), x)
    np.testing.assert_allclose(raw, 0, atol=1e-13)


@pytest.mark.parametrize("size", [2, 3])
def test_defective_matrices_have_no_gradient(device, size):
    x = 2 * np.eye(size) + np.diag(np.ones(size - 1), 1)
    raw, recorded, _ = gradients(device, lambda x: array_api.sum(array_api.real(linalg.eigvals(x)) ** 2), x)
    assert np.isnan(raw).all()
    assert np.isnan(recorded).all()


def test_hooks_are_called_once_by_a_sweep_with_ties(device):
    v, calls = Variable(placed(np.eye(3), device)), []
    y = root(v)
    y.register_hook(lambda g: calls.append(1))
    with TimerHook() as timer:
        weighted(y, W.real, device).backward()
    assert calls == [1]
    names = [name for name, _ in timer.call_history]
    assert names.count("eigh") <= 1


def test_hook_that_changes_gradients_behind_gives_nan_at_ties(device):
    for x, expected in ((np.eye(3), True), (np.diag([1.0, 2.0, 3.0]), False)):
        v = Variable(placed(x, device))
        y = root(v)
        y.register_hook(lambda g: g * 2.0)
        weighted(y, W.real, device).backward()
        assert np.isnan(on_host(v.grad)).all() == expected


def test_released_graph_gives_nan_at_ties(device):
    v = Variable(placed(np.eye(3), device))
    weighted(root(v), W.real, device).backward(retain_graph=False)
    assert np.isnan(on_host(v.grad)).all()


def test_function_without_second_derivative_behind_gives_nan_at_ties():
    v = Variable(np.eye(3))
    w, q = linalg.eigh(v)
    identity = node(base=xpgrad.Function, forward=lambda self, xs: xs, backward=lambda self, xs, gys: gys)
    array_api.sum(array_api.matmul(q * array_api.sqrt(identity(w))[None, :], adjoint(q)) * W.real).backward()
    assert np.isnan(v.grad).all()


def test_single_precision_keeps_half_of_its_digits_at_near_ties(device):
    x = hermitian((REAL_BASIS * np.asarray([2.0, 2.0 + 1e-5, 3.0])) @ REAL_BASIS.T).astype(np.float32)
    raw, recorded, _ = gradients(device, lambda x: weighted(root(x), W.real.astype(np.float32), device), x)
    f, slope = SPECTRAL["square root"]
    exact = spectral_gradient(lambda w: f(np, w), slope, x.astype(np.float64), W.real)
    assert raw.dtype == np.float32
    np.testing.assert_allclose(raw, exact, rtol=2e-5, atol=2e-5)
    np.testing.assert_array_equal(raw, recorded)
