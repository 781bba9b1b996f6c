"""The error and normal distribution functions of single precision in C are accurate, also in the tails."""

from typing import Any

import numpy as np
import pytest
from tests.backends.c_executor.groups_to_compile import needs_compiler

import xpgrad
from xpgrad import Variable
from xpgrad.special import erf, erfc, ndtr
from xpgrad_numpy.kernels import erf as kernels

pytestmark = [needs_compiler, pytest.mark.usefixtures("_compiled")]
FUNCTIONS = {"erf": erf, "erfc": erfc, "ndtr": ndtr, "gelu": xpgrad.functions.gelu}


@pytest.fixture
def _compiled(built: Any) -> None:
    built(kernels, kernels.loops)
    assert kernels.loops() is not None


def points(rng: np.random.Generator) -> Any:
    """Numbers of all sizes of which no result is below the least normal number."""
    return np.concatenate(
        [
            np.linspace(-9, 12, 100_003),
            rng.standard_normal(10_000),
            *(sign * 10.0 ** rng.uniform(-30, 0, 10_000) for sign in (-1, 1)),
        ]
    ).astype(np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_differ_by_a_few_units_in_the_last_place(rng: np.random.Generator, name: str) -> None:
    x = points(rng)
    x = -x[x <= 9] if name == "erfc" else x
    found, reference = Variable(x), Variable(x.astype(np.float64))
    y, expected = FUNCTIONS[name](found), FUNCTIONS[name](reference)
    np.testing.assert_allclose(y.array, expected.array, rtol=5e-7, atol=0)
    for each in (y, expected):
        each.grad = np.ones_like(each.array)
        each.backward()
    np.testing.assert_allclose(found.grad, reference.grad, rtol=1e-5, atol=1e-7 if name == "gelu" else 1e-30)


def test_arrays_of_any_layout_and_size_give_the_same_bits(rng: np.random.Generator) -> None:
    x = points(rng)
    many = np.resize(x, 2**19)  # for which threads share the work
    y = erf(Variable(many)).array
    assert np.array_equal(y[: len(x)], erf(Variable(x)).array)
    assert np.array_equal(y[: len(x)][::-3], erf(Variable(x[::-3])).array)
    assert np.array_equal(y[7], erf(Variable(x[7:8].reshape(()))).array)
    assert erf(Variable(x[:0])).shape == (0,)


def test_limits_and_nan_are_those_of_the_functions_in_double_precision() -> None:
    x = np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45], np.float32)
    with np.errstate(invalid="ignore"):
        for name, function in FUNCTIONS.items():
            y, expected = function(Variable(x)).array, function(Variable(x.astype(np.float64))).array
            np.testing.assert_array_equal(y, expected.astype(np.float32), err_msg=name)
            assert np.array_equal(np.signbit(y)[:2], np.signbit(expected)[:2])
