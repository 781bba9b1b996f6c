"""`minimize`: the path of SciPy with derivatives by hand, over trees of any arrays."""

import io
import itertools

import numpy as np
import pytest
from tests.building import array, place, values

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import DtypeError, GradientError, ShapeError, StructureError
from xpgrad.scipy import least_squares, minimize, root, solve_ivp

optimize = pytest.importorskip("scipy.optimize")
START = np.array([1.3, 0.7, 0.8, 1.9, 1.2])
PLAIN = ["Nelder-Mead", "Powell", "COBYLA", "COBYQA"]
GRADIENT = [None, "CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP"]
PRODUCT = ["Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"]
HESSIAN = ["dogleg", "trust-exact"]


def rosenbrock(x, a=1.0):
    return xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (a - x[:-1]) ** 2)


def by_hand(method):
    further = {} if method in PLAIN else {"jac": optimize.rosen_der}
    if method in PRODUCT:
        further["hessp"] = optimize.rosen_hess_prod
    if method in HESSIAN:
        further["hess"] = optimize.rosen_hess
    return further


@pytest.mark.parametrize("method", [*PLAIN, *GRADIENT, *PRODUCT, *HESSIAN])
def test_takes_the_path_of_scipy_with_derivatives_by_hand(method):
    start = START if method not in HESSIAN else np.array([0.9, 0.9, 0.9])
    options = {"maxfun" if method == "TNC" else "maxiter": 60}
    found = minimize(rosenbrock, start, method=method, options=options)
    expected = optimize.minimize(optimize.rosen, start, method=method, options=options, **by_hand(method))
    for name in ("nfev", "njev", "nhev", "nit", "status"):
        assert found.get(name) == expected.get(name), name
    np.testing.assert_allclose(found.x, expected.x, atol=1e-4)
    np.testing.assert_allclose(found.fun, expected.fun, atol=1e-7)
    assert type(found.x) is np.ndarray


def test_one_call_of_the_function_gives_value_and_gradient():
    calls = []
    found = minimize(lambda x: (calls.append(1), rosenbrock(x))[1], START, method="BFGS")
    assert len(calls) == found.nfev == found.njev


@pytest.mark.parametrize("method", ["BFGS", "Newton-CG"])
def test_trees_keep_their_types(device, method):
    x0 = {
        "w": array(device, [[1.0, 2.0]], "float32"),
        "b": (Variable(array(device, 4.0, "float64")), None, 2.0),
    }

    def f(x, target):
        w, b = xp.astype(x["w"], x["b"][0].dtype), x["b"][0]
        return xp.sum((w - target) ** 2) + (b - w[0, 0]) ** 2 + float_part(x["b"][2])

    def float_part(x):
        return (xp.astype(xp.asarray(x), xp.float64) - 5) ** 2 if device.name.startswith("@numpy") else 0.0

    target = array(device, [3.0, 7.0], "float64")
    found = minimize(f, x0, (target,), method=method, tol=1e-9)
    assert place(found.x["w"]) == place(x0["w"])
    assert type(found.x["b"][0]) is Variable
    assert type(found.x["b"][2]) is float
    np.testing.assert_allclose(values(found.x["w"]), [[3.0, 7.0]], atol=1e-5)
    np.testing.assert_allclose(values(found.x["b"][0]), 3.0, atol=1e-5)
    assert place(found.jac["w"]) == place(x0["w"])
    np.testing.assert_allclose(values(found.jac["w"]), 0, atol=1e-4)


def test_the_device_argument_is_where_the_function_computes(device):
    seen = []
    found = minimize(lambda x: (seen.append(x.device), rosenbrock(x))[1], START, device=device)
    assert set(seen) == {device}
    assert type(found.x) is np.ndarray
    np.testing.assert_allclose(found.x, 1, atol=1e-4)


@pytest.mark.parametrize("method", ["BFGS", "trust-ncg", "trust-exact"])
def test_a_compiled_function_takes_the_same_path(method):
    expected = minimize(rosenbrock, START, (1.5,), method=method)
    for f, compiled in ((rosenbrock, True), (xpgrad.compile(rosenbrock), False), (xpgrad.compile(rosenbrock), True)):
        found = minimize(f, START, (1.5,), method=method, compiled=compiled)
        assert (found.nfev, found.nit) == (expected.nfev, expected.nit)
        np.testing.assert_allclose(found.x, expected.x, atol=1e-9)


