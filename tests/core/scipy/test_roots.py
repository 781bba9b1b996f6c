"""`root`: the path of SciPy with a Jacobian by hand, over trees."""

import numpy as np
import pytest
from tests.building import array, place, values

from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import DtypeError, ShapeError
from xpgrad.scipy import root

optimize = pytest.importorskip("scipy.optimize")


def system(x):
    return xp.stack([x[0] * xp.cos(x[1]) - 4, x[0] * x[1] - x[1] - 5])


def system_by_numpy(x):
    return np.stack([x[0] * np.cos(x[1]) - 4, x[0] * x[1] - x[1] - 5])


def jacobian(x):
    return np.asarray([[np.cos(x[1]), -x[0] * np.sin(x[1])], [x[1], x[0] - 1]])


@pytest.mark.parametrize("method", ["hybr", "lm", "broyden1", "krylov", "df-sane"])
def test_takes_the_path_of_scipy_with_a_jacobian_by_hand(device, method):
    start = [6.0, 0.8]
    found = root(system, array(device, start, "float64"), method=method)
    expected = optimize.root(system_by_numpy, start, jac=jacobian if method in ("hybr", "lm") else None, method=method)
    for name in ("nfev", "njev", "nit", "status", "success"):
        assert found.get(name) == expected.get(name), name
    np.testing.assert_allclose(values(found.x), expected.x, atol=1e-9)
    assert place(found.x) == place(found.fun) == ((2,), "float64", device.name)


def test_trees():
    x0 = {"r": np.asarray(6.0, np.float32), "t": (Variable(np.asarray([0.8])),)}
    f = lambda x, c: [x["r"] * xp.cos(x["t"][0]) - c, x["r"] * x["t"][0] - x["t"][0] - 5]  # noqa: E731
    for compiled in (False, True):
        found = root(f, x0, (4.0,), compiled=compiled, tol=1e-10)
        expected = optimize.root(system_by_numpy, [6.0, 0.8]).x
        assert found.x["r"].dtype == np.float32
        assert type(found.x["t"][0]) is Variable
        np.testing.assert_allclose([float(found.x["r"]), found.x["t"][0].array[0]], expected, rtol=1e-6)
        assert [y.shape for y in found.fun] == [(1,), (1,)]


def test_callbacks_get_trees():
    seen = []
    f = lambda x: {"f": system(x["x"])}  # noqa: E731
    found = root(f, {"x": np.asarray([6.0, 0.8])}, method="broyden1", callback=lambda *args: seen.append(args))
    assert len(seen) in (found.nit, found.nit - 1)
    x, fun = seen[-1]
    np.testing.assert_allclose(fun["f"], system_by_numpy(x["x"]))


@pytest.mark.filterwarnings("ignore")
def test_invalid_arguments_are_named():
    text = "root: expected as many equations as unknowns, got 1 equations in what the function returned and 2 unknowns"
    with pytest.raises(ShapeError, match=text):
        root(lambda x: x[0], np.ones(2))
    with pytest.raises(ValueError, match=r"root: what the function returned at index \(1,\): expected finite numbers"):
        root(lambda x: xp.log(x), np.asarray([1.0, -1.0]))
    with pytest.raises(DtypeError, match="root: x0: expected real floating-point numbers, got complex128"):
        root(system, np.ones(2) * 1j)
