"""`xpgrad.scipy`: SciPy's optimisers on functions of Variables."""

import numpy as np
import pytest
from tests.building import array, values
from tests.devices import device_or_skip

import xpgrad
from xpgrad import Variable, scipy, transforms
from xpgrad import array_api as xp
from xpgrad.errors import DtypeError, GradientError, ShapeError
from xpgrad.scipy import hess, hvp, jac, ravel, residuals, value_and_grad
from xpgrad.transforms.trace.compiled import Compiled

optimize = pytest.importorskip("scipy.optimize")
START = np.array([1.3, 0.7, 0.8, 1.9, 1.2])


def rosenbrock(x, a=1.0):
    return xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (a - x[:-1]) ** 2)


def test_value_gradient_hessian_and_product(device):
    value, gradient = value_and_grad(rosenbrock, device=device)(START)
    assert type(value) is float
    assert (type(gradient), gradient.dtype, gradient.shape) == (np.ndarray, np.float64, (5,))
    np.testing.assert_allclose(value, optimize.rosen(START))
    np.testing.assert_allclose(gradient, optimize.rosen_der(START))
    np.testing.assert_allclose(hess(rosenbrock, device=device)(START), optimize.rosen_hess(START), atol=1e-9)
    p = np.arange(5.0)
    np.testing.assert_allclose(hvp(rosenbrock, device=device)(START, p), optimize.rosen_hess_prod(START, p))


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG"])
def test_minimisers_with_gradients(device, method):
    found = optimize.minimize(value_and_grad(rosenbrock, device=device), START, jac=True, method=method)
    np.testing.assert_allclose(found.x, np.ones(5), atol=1e-4)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-ncg"])
@pytest.mark.parametrize("second", ["hess", "hessp"])
def test_minimisers_with_second_derivatives(method, second):
    how = {"hess": hess, "hessp": hvp}[second](rosenbrock)
    found = optimize.minimize(
        value_and_grad(rosenbrock), START, args=(1.0,), jac=True, method=method, tol=1e-8, **{second: how}
    )
    np.testing.assert_allclose(found.x, np.ones(5), atol=1e-5)


def test_least_squares(device):
    t = np.linspace(0, 1, 9)
    data = Variable(array(device, 3 * np.exp(-2 * t), "float64"), requires_grad=False)
    times = Variable(array(device, t, "float64"), requires_grad=False)
    f = lambda p: p[0] * xp.exp(p[1] * times) - data  # noqa: E731
    found = optimize.least_squares(residuals(f, device=device), [1.0, -1.0], jac=jac(f, device=device))
    np.testing.assert_allclose(found.x, [3.0, -2.0])


def test_trees_of_any_dtype_and_device(device):
    like = {"a": array(device, [[0.0, 0.0], [0.0, 0.0]]), "b": (array(device, 1.0, "float64"), None)}
    seen = []

    def f(p):
        seen.append(p)
        return xp.sum(xp.astype((p["a"] - 3) ** 2, p["b"][0].dtype)) + (p["b"][0] - 2) ** 2

    x, unravel = ravel(like)
    assert (x.dtype, x.tolist()) == (np.float64, [0.0, 0.0, 0.0, 0.0, 1.0])
    found = optimize.minimize(value_and_grad(f, like), x, jac=True)
    tree = unravel(found.x)
    np.testing.assert_allclose(values(tree["a"]), np.full((2, 2), 3.0), atol=1e-5)
    assert values(tree["b"][0]) == pytest.approx(2.0, abs=1e-5)
    assert tree["a"].dtype == like["a"].dtype
    assert seen[0]["a"].device == device
    assert seen[0]["a"].dtype == like["a"].dtype
    np.testing.assert_allclose(hess(f, like)(x), 2 * np.eye(5), atol=1e-6)
    np.testing.assert_allclose(hvp(f, like)(x, np.arange(5.0)), 2 * np.arange(5.0))


def test_the_device_argument_moves(device):
    seen = []
    like = {"a": np.zeros(2, np.float32)}
    value, gradient = value_and_grad(lambda p: (seen.append(p["a"].device), xp.sum(p["a"]))[1], like, device)(START[:2])
    assert seen == [device]
    assert value == pytest.approx(2.0)
    assert gradient.tolist() == [1.0, 1.0]
    _, unravel = ravel(like, device)
    assert xpgrad.get_device_from_array(unravel(np.ones(2))["a"]) == device