SIDES = {
    "numbers": (0.5, 0.8),
    "none": (None, 0.8),
    "arrays": (np.full(5, 0.5), np.full(5, 0.8)),
    "variables": (Variable(np.full(5, 0.5)), 0.8),
    "pairs": [(0.5, 0.8)] * 5,
    "pairs with none": [(None, 0.8)] * 5,
    "an array of pairs": np.tile([0.5, 0.8], (5, 1)),
    "Bounds": optimize.Bounds(0.5, 0.8),
    "Bounds of vectors": optimize.Bounds(np.full(5, 0.5), np.full(5, 0.8)),
}


@pytest.mark.parametrize("name", SIDES)
@pytest.mark.parametrize("method", [None, "trust-constr"])
def test_bounds(name, method):
    lower = -np.inf if "one" in name else 0.5
    start = np.full(5, 0.6)
    found = minimize(rosenbrock, start, bounds=SIDES[name], method=method)
    expected = optimize.minimize(
        optimize.rosen, start, jac=optimize.rosen_der, bounds=optimize.Bounds(lower, 0.8), method=method,
        hessp=optimize.rosen_hess_prod if method else None,
    )  # fmt: skip
    assert found.nfev - expected.nfev in ((-1, 0, 1) if method else (0,))  # of rounding, in inner iterations
    np.testing.assert_allclose(found.x, expected.x, atol=1e-9)


def test_bounds_are_trees():
    x0 = {"a": np.zeros((2, 2)), "b": np.zeros(())}
    lower, upper = {"a": [[-1.0, -2.0]], "b": None}, {"a": np.asarray([[1.0], [5.0]]), "b": 0.5}
    lower["a"] = np.asarray(lower["a"])
    f = lambda x: xp.sum((x["a"] - 3) ** 2) + (x["b"] - 3) ** 2  # noqa: E731
    found = minimize(f, x0, bounds=(lower, upper))
    np.testing.assert_allclose(found.x["a"], [[1, 1], [3, 3]], atol=1e-6)
    np.testing.assert_allclose(found.x["b"], 0.5)


def test_two_pairs_are_bounds_of_two_elements():
    found = minimize(lambda x: xp.sum((x - 3) ** 2), np.zeros(2), bounds=[(0, 1), (0, 2)])
    assert found.x.tolist() == [1.0, 2.0]
    found = minimize(
        lambda x: xp.sum((x - 3) ** 2), np.zeros(2), bounds=(np.asarray([0.0, 0.0]), np.asarray([1.0, 2.0]))
    )
    assert found.x.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("method", ["SLSQP", "trust-constr", "COBYLA"])
@pytest.mark.parametrize("kind", ["dict", "object"])
def test_constraints_have_exact_derivatives(device, method, kind):
    x0 = {"a": array(device, [0.5, 0.4], "float64"), "b": array(device, 0.3, "float64")}
    on_circle = lambda x: {"c": xp.sum(x["a"] ** 2) + x["b"] ** 2 - 1}  # noqa: E731
    positive = lambda x: x["a"]  # noqa: E731
    if kind == "dict":
        constraints = [{"type": "eq", "fun": on_circle}, {"type": "ineq", "fun": positive}]
    else:
        make = optimize.NonlinearConstraint
        constraints = [make(on_circle, 0, 0), make(positive, 0, np.inf)]
    f = lambda x: xp.sum(x["a"] * array(device, [-1.0, 1.0], "float64")) - x["b"]  # noqa: E731
    found = minimize(f, x0, method=method, constraints=constraints)
    np.testing.assert_allclose(values(found.x["a"]), [2**-0.5, 0], atol=2e-4)
    np.testing.assert_allclose(values(found.x["b"]), 2**-0.5, atol=2e-4)
    if method == "trust-constr":
        assert found.grad["a"].dtype == x0["a"].dtype


