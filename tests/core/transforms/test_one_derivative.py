"""All modes of differentiation agree in cases of past errors: solvers, equal values, corners, nested transforms."""

from typing import Any

import numpy as np
import pytest
from tests.building import array

from xpgrad import FunctionNode, random
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import (
    custom_linear_solve,
    custom_root,
    custom_vjp,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    odeint,
    stop_gradient,
    vmap,
)  # fmt: skip
from xpgrad_conformance.table.one_derivative import disagreements

# Devices of two libraries: solvers take many steps.
pytestmark = pytest.mark.parametrize("device", ["@numpy", "native:0"], indirect=True)
linalg = xp.linalg


def weighted(y: Any, like: Any) -> Any:
    """Return a sum of the elements with different weights."""
    steps = xp.cumulative_sum(xp.reshape(xp.ones_like(y), (-1,)))
    return xp.sum(xp.reshape(steps, y.shape) * y)


def symmetric(a: Any) -> Any:
    return (a + a.mT) / 2


def by_eigenvalues(a: Any) -> Any:
    w, q = linalg.eigh(symmetric(a))
    return weighted((q * xp.exp(w)) @ q.mT, a)


def by_singular_values(a: Any) -> Any:
    u, s, vh = linalg.svd(a, full_matrices=False)
    return weighted((u * s**3) @ vh, a)


def by_general_eigenvalues(a: Any) -> Any:
    w, v = linalg.eig(a)
    return weighted(xp.real((v * w**3) @ linalg.inv(v)), a)


def bisected(f: Any, x: Any) -> Any:
    """Root between 0 and 3, from a method without a derivative."""
    low, high = 0.0 * x, 0.0 * x + 3.0
    for _ in range(45):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if float(on_host(f(middle)).ravel()[0]) > 0 else (middle, high)
    return middle


def by_newton(f: Any, x: Any) -> Any:
    """Root by a method that differentiates the function."""
    for _ in range(8):
        x = x - linalg.solve(jacrev(f)(x), f(x))
    return x


def by_gradients(f: Any, x: Any) -> Any:
    for _ in range(8):
        x = x - f(x) / grad(lambda each: xp.sum(f(each)))(x)
    return x


def conjugate_gradients(matvec: Any, b: Any) -> Any:
    x, r = xp.zeros_like(b), b
    p = r
    for _ in range(b.size):
        image, size = matvec(p), xp.sum(r * r)
        step = size / xp.sum(p * image)
        x, r = x + step * p, r - step * image
        p = r + p * (xp.sum(r * r) / size)
    return x


def by_matrix(g: Any, y: Any) -> Any:
    return linalg.solve(jacrev(g)(y), y)


def by_columns(g: Any, y: Any) -> Any:
    return linalg.solve(jacfwd(g)(y), y)


def by_batch(g: Any, y: Any) -> Any:
    return linalg.solve(vmap(g)(xp.tril(xp.triu(xp.ones_like(y[:, None] * y)))).mT, y)


def cube_root(solve: Any, tangent_solve: Any) -> Any:
    """Return the sum of cube roots as a function; the root of each element is found separately."""
    return lambda a: xp.sum(custom_root(lambda x: x * x * x - a, xp.ones_like(a), solve, tangent_solve))


def solution(solve: Any) -> Any:
    """Return the sum of the solution of a linear equation as a function of parameters of its matrix and right side."""

    def total(a: Any) -> Any:
        b = xp.stack([a[0], 2.0 * a[1]])
        matvec = lambda x: 3.0 * x * a[0] * a[0] + xp.flip(x) * a[1]  # noqa: E731
        return xp.sum(custom_linear_solve(matvec, b, solve, symmetric=True) ** 2)

    return total


def integral(adjoint: str) -> Any:
    """Return the sum of the solutions as a function of the times."""
    return lambda t: xp.sum(odeint(lambda y, s: y * (1.0 + s), xp.ones_like(t[:1]), t, adjoint=adjoint))


def normalized(function: Any) -> Any:
    return lambda x: weighted(function(x, xp.ones_like(x[0]), xp.zeros_like(x[0])) ** 3, x)


class Cube(FunctionNode):
    """A user's function whose gradient is multiplied by an array of the library."""

    def forward(self, xs: Any) -> Any:
        self.retain_inputs((0,))
        self.three = 0.0 * xs[0] + 3.0
        return (xs[0] ** 3,)

    def backward(self, indexes: Any, gys: Any) -> Any:
        (x,) = self.get_retained_inputs()
        return (gys[0] * x * x * self.three,)


@custom_vjp
def stopped_cube(x: Any) -> Any:
    """The cube, with derivatives only from its rules."""
    return stop_gradient(x) ** 3


stopped_cube.defvjp(lambda x: (stopped_cube(x), x), lambda x, gy: (gy * 3.0 * x * x,))
stopped_cube.defjvp(lambda xs, ts: (stopped_cube(xs[0]), 3.0 * xs[0] * xs[0] * ts[0]))


def of_captured(x: Any) -> Any:
    """Return the sum of cubes, which forward mode captures."""
    return xp.sum(jvp(lambda y: stopped_cube(x) * y, (xp.ones_like(x),), (xp.ones_like(x),))[1])


def along_itself(x: Any) -> Any:
    """Return a function of a tangent whose primal is constant."""
    return xp.sum(jvp(xp.sin, (xp.ones_like(x),), (x,))[1] ** 3)


