"""`hessian_diagonal` and `laplacian`, compared with Hessians and closed forms."""

import numpy as np
import pytest
from tests.building import array, assert_near, values

from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import DtypeError
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import custom_vjp, grad, hessian, hessian_diagonal, laplacian, vmap

RNG = np.random.default_rng(2)
WEIGHTS = RNG.standard_normal((5, 4)), RNG.standard_normal((4, 3))
POINT = RNG.standard_normal(5)


def network(x):
    return xp.sum(xp.tanh(xp.tanh(x @ WEIGHTS[0]) @ WEIGHTS[1]))


def test_diagonal_and_trace_of_the_hessian():
    full = on_host(hessian(network)(POINT))
    np.testing.assert_allclose(on_host(hessian_diagonal(network)(POINT)), np.diag(full), rtol=1e-10)
    np.testing.assert_allclose(on_host(laplacian(network)(POINT)), np.trace(full), rtol=1e-10)


OTHERS = {
    "products": lambda x: x[0] * x[1] * x[2] ** 3 * xp.exp(x[0]),
    "quotient": lambda x: xp.sum(1 / (4 + x @ WEIGHTS[0])),
    "kinks": lambda x: xp.sum(xp.maximum(x @ WEIGHTS[0], 0) ** 3),
    "roots": lambda x: xp.linalg.vector_norm(x),
    "waves": lambda x: xp.sum(xp.sin(x @ WEIGHTS[0]) ** 2),
    "solve": lambda x: xp.linalg.solve(np.eye(5) * 3 + x[:, None] * x, x)[0],
    "determinant": lambda x: xp.linalg.det(np.eye(5) * 3 + x[:, None] * xp.sin(x)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_laplacians_and_their_gradients_are_those_of_the_hessian(name):
    f = OTHERS[name]
    trace = lambda x: xp.linalg.trace(hessian(f)(x))  # noqa: E731
    np.testing.assert_allclose(on_host(laplacian(f)(POINT)), on_host(trace(POINT)), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(on_host(grad(laplacian(f))(POINT)), on_host(grad(trace)(POINT)), rtol=1e-8, atol=1e-10)


def test_functions_of_the_users_have_laplacians():
    cube = custom_vjp(lambda x: x**3)
    cube.defvjp(lambda x: (x**3, x), lambda x, gy: (3 * gy * x * x,))
    x = Variable(POINT)
    y = laplacian(lambda x: xp.sum(cube(x)))(x)
    y.backward()
    assert_near([y, x.grad], [6 * np.sum(POINT), np.full(POINT.shape, 6.0)], rtol=1e-10)


def test_closed_form_on_every_backend(device):
    x = array(device, [[0.5, 1.5], [-0.7, 2.0]], "float64")
    found = hessian_diagonal(lambda x: xp.sum(x**3, axis=1))(x)
    expected = np.zeros((2, 2, 2))
    for i in range(2):
        expected[i, i] = 6 * np.asarray(values(x))[i]
    np.testing.assert_allclose(values(found), expected, rtol=1e-12)
    np.testing.assert_allclose(values(laplacian(lambda x: xp.sum(x**3, axis=1))(x)), expected.sum((1, 2)), rtol=1e-12)


def test_gradient_and_batch_of_the_laplacian():
    quartic = lambda x, a: a * xp.sum(x**4)  # noqa: E731
    g = grad(laplacian(quartic), argnums=(0, 1))(POINT, np.asarray(2.0))
    assert_near([g[0], g[1]], [48 * POINT, 12 * np.sum(POINT**2)], rtol=1e-10)
    rows = np.stack([POINT, 2 * POINT])
    found = vmap(laplacian(lambda x: xp.sum(x**4)))(rows)
    np.testing.assert_allclose(on_host(found), 12 * np.sum(rows**2, axis=1), rtol=1e-10)


def test_linear_functions_have_laplacian_zero():
    np.testing.assert_array_equal(on_host(hessian_diagonal(lambda x: 2 * x[:2])(POINT)), np.zeros((2, 5)))


def test_integers_are_rejected():
    with pytest.raises(DtypeError, match="laplacian: expected a real floating-point argument, got"):
        laplacian(lambda x: x)(np.arange(3))