def test_constraints_take_the_path_of_scipy_with_jacobians_by_hand():
    constraint = {"type": "ineq", "fun": lambda x: 1 - xp.sum(x**2)}
    found = minimize(rosenbrock, START * 0.1, method="SLSQP", constraints=constraint)
    expected = optimize.minimize(
        optimize.rosen, START * 0.1, jac=optimize.rosen_der, method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: 1 - np.sum(x**2), "jac": lambda x: -2 * x},
    )  # fmt: skip
    assert (found.nfev, found.njev, found.nit) == (expected.nfev, expected.njev, expected.nit)
    np.testing.assert_allclose(found.x, expected.x)


def test_a_nonlinear_constraint_takes_the_path_with_a_hessian_by_hand():
    make = optimize.NonlinearConstraint
    f = lambda x: xp.stack([xp.sum(x**2), x[0] * x[1]])  # noqa: E731
    found = minimize(rosenbrock, START * 0.1, method="trust-constr", constraints=make(f, [-1, -1], [1, 1]))

    def jacobian(x):
        return np.stack([2 * x, [x[1], x[0], 0, 0, 0]])

    def hessian(x, v):
        h = 2 * v[0] * np.eye(5)
        h[0, 1] = h[1, 0] = v[1]
        return h

    by_numpy = make(lambda x: np.stack([np.sum(x**2), x[0] * x[1]]), [-1, -1], [1, 1], jac=jacobian, hess=hessian)
    expected = optimize.minimize(
        optimize.rosen, START * 0.1, jac=optimize.rosen_der, hessp=optimize.rosen_hess_prod, method="trust-constr",
        constraints=by_numpy,
    )  # fmt: skip
    assert (found.nfev, found.nit) == (expected.nfev, expected.nit)
    np.testing.assert_allclose(found.x, expected.x, atol=1e-7)


def test_a_linear_constraint_is_of_the_vector():
    x0 = (np.zeros(2), np.zeros(()))
    linear = optimize.LinearConstraint([[1, 1, 1]], 6, 6)
    found = minimize(lambda x: xp.sum(x[0] ** 2) + x[1] ** 2, x0, constraints=linear)
    np.testing.assert_allclose([*found.x[0], found.x[1]], [2, 2, 2], atol=1e-6)


@pytest.mark.parametrize("method", ["BFGS", "TNC", "COBYLA", "COBYQA", "SLSQP", "trust-constr"])
def test_callbacks_get_trees(method):
    seen, results = [], []
    x0 = {"a": START.copy()}

    def of_x(x, *state):
        seen.append(x["a"].copy())

    def of_result(intermediate_result):
        results.append(intermediate_result)

    f = lambda x: rosenbrock(x["a"])  # noqa: E731
    options = (
        {"maxiter": 5}
        if method not in ("TNC", "COBYQA", "COBYLA")
        else {"maxfun" if method == "TNC" else "maxiter": 30}
    )
    for callback in (of_x, of_result) if method not in ("TNC", "COBYLA") else (of_x,):
        minimize(f, x0, method=method, callback=callback, options=options)
    assert seen
    assert all(type(x) is np.ndarray and x.shape == (5,) for x in seen)
    for result in results:
        assert result.fun == pytest.approx(optimize.rosen(result.x["a"]))


def test_a_callback_stops_the_search():
    def stop(x):
        raise StopIteration

    assert minimize(rosenbrock, START, method="BFGS", callback=stop).nit == 1


PROGRESS = {
    "minimize BFGS": (
        lambda **how: minimize(rosenbrock, START, method="BFGS", **how),
        lambda found: {
            "iteration": found.nit,
            "value": f"{found.fun:.6g}",
            "max |gradient|": f"{np.abs(found.jac).max():.6g}",
        },
    ),
    "root hybr": (
        lambda **how: root(lambda x: x**2 - 2, START, **how),
        lambda found: {"evaluation": found.nfev, "max |f|": ""},
    ),
    "least_squares trf": (
        lambda **how: least_squares(lambda x: x**2 - 2, START, **how),
        lambda found: {"evaluation": found.nfev, "cost": f"{found.cost:.6g}"},
    ),
    "solve_ivp RK45": (
        lambda **how: solve_ivp(lambda t, y: -y, (0, 1), START, **how),
        lambda found: {"evaluation": found.nfev},
    ),
}