POINTS: dict[str, tuple[Any, Any]] = {
    "eigvalsh of equal values": (lambda a: xp.sum(linalg.eigvalsh(symmetric(a)) ** 2), np.eye(2)),
    "eigh of equal values": (by_eigenvalues, np.eye(2)),
    "eigh of two equal values": (by_eigenvalues, np.diag([1.0, 1.0, 3.0])),
    "eigh of nearly equal values": (by_eigenvalues, np.diag([1.0, 1.0 + 1e-13, 3.0])),
    "svd of equal values": (by_singular_values, np.eye(2)),
    "svd of a lower rank": (by_singular_values, np.ones((3, 3))),
    "svd of few equal values": (by_singular_values, np.eye(3, 2)),
    "eig of equal values": (by_general_eigenvalues, np.diag([1.0, 1.0, 2.0])),
    "nuclear norm at 0": (lambda a: linalg.matrix_norm(a, ord="nuc") ** 2, np.ones((2, 2))),
    "norm at 0": (lambda x: linalg.vector_norm(x) ** 2, np.zeros(2)),
    "kernel at 0": (lambda x: xp.exp(-(linalg.vector_norm(x) ** 2)), np.zeros(2)),
    "hypot at 0": (lambda x: xp.hypot(x[0], x[1]), np.zeros(2)),
    "atan2 at 0": (lambda x: xp.atan2(x[0], x[1]), np.zeros(2)),
    "std of equal elements": (lambda x: xp.std(x) ** 2, np.ones(3)),
    "power with exponent 0": (lambda x: x[0] ** x[1], np.asarray([2.0, 0.0])),
    "power with exponent 1": (lambda x: x[0] ** x[1], np.asarray([2.0, 1.0])),
    "batch normalization": (normalized(F.batch_normalization), np.asarray([[1.0, 2.0], [0.5, -1.0], [2.0, 0.0]])),
    "layer normalization": (normalized(F.layer_normalization), np.asarray([[1.0, 2.0, 4.0], [0.5, -1.0, 0.0]])),
    "a user's function": (lambda x: xp.sum(Cube().apply((x,))[0]), np.asarray([1.0, 2.0])),
    "a user's rules in forward mode": (of_captured, np.asarray([1.0, 2.0])),
    "tangent of a constant": (along_itself, np.asarray([1.0, 2.0])),
    "matrices of a batch": (lambda a: xp.sum(vmap(by_eigenvalues)(a)), np.stack([np.eye(2), np.diag([1.0, 2.0])])),
    "root by bisection": (cube_root(bisected, by_matrix), np.asarray([2.0])),
    "root by Newton's method": (cube_root(by_newton, by_matrix), np.asarray([2.0, 3.0])),
    "root by gradients": (cube_root(by_gradients, by_columns), np.asarray([2.0, 3.0])),
    "root and a batch": (cube_root(by_newton, by_batch), np.asarray([2.0, 3.0])),
    "solution by conjugate gradients": (solution(conjugate_gradients), np.asarray([2.0, 3.0])),
    "solution by the matrix": (solution(by_matrix), np.asarray([2.0, 3.0])),
    "integral by its times": (integral("discrete"), np.asarray([0.0, 0.5, 1.0])),
    "continuous adjoint": (integral("continuous"), np.asarray([0.0, 0.5, 1.0])),
}  # fmt: skip
READ = "root by bisection"
"""Functions that read numbers, and so cannot be batched."""


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.exhaustive(1)
def test_all_modes_agree(device: Any, name: str) -> None:
    f, x = POINTS[name]
    direction = np.cos(np.arange(x.size) ** 2.0).reshape(x.shape)
    found = list(disagreements(f, [array(device, x, "float64")], [array(device, direction, "float64")], 1e-6))
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("name", "expected"),
    {
        "eigvalsh of equal values": 2 * np.eye(4) - (np.eye(4) - np.eye(4)[[0, 2, 1, 3]]),
        "root by bisection": [[-2 / 9 * 2 ** (-5 / 3)]],
        "power with exponent 0": [[0.0, 0.5], [0.5, np.log(2) ** 2]],
        "norm at 0": np.full((2, 2), np.nan),
    }.items(),
)
def test_known_second_derivatives(device: Any, name: str, expected: Any) -> None:
    f, x = POINTS[name]
    for way in (
        (hessian(f), jacrev(grad(f)), jacfwd(jacfwd(f)))
        if name != READ
        else (lambda a: jvp(grad(f), (a,), (a / a,))[1],)
    ):
        found = on_host(way(array(device, x, "float64"))).reshape(np.shape(expected))
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)


def test_random_numbers_agree_with_the_first_run(device: Any) -> None:
    """The function is called again where a decomposition meets equal values."""

    def f(a: Any) -> Any:
        return by_eigenvalues(a) * weighted(F.dropout(xp.ones_like(a), 0.5), a)

    a = array(device, np.eye(3), "float64")
    random.seed(3, device)
    value, _ = jvp(f, (a,), (a,))
    after = on_host(random.normal((2,), a.dtype, device))
    random.seed(3, device)
    np.testing.assert_allclose(on_host(value), on_host(f(a)), rtol=1e-12)
    np.testing.assert_array_equal(after, on_host(random.normal((2,), a.dtype, device)))
