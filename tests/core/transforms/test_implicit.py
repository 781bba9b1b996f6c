"""`custom_root` and `custom_linear_solve`: derivatives of solutions, to any order, against closed forms."""

import numpy as np
import pytest
from tests.building import array, assert_near, values, variable

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import GradientError, StructureError
from xpgrad.testing.arrays import like, on_host
from xpgrad.transforms import custom_linear_solve, custom_root, grad, hessian


def by_newton(f, x):
    """Root of a function of numbers, from a method that is not differentiated."""
    for _ in range(60):
        step = 1e-6
        slope = (f(x + step) - f(x - step)) / (2 * step)
        x = x - f(x) / slope
    return x


def root(a):
    """The square root of `a`."""
    start = Variable(like(np.ones(a.shape), a.array))
    return custom_root(lambda x: x * x - a, start, by_newton, lambda g, y: y / g(xp.ones_like(y)))


def test_orders_of_a_root(device):
    f, plain = root, lambda a: a**0.5
    for _ in range(5):
        found, expected = (on_host(each(variable(device, 2.0, "float64"))) for each in (f, plain))
        np.testing.assert_allclose(found, expected, rtol=1e-7)
        f, plain = grad(f), grad(plain)


def test_a_root_of_a_tree(device):
    """x + y = a, x - y = b * b."""

    def solve(f, start):
        assert not start["x"].requires_grad
        zero = f({"x": start["x"] * 0, "y": start["y"] * 0})
        s, d = -zero["x"], -zero["y"]
        return {"x": (s + d) / 2, "y": (s - d) / 2}

    def tangent_solve(g, r):
        """By Cramer's rule, with the matrix that the map gives column by column."""
        one, zero = xp.ones_like(r["x"]), xp.zeros_like(r["x"])
        first, second = g({"x": one, "y": zero}), g({"x": zero, "y": one})
        det = first["x"] * second["y"] - first["y"] * second["x"]
        return {
            "x": (second["y"] * r["x"] - second["x"] * r["y"]) / det,
            "y": (first["x"] * r["y"] - first["y"] * r["x"]) / det,
        }

    def found(a, b):
        def f(p):
            return {"x": p["x"] + p["y"] - a, "y": p["x"] - p["y"] - b * b}

        start = {"x": array(device, 0.0, "float64"), "y": array(device, 0.0, "float64")}
        out = custom_root(f, start, solve, tangent_solve)
        return out["x"] * out["y"]

    a, b = array(device, 3.0, "float64"), array(device, 1.5, "float64")
    (aa, ab), (_, bb) = hessian(found, (0, 1))(a, b)
    # x y = (a^2 - b^4) / 4
    assert values(grad(found, (0, 1))(a, b)[0]) == pytest.approx(1.5)
    assert values(grad(found, (0, 1))(a, b)[1]) == pytest.approx(-(1.5**3))
    assert [values(x) for x in (aa, ab, bb)] == pytest.approx([0.5, 0.0, -3 * 1.5**2])


def dense(matvec, b):
    """Solution computed by NumPy, from the matrix whose columns the map returns."""
    columns = [on_host(matvec(Variable(like(e, b.array)))) for e in np.eye(b.shape[0])]
    return like(np.linalg.solve(np.stack(columns, 1), on_host(b)), b.array)


def solved(a, b):
    return custom_linear_solve(lambda x: xp.matmul(a, x), b, dense, dense)


def cramer(a, b):
    d = a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]
    return xp.stack([a[1, 1] * b[0] - a[0, 1] * b[1], a[0, 0] * b[1] - a[1, 0] * b[0]]) / d


@pytest.mark.filterwarnings("ignore::xpgrad.errors.BatchWarning")  # `dense` solves on the host, one system at a time
def test_orders_of_a_linear_solve(device):
    a, b = array(device, [[3.0, 1.0], [0.5, 2.0]], "float64"), array(device, [1.0, 2.0], "float64")

    def orders(f):
        total = lambda a, b: xp.sum(f(a, b) ** 3)  # noqa: E731
        third = lambda a, b: xp.sum(grad(lambda a, b: xp.sum(grad(total)(a, b) ** 2), 1)(a, b) ** 2)  # noqa: E731
        return [
            f(Variable(a), Variable(b)),
            *grad(total, (0, 1))(a, b),
            hessian(total)(a, b),
            *grad(third, (0, 1))(a, b),
        ]

    assert_near(orders(solved), orders(cramer), rtol=1e-9)


def test_complex_maps_are_solved_by_the_adjoint(device):
    a = array(device, [[3.0 + 1j, 1.0], [0.5j, 2.0]], "complex128")
    b = array(device, [1.0, 2.0j], "complex128")
    total = lambda f: lambda a, b: xp.sum(xp.real(f(a, b) ** 2))  # noqa: E731
    assert_near(grad(total(solved), (0, 1))(a, b), grad(total(cramer), (0, 1))(a, b))


def test_without_a_transposed_solver_there_is_no_gradient(device):
    b = variable(device, [1.0, 2.0], "float64")
    x = custom_linear_solve(lambda x: x * 2, b, dense)
    assert values(x) == [0.5, 1.0]
    with pytest.raises(GradientError, match="transpose_solve or symmetric=True"):
        xp.sum(x).backward()


def test_constants_give_constants(device):
    b = array(device, [1.0, 2.0], "float64")
    assert not custom_linear_solve(lambda x: x * 2, b, dense, symmetric=True).requires_grad
    with xpgrad.no_backprop_mode():
        assert not root(variable(device, 2.0, "float64")).requires_grad


def test_a_solution_must_be_like_its_equation(device):
    b = variable(device, [1.0, 2.0])
    with pytest.raises(GradientError, match=r"custom_linear_solve: the solution: expected float32 \(2,\)"):
        custom_linear_solve(lambda x: x, b, lambda f, b: b[:1])
    with pytest.raises(StructureError, match="custom_root: the root: expected a dict, got Variable"):
        custom_root(lambda x: x, {"x": b}, lambda f, x: x["x"], dense)
    with pytest.raises(GradientError, match="custom_root: what the function returned"):
        custom_root(lambda x: x[:1] * b[:1], b, lambda f, x: x, dense)
