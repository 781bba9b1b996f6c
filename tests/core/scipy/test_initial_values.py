"""`solve_ivp`: the path of SciPy with a Jacobian by hand, over trees of states."""

import numpy as np
import pytest
from tests.building import array, place, values

from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import DtypeError, ShapeError, SparsityError, StructureError
from xpgrad.scipy import solve_ivp

integrate = pytest.importorskip("scipy.integrate")
sparse = pytest.importorskip("scipy.sparse")
START = [2.0, 0.0]
MU = 8.0


def van_der_pol(t, y, mu=MU):
    return xp.stack([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0] + 0.1 * xp.sin(t)])


def by_numpy(t, y):
    return np.stack([y[1], MU * (1 - y[0] ** 2) * y[1] - y[0] + 0.1 * np.sin(t)])


def jacobian(t, y):
    return np.asarray([[0, 1], [-2 * MU * y[0] * y[1] - 1, MU * (1 - y[0] ** 2)]])


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA", integrate.Radau])
def test_takes_the_path_of_scipy_with_a_jacobian_by_hand(method):
    implicit = {} if method in ("RK45", "RK23", "DOP853") else {"jac": jacobian}
    found = solve_ivp(van_der_pol, (0, 3), np.asarray(START), method=method)
    expected = integrate.solve_ivp(by_numpy, (0, 3), START, method=method, **implicit)
    assert (found.nfev, found.njev, found.nlu) == (expected.nfev, expected.njev, expected.nlu)
    np.testing.assert_allclose(found.t, expected.t)
    np.testing.assert_allclose(found.y, expected.y.T, atol=1e-9)


def test_trees_of_states_on_any_device(device):
    y0 = {"x": array(device, 2.0, "float32"), "v": (Variable(array(device, [0.0], "float64")),)}

    def f(t, y, mu):
        assert t.shape == ()
        x = xp.astype(y["x"], y["v"][0].dtype)
        forced = 0.1 * xp.sin(xp.astype(t, x.dtype))
        return {"x": y["v"][0][0], "v": (mu * (1 - x**2) * y["v"][0] - x + forced,)}

    times = np.linspace(0, 2, 5)
    expected = integrate.solve_ivp(by_numpy, (0, 2), START, t_eval=times, rtol=1e-6).y
    for method in ("RK45", "BDF"):
        found = solve_ivp(f, (0, 2), y0, (MU,), method=method, t_eval=times, rtol=1e-6, atol={"x": 1e-7, "v": (1e-7,)})
        assert place(found.y["x"]) == ((5,), "float32", device.name)
        assert place(found.y["v"][0].array) == ((5, 1), "float64", device.name)
        np.testing.assert_allclose(values(found.y["x"]), expected[0], rtol=1e-4)
        np.testing.assert_allclose(values(found.y["v"][0]), expected[1][:, None], rtol=1e-4, atol=1e-4)


def test_a_compiled_function_takes_the_same_path():
    for method in ("RK45", "Radau"):
        expected = solve_ivp(van_der_pol, (0, 1), np.asarray(START), (5.0,), method=method)
        found = solve_ivp(van_der_pol, (0, 1), np.asarray(START), (5.0,), method=method, compiled=True)
        assert (found.nfev, found.njev) == (expected.nfev, expected.njev)
        np.testing.assert_allclose(found.y, expected.y, atol=1e-9)


def heat(t, u, kappa=1.0):
    padded = xp.concat([xp.zeros_like(u[:1]), u, xp.zeros_like(u[:1])])
    return kappa * (padded[2:] - 2 * u + padded[:-2]) * (u.size + 1) ** 2


@pytest.mark.parametrize("method", ["Radau", "BDF"])
@pytest.mark.parametrize("known", [True, False])
def test_the_heat_equation_has_a_sparse_jacobian(method, known):
    size = 40
    x = np.linspace(0, 1, size + 2)[1:-1]
    exact = sparse.diags_array([1.0, -2.0, 1.0], offsets=[-1, 0, 1], shape=(size, size)) * (size + 1) ** 2
    start = np.sin(np.pi * x)
    found = solve_ivp(heat, (0, 0.1), start, method=method, sparsity=exact if known else True)
    expected = integrate.solve_ivp(lambda t, u: exact @ u, (0, 0.1), start, method=method, jac=lambda t, u: exact)
    assert (found.nfev, found.nlu) == (expected.nfev, expected.nlu)
    np.testing.assert_allclose(found.y, expected.y.T, rtol=1e-8)
    np.testing.assert_allclose(found.y[-1], np.exp(-0.1 * np.pi**2) * start, rtol=5e-3)


def test_a_sparsity_that_misses_an_entry_is_an_error():
    with pytest.raises(SparsityError, match="solve_ivp: the sparsity misses the entry at row 1, column 0"):
        solve_ivp(heat, (0, 0.1), np.ones(5), method="BDF", sparsity=np.eye(5))
    for method in ("RK45", "LSODA"):
        with pytest.raises(ValueError, match="solve_ivp: sparsity is for the methods 'Radau' and 'BDF'"):
            solve_ivp(heat, (0, 0.1), np.ones(5), method=method, sparsity=np.eye(5))


def test_dense_output_and_events_have_trees():
    def ground(t, y):
        return y["h"]

    ground.terminal, ground.direction = True, -1

    def never(t, y, *args):
        return y["h"] + 100

    f = lambda t, y: {"h": y["v"], "v": -9.81 + 0 * y["v"]}  # noqa: E731
    found = solve_ivp(f, (0, 10), {"h": 10.0, "v": np.zeros(())}, dense_output=True, events=[ground, never])
    landing = np.sqrt(20 / 9.81)
    assert found.status == 1
    np.testing.assert_allclose(found.t_events[0], landing)
    np.testing.assert_allclose(found.y_events[0]["v"], -9.81 * landing)
    assert found.y_events[0]["h"].shape == (1,)
    assert found.y_events[1]["v"].shape == (0,)
    at = found.sol(0.5)
    assert type(at["h"]) is float
    np.testing.assert_allclose([at["h"], at["v"]], [10 - 9.81 / 8, -9.81 / 2])
    np.testing.assert_allclose(found.sol(np.asarray([0.0, 0.5]))["v"], [0, -9.81 / 2], atol=1e-12)


def test_no_times_give_empty_states():
    found = solve_ivp(heat, (0, 1e-3), np.ones(3), t_eval=[])
    assert found.y.shape == (0, 3)


@pytest.mark.filterwarnings("ignore")
def test_invalid_arguments_are_named():
    with pytest.raises(StructureError, match="solve_ivp: what the function returned: expected a dict, got Variable"):
        solve_ivp(lambda t, y: y["a"], (0, 1), {"a": np.ones(2)})
    text = r"solve_ivp: what the function returned at \['a'\]: expected shape \(2,\), as in y0, got \(1,\)"
    with pytest.raises(ShapeError, match=text):
        solve_ivp(lambda t, y: {"a": y["a"][:1]}, (0, 1), {"a": np.ones(2)})
    with pytest.raises(
        ValueError, match=r"solve_ivp: what the function returned.*: expected finite numbers .* got nan"
    ):
        solve_ivp(lambda t, y: xp.log(y), (0, 1), -np.ones(2))
    with pytest.raises(DtypeError, match="solve_ivp: y0: expected real floating-point numbers, got complex128"):
        solve_ivp(heat, (0, 1), 1j * np.ones(2))
    with pytest.raises(ShapeError, match=r"solve_ivp: atol: expected a number or shape \(2,\), got shape \(3,\)"):
        solve_ivp(van_der_pol, (0, 1), np.asarray(START), atol=np.ones(3))