def test_residuals_and_jacobians_of_trees():
    like = {"a": np.zeros(2), "b": np.zeros(())}
    f = lambda p: {"u": p["a"] * p["b"], "v": (p["b"] ** 2,)}  # noqa: E731
    x = np.array([2.0, 3.0, 5.0])
    assert residuals(f, like)(x).tolist() == [10.0, 15.0, 25.0]
    assert jac(f, like)(x).tolist() == [[5.0, 0.0, 2.0], [0.0, 5.0, 3.0], [0.0, 0.0, 10.0]]


def test_the_vector_is_neither_kept_nor_changed():
    x = START.copy()
    _, first = value_and_grad(rosenbrock)(x)
    kept = first.copy()
    value_and_grad(rosenbrock)(x + 1)
    assert (first == kept).all()
    assert (x == START).all()


def test_mismatched_arguments_raise():
    with pytest.raises(ShapeError, match=r"expected a vector of 2 elements, as in like, got shape \(5,\)"):
        value_and_grad(rosenbrock, np.zeros(2))(START)
    with pytest.raises(DtypeError, match=r"scipy: like at \['n'\]: expected real floating-point numbers, got int64"):
        value_and_grad(rosenbrock, {"n": np.zeros(2, np.int64)})


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobians_of_tall_and_wide_functions(device, mode):
    t = np.linspace(0, 1, 30)
    for f, x in (
        (lambda p: [p[0] * xp.exp(-p[1] * array(device, t, "float64")), p], np.array([2.0, 0.5])),
        (lambda p: [xp.sum(p**2), p[0]], np.linspace(1, 2, 9)),
    ):
        found = jac(f, device=device, mode=mode)(x)
        step = 1e-6 * np.eye(len(x))
        of = residuals(f, device=device)
        expected = np.stack([(of(x + d) - of(x - d)) / 2e-6 for d in step], axis=1)
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_a_fit_of_few_parameters_to_much_data_takes_few_evaluations():
    t = np.linspace(0, 1, 2000)
    data = 3 * np.exp(-2 * t)
    calls = []

    def misfit(p):
        calls.append(1)
        return p["a"] * xp.exp(-p["k"] * t) - data

    like = {"a": 1.0, "k": 1.0}
    x, unravel = ravel(like)
    found = optimize.least_squares(residuals(misfit, like), x, jac=jac(misfit, like))
    assert values(unravel(found.x)["k"]) == pytest.approx(2)
    assert len(calls) <= found.nfev + 3 * found.njev


def test_the_value_of_a_function_of_parameters_that_are_variables():
    a = Variable(np.asarray(2.0))
    value, gradient = value_and_grad(lambda x, a: a * xp.sum(x))(START, a)
    assert value == pytest.approx(2 * START.sum())
    assert gradient.tolist() == [2.0] * 5


