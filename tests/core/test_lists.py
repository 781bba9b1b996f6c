"""Lists of Variables and numbers, in every public function that accepts them: a right gradient, or an error."""

import contextlib
import importlib
import inspect
import warnings

import numpy as np
import pytest

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import grad

MODULES = (
    "xpgrad.array_api", "xpgrad.array_api.linalg", "xpgrad.array_api.fft", "xpgrad.ops", "xpgrad.special",
    "xpgrad.functions", "xpgrad.scipy", "xpgrad.transforms", "xpgrad", "numpy", "numpy.linalg",
)  # fmt: skip
STOPS = (
    "stop_gradient", "print_runtime_info", "use", "set_debug", "set_printoptions", "seterr", "seterrcall", "setbufsize",
)  # fmt: skip
"""Functions whose results are constants, or that change the state of the process."""
WITH_FILES = "save", "savez", "savez_compressed", "savetxt", "load", "loadtxt", "fromfile", "genfromtxt", "memmap"
GIVEN = {
    "list": lambda a: [a, 1.0],
    "tuple": lambda a: (2.0, a),
    "nested": lambda a: [[a, 1.0], [2.0, 3.0]],
    "vectors": lambda a: [xp.stack([a, a * a]), np.asarray([2.0, 3.0])],
    "dict": lambda a: {"a": a, "b": 1.0},
}
MORE = {"alone": (), "with a number": (1.25,), "with an integer": (1,)}
START, STEP = 1.7, 1e-5


def functions(module):
    found = importlib.import_module(module)
    for name in sorted(set(dir(found)) - {*STOPS, *WITH_FILES}):
        function = getattr(found, name)
        if callable(function) and not name.startswith("_") and not inspect.isclass(function):
            yield name, function


def total(y):
    """Return the sum of all floating-point numbers in a result; None if it has none."""
    if isinstance(y, (list, tuple, dict)):
        parts = [total(each) for each in (y.values() if isinstance(y, dict) else y)]
        parts = [each for each in parts if each is not None]
        return sum(parts[1:], parts[0]) if parts else None
    if isinstance(y, Variable):
        return xp.sum(xp.real(y)) if y.node.spec.differentiable else None
    if isinstance(y, (np.ndarray, float, np.number)) and np.asarray(y).dtype.kind in "fc":
        return float(np.sum(np.real(y)))
    return None


def slope(f):
    """Return the difference quotient of `f`; None if it cannot be computed."""
    values = []
    for x in (START - STEP, START + STEP):
        with contextlib.suppress(Exception):
            y = f(Variable(np.asarray(x), requires_grad=False))
            values.append(float(on_host(y.array) if isinstance(y, Variable) else y))
    return (values[1] - values[0]) / (2 * STEP) if len(values) == 2 else None


@pytest.mark.parametrize("more", MORE.values(), ids=MORE)
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.filterwarnings("ignore")
def test_a_list_of_variables_and_numbers_has_its_gradient_or_raises(module, given, more):
    wrong = []
    for name, function in functions(module):

        def f(a, function=function):
            return total(function(given(a), *more))

        with warnings.catch_warnings():
            warnings.simplefilter("error", xpgrad.GraphEndWarning)
            try:
                found = float(on_host(grad(f)(START)))
            except Exception:  # accepts no lists, or raises that it has no gradient
                continue
        expected = slope(f)
        if expected is not None and not np.isclose(found, expected, rtol=1e-4, atol=1e-6):
            wrong.append(f"{name}: {found}, expected {expected}")
    assert not wrong