@pytest.mark.parametrize("title", PROGRESS)
def test_progress_of_each_solver_is_shown(title):
    from rich.console import Console

    solve, numbers = PROGRESS[title]
    console = Console(file=io.StringIO(), width=100)
    found = solve(progress=console)
    shown = console.file.getvalue()
    for text in (title, *itertools.chain(*numbers(found).items())):
        assert str(text) in shown


def test_no_output_unless_requested(capsys):
    minimize(rosenbrock, START)
    assert capsys.readouterr() == ("", "")


def log_of(x):
    return xp.sum(xp.log(x["a"]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("f", "x0", "error", "text"),
    [
        (lambda x: x**2, START, GradientError, r"must return one number, got shape \(5,\)"),
        (lambda x: xp.sum(x) * 1j, START, DtypeError, "must return a real number, got complex128"),
        (log_of, {"a": np.asarray([1.0, -1.0])}, ValueError, "minimize: expected a finite value at x0, got nan"),
        (
            lambda x: xp.sum(xp.sqrt(x["a"])),
            {"a": np.asarray([[1.0], [0.0]])},
            ValueError,
            r"minimize: expected a finite gradient at x0, got inf for x0 at \['a'\] at index \(1, 0\)",
        ),
        (rosenbrock, {"n": np.asarray([1, 2])}, DtypeError, r"minimize: x0 at \['n'\]: expected real .* got int64"),
        (rosenbrock, START + 1j, DtypeError, "minimize: x0: expected real floating-point numbers, got complex128"),
    ],
)
def test_errors_of_the_objective_are_named(f, x0, error, text):
    with pytest.raises(error, match=text):
        minimize(f, x0)


@pytest.mark.parametrize("method", ["BFGS", "Powell"])
def test_an_error_in_the_objective_names_its_caller(method):
    def f(x):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine") as caught:
        minimize(f, START, method=method)
    assert caught.value.__notes__[-1] == "while minimize evaluated the function at x0"
    with pytest.raises(GradientError, match=r"must return one number, got shape \(5,\)"):
        minimize(lambda x: x, START, method=method)


@pytest.mark.filterwarnings("ignore")
def test_a_search_that_ends_at_nan_has_no_success():
    f = lambda x: xp.sum(xp.log(x) - 2 * x) if float(x[0].array) < 1.5 else xp.sum(x) * np.nan  # noqa: E731
    found = minimize(f, np.asarray([1.0, 1.0]), method="Nelder-Mead", options={"maxiter": 3})
    assert np.isfinite(found.fun) or not found.success


@pytest.mark.parametrize(
    ("how", "error", "text"),
    [
        ({"bounds": (0, 1, 2)}, ValueError, r"minimize: bounds must be \(lower, upper\), .* got tuple of 3"),
        ({"bounds": 3}, ValueError, r"minimize: bounds must be \(lower, upper\), .* got int"),
        ({"bounds": (np.zeros(3), 1)}, ShapeError,
         r"minimize: lower bounds: expected a number or shape \(5,\), got shape \(3,\)"),
        ({"constraints": [3]}, TypeError,
         r"minimize: constraints\[0\]: expected a dict, NonlinearConstraint .* got int"),
        ({"constraints": {"type": "equal", "fun": rosenbrock}}, ValueError,
         r"constraints\[0\]: expected 'eq' or 'ineq' as 'type', got 'equal'"),
        ({"constraints": {"type": "eq"}}, TypeError, r"constraints\[0\]: expected a function as 'fun', got NoneType"),
        ({"constraints": {"type": "eq", "fun": rosenbrock, "jac": optimize.rosen_der}}, ValueError,
         r"constraints\[0\]: the Jacobian is computed from 'fun'; leave 'jac' out"),
        ({"method": "newton"}, ValueError, "Unknown solver newton"),
    ],
)  # fmt: skip
def test_mismatched_arguments_raise(how, error, text):
    with pytest.raises(error, match=text):
        minimize(rosenbrock, START, **how)


def test_bounds_of_another_structure_raise():
    with pytest.raises(StructureError, match="minimize: upper bounds: expected dict with 'a'; got 'b'"):
        minimize(lambda x: xp.sum(x["a"]), {"a": START}, bounds=(0, {"b": 1}))
