"""Functions that read numbers from Variables: an error if control flow depends on a derivative."""

import math
import re

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F
import xpgrad.scipy as xs

T = np.arange(1.0, 5.0)


def model(p):
    """Also depends on the argument in another way, so that a wrong gradient exists."""
    return math.exp(p) * T - 3 * T + 1e-3 * p


def constant(p):
    return math.exp(p) * T - 3 * T


def loss(p):
    return F.sum(model(p) ** 2)


def squares(p):
    return F.sum((math.exp(p) * T * p) ** 2)


def equation(p):
    return math.exp(p) - 3 + 1e-3 * p


BOUND = {"type": "ineq", "fun": equation}
X = np.asarray([0.5])
CALLS = {
    "least_squares": lambda: xs.least_squares(model, 0.5),
    "least_squares of a constant": lambda: xs.least_squares(constant, 0.5),
    "least_squares, forward": lambda: xs.least_squares(model, 0.5, mode="forward"),
    "least_squares, compiled": lambda: xs.least_squares(model, 0.5, compiled=True),
    "least_squares, sparse": lambda: xs.least_squares(lambda p: model(p[0]), X, sparsity=True),
    "least_squares, pattern": lambda: xs.least_squares(lambda p: model(p[0]), X, sparsity=np.ones((4, 1))),
    "minimize": lambda: xs.minimize(loss, 0.5),
    "minimize, compiled": lambda: xs.minimize(loss, 0.5, compiled=True),
    "minimize, products": lambda: xs.minimize(loss, 0.5, method="Newton-CG"),
    "minimize, Hessian": lambda: xs.minimize(loss, 0.5, method="trust-exact"),
    "minimize, constraint": lambda: xs.minimize(lambda p: p**2, 0.5, constraints=BOUND, method="SLSQP"),
    "minimize, both": lambda: xs.minimize(lambda p: p**2, 0.5, constraints=BOUND, method="trust-constr"),
    "root": lambda: xs.root(equation, 0.5),
    "solve_ivp": lambda: xs.solve_ivp(lambda t, y: -equation(y), (0.0, 1.0), 0.5, method="Radau"),
    "scipy.value_and_grad": lambda: xs.value_and_grad(loss, 0.5)(X),
    "scipy.hvp": lambda: xs.hvp(squares, 0.5)(X, X),
    "scipy.jac": lambda: xs.hess(squares, 0.5)(X),
    "scipy.jac of residuals": lambda: xs.jac(model, 0.5)(X),
}


@pytest.mark.filterwarnings("ignore::xpgrad.errors.CompileWarning")
@pytest.mark.parametrize("name", CALLS)
def test_a_derivative_that_would_be_wrong_is_an_error(name):
    function = re.match(r"[\w.]+", name)[0]
    with pytest.raises(
        xpgrad.GradientError, match=rf"{function}: a number was taken out [^`]*`math.exp\(p\)`; apply a function"
    ):
        CALLS[name]()


@pytest.mark.parametrize(
    "call",
    [
        lambda: xs.minimize(loss, 0.5, method="Nelder-Mead"),
        lambda: xs.root(equation, 0.5, method="krylov"),
        lambda: xs.minimize(lambda p: (p - math.log(3.0) + 0 * float(p.array)) ** 2, 0.5),
    ],
    ids=["no gradient", "no Jacobian", "meant"],
)
def test_numbers_that_change_no_derivative_are_accepted(call):
    assert call().x == pytest.approx(math.log(3.0), abs=1e-3)


def test_a_transform_within_the_function_warns_as_ever():
    slope = xpgrad.transforms.grad(lambda q: q * float(q))
    with pytest.warns(xpgrad.GraphEndWarning, match="a number was taken out"):
        found = xs.minimize(lambda p: (p - slope(2.0)) ** 2, 0.5)
    assert found.x == pytest.approx(2.0)


def test_the_configuration_accepts_numbers():
    with xpgrad.using_config("warn_graph_end", False):
        assert xs.least_squares(model, 0.5).success


def rounded(p):
    return xpgrad.array_api.round(p * T)


@pytest.mark.parametrize(
    ("function", "call"),
    [
        ("minimize", lambda: xs.minimize(lambda p: F.sum(rounded(p) ** 2), 0.5)),
        ("least_squares", lambda: xs.least_squares(rounded, 0.5)),
        ("least_squares", lambda: xs.least_squares(rounded, 0.5, mode="forward")),
        ("least_squares", lambda: xs.least_squares(lambda p: rounded(p[0]), X, sparsity=True)),
        ("root", lambda: xs.root(lambda p: rounded(p)[0], 0.5)),
        ("minimize", lambda: xs.minimize(F.square, 0.5, constraints={"type": "ineq", "fun": rounded}, method="SLSQP")),
    ],
    ids=["minimize", "least_squares", "forward", "sparse", "root", "constraint"],
)
def test_a_function_without_derivative_is_an_error(function, call):
    what = rf"{function}: the result of the function .* the graph ends before it:\n.*; round has no"
    with pytest.raises(xpgrad.GradientError, match=what):
        call()
