"""Scalars in programs: the bits of 0-d arrays, and arrays where arrays are needed."""

import warnings

import numpy as np
import pytest

import xpgrad
import xpgrad.array_api as xp
from xpgrad.transforms import value_and_grad

DTYPES = "float16", "float32", "float64", "complex64", "complex128"
VALUES = 0.0, -0.0, 1.0, 1 / 3, -2.5e-8, 6e4, 1e-45, 3e38, np.inf, -np.inf, np.nan


def same_bits(a, b):
    """Whether two arrays have the same bits; the sign of NaN is not compared, which differs from loop to loop."""
    same = type(a) is type(b) is np.ndarray and a.dtype == b.dtype and a.shape == b.shape
    return same and np.isnan(a).tolist() == np.isnan(b).tolist() and without_nan(a) == without_nan(b)


def without_nan(array):
    return np.where(np.isnan(array), 0, array).astype(array.dtype).tobytes()


def ran(f, *args):
    """Return the results of a function and of its program."""
    compiled = xpgrad.compile(f, exact=True, strict=True)
    with np.errstate(all="ignore"):
        wanted = f(*map(xpgrad.Variable, args))
        for _ in range(3):
            found = compiled(*args)
    assert compiled.cache_info().hits == 1
    return [w.array for w in wanted], found, compiled.source(*args)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("first", VALUES)
def test_sums_and_products_of_elements_have_the_bits_of_arrays(dtype, first):
    def f(x):
        a, b = x[0], x[1]
        products = a * b, a + b, a - b, -a, xp.square(a), a * 3, 0.1 * b, a + 1e-3
        return *products, sum(p * a - p for p in products)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # values that float16 cannot represent
        for second in VALUES:
            wanted, found, source = ran(f, np.asarray([first, second], dtype))
            assert all(map(same_bits, wanted, found)), second
    assert (" * " in source) == (dtype in ("float32", "float64"))


def test_functions_that_need_arrays_get_arrays():
    def f(x):
        a = x[0] * x[1]
        return xp.reshape(a, (1, 1)), a, xp.stack([a, a + x[2]]), xp.sum(a), x[a.ndim]

    wanted, found, source = ran(f, np.asarray([2.0, 3.0, 4.0]))
    assert all(map(same_bits, wanted, found)), source


def test_an_element_that_is_written_to_later_stays_a_view():
    @xpgrad.compile
    def f(x):
        total = xp.zeros(3).array + x
        element = total[0]
        total[0] = 7.0
        return element * 2.0

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xpgrad.CompileWarning)  # if it runs without a program
        assert len({float(f(np.ones(3))) for _ in range(4)}) == 1


def test_gradients_of_gathered_elements_agree_with_eager_to_the_bit():
    def f(x):
        return sum(x[3 * i] ** 2 * x[i] for i in range(40))

    x = np.random.default_rng(0).standard_normal(120).astype("float32")
    step = xpgrad.compile(value_and_grad(f), exact=True, strict=True)
    for _ in range(3):
        found = step(x)
    assert all(map(same_bits, value_and_grad(f)(x), found))
