"""`fori_loop` against a Python loop over a range."""

from typing import Any

import numpy as np
import pytest
from tests.building import array, assert_near, values, variable

import xpgrad
from xpgrad import Variable
from xpgrad import array_api as xp
from xpgrad.errors import GraphError
from xpgrad.testing.arrays import on_host
from xpgrad.transforms import fori_loop


@pytest.mark.parametrize("checkpoints", [None, 2, "all"])
@pytest.mark.parametrize(("lower", "upper"), [(0, 9), (3, 20), (-4, 4), (2, 3)])
def test_values_and_gradients_agree_with_a_range(device: Any, lower: int, upper: int, checkpoints: Any) -> None:
    x, w = (variable(device, [0.3, -0.7], "float64") for _ in range(2))

    def f(i: Any, c: Any) -> Any:
        return xp.sin(c * w + 0.1 * xp.astype(i, c.dtype)), c[0]

    step = lambda i, c: (f(i, c[0])[0], f(i, c[0])[1] + c[1])  # noqa: E731
    found = fori_loop(lower, upper, step, (x, x[0] * 0), checkpoints=checkpoints)
    expected = (x, x[0] * 0)
    for i in range(lower, upper):
        expected = step(Variable(array(device, i, "int64")), expected)
    assert_near(found, expected, rtol=1e-12)
    gradients = [xpgrad.grad([xp.sum(c[0]) * c[1]], [x, w]) for c in (found, expected)]
    assert_near(*gradients, rtol=1e-12)


def test_the_number_is_a_position(device: Any) -> None:
    xs = variable(device, np.arange(6.0) + 1, "float64")
    y = fori_loop(0, 6, lambda i, c: c * xs[i], variable(device, 1.0, "float64"))
    (g,) = xpgrad.grad([y], [xs])
    np.testing.assert_allclose(on_host(g), 720 / (np.arange(6.0) + 1))


def test_bounds_are_read_from_arrays_and_an_empty_range_has_no_effect(device: Any) -> None:
    x = array(device, 2.0)
    assert values(fori_loop(0, array(device, 3, "int64"), lambda i, c: c * 2, x)) == 16.0
    assert values(fori_loop(5, 5, lambda i, c: c * 2, x)) == 2.0
    assert values(fori_loop(5, 2, lambda i, c: c * 2, x)) == 2.0


def test_a_variable_that_only_a_later_step_uses_is_an_error_or_has_its_gradient():
    w = Variable(np.asarray(2.0))

    def f(i, s):
        return s * w if int(i) == 11 else s + 1.0

    with pytest.raises(GraphError, match=r"fori_loop of f: a later step depends on an outer Variable"):
        fori_loop(0, 12, f, np.asarray(1.0))
    fori_loop(0, 12, f, np.asarray(1.0), checkpoints="all").backward()
    assert float(w.grad) == 12.0