def test_arrays_go_in_the_dtype_of_like_to_a_device_without_float64() -> None:
    device = device_or_skip("@strict:no_float64")
    like = {"a": np.ones(2, np.float32), "b": np.float32(2.0)}
    value, gradient = value_and_grad(lambda p: (p["a"] * p["b"]).sum(), like, device)(np.arange(3.0))
    assert (value, gradient.dtype, gradient.tolist()) == (2.0, np.float64, [2.0, 2.0, 1.0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("device", ["@numpy", "@strict:device1", "@torch"])
def test_derivatives_of_a_compiled_function_are_one_program_with_the_same_results(device, monkeypatch):
    like = {"w": np.ones(3), "b": np.ones((), np.float32)}
    rng, programs = np.random.default_rng(0), []

    def transformed(self, transform):
        programs.append(original(self, transform))
        return programs[-1]

    original = Compiled.__xpgrad_transformed__
    monkeypatch.setattr(Compiled, "__xpgrad_transformed__", transformed)

    def values(p, a):
        return [p["w"] ** 2 - a, p["b"] * p["w"]]

    def f(p, a):
        return xp.sum(xp.sin(values(p, a)[0]) ** 2) + xp.sum(values(p, a)[1])

    for make, g in ((value_and_grad, f), (hess, f), (hvp, f), (residuals, values), (jac, values)):
        compiled = xpgrad.compile(g, exact=True, strict=True)
        expected, found = make(g, like, device_or_skip(device)), make(compiled, like, device)
        for _ in range(4):
            x, a = rng.standard_normal(4), device_or_skip(device).send(rng.standard_normal(3))
            given = (x, rng.standard_normal(4), a) if make is hvp else (x, a)
            for one, two in zip(expected(*given), found(*given), strict=True):
                np.testing.assert_array_equal(one, two, strict=True)
        assert compiled.cache_info().hits == (2 if make is residuals else 0)
    hits = [program.cache_info().hits for program in programs]
    assert hits == [2, 0, 2, 2, 2]  # the gradient is not called separately: the Hessian is its Jacobian


# Within a transform


LOST = {
    "minimize": lambda a: scipy.minimize(lambda x: (x - a) ** 2, 1.0).x,
    "minimize, start": lambda a: scipy.minimize(lambda x: (x - 1) ** 2, a).x,
    "minimize, args": lambda a: scipy.minimize(lambda x, b: (x - b) ** 2, 1.0, args=(a,)).x,
    "minimize, value": lambda a: scipy.minimize(lambda x: (x - a) ** 2 + a, 1.0).fun,
    "minimize without gradients": lambda a: scipy.minimize(lambda x: (x - a) ** 2, 1.0, method="Nelder-Mead").x,
    "minimize, bounds": lambda a: scipy.minimize(lambda x: (x - 5) ** 2, 1.0, bounds=(-9.0, a)).x,
    "root": lambda a: scipy.root(lambda x: x - a, 1.0).x,
    "least_squares": lambda a: scipy.least_squares(lambda x: x - a, 1.0).x,
    "solve_ivp": lambda a: scipy.solve_ivp(lambda t, y: -a * y, (0.0, 1.0), 1.0).y[-1],
    "solve_ivp, start": lambda a: scipy.solve_ivp(lambda t, y: -y, (0.0, 1.0), a).y[-1],
    "value_and_grad, value": lambda a: scipy.value_and_grad(lambda x: x[0] * a)(np.ones(1))[0],
    "value_and_grad, gradient": lambda a: scipy.value_and_grad(lambda x: x[0] * a)(np.ones(1))[1][0],
    "residuals": lambda a: scipy.residuals(lambda x: x * a)(np.ones(1))[0],
    "jac": lambda a: scipy.jac(lambda x: x * a)(np.ones(1))[0, 0],
    "hess": lambda a: scipy.hess(lambda x: a * x[0] ** 2)(np.ones(1))[0, 0],
    "hvp": lambda a: scipy.hvp(lambda x: a * x[0] ** 2)(np.ones(1), np.ones(1))[0],
}
KEPT = {
    "ravel": lambda a: scipy.ravel([a, 1.0])[0][0] * 3,
    "ravel of a tree": lambda a: xp.sum(scipy.ravel({"b": [1.0, a], "c": np.ones((2, 2))})[0]) * 3,
    "and back": lambda a: scipy.ravel([1.0, np.ones(2)])[1](xp.stack([a, 2 * a, a]))[1][0] * 1.5,
    "there and back": lambda a: (lambda v, back: back(v * 3)["a"])(*scipy.ravel({"a": a, "b": np.ones(2)})),
}
TRANSFORMS = {
    "grad": lambda f, a: transforms.grad(f)(a),
    "jvp": lambda f, a: transforms.jvp(f, (a,), (xp.ones_like(a).array,))[1],
    "jacfwd": lambda f, a: transforms.jacfwd(f)(a),
    "grad of a Variable": lambda f, a: transforms.grad(f)(Variable(a) * 1),
}
EVERY = pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)


@EVERY
@pytest.mark.parametrize("f", LOST.values(), ids=LOST)
def test_numbers_for_scipy_that_depend_on_the_argument_of_a_transform_raise(f, transform):
    with pytest.raises(GradientError, match="because a number was taken out of a Variable that does"):
        transform(f, np.asarray(2.0))


@pytest.mark.parametrize("f", KEPT.values(), ids=KEPT)
def test_ravel_is_differentiable_within_a_transform(device, f):
    a = array(device, 2.0, "float64")
    for given in (a, Variable(a) * 1):
        found = transforms.grad(f)(given)
        assert xpgrad.as_variable(found).device == device
        assert values(found) == 3.0
    assert values(TRANSFORMS["jvp"](f, a)) == 3.0
