"""Mixed precision: dtypes of results, gradients and moving averages, and accuracy of the arithmetic."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F

PICTURES, ROWS, FOUR = (8, 4, 3, 3), (8, 4), (4,)


def whiten(x, mean, projection):
    return F.fixed_decorrelated_batch_normalization(x, mean, projection, groups=2)


FUNCTIONS = {
    "batch": (F.batch_normalization, (PICTURES, FOUR, FOUR)),
    "fixed batch": (F.fixed_batch_normalization, (PICTURES, *[FOUR] * 4)),
    "layer": (F.layer_normalization, (ROWS, FOUR, FOUR)),
    "group": (lambda x, g, b: F.group_normalization(x, 2, g, b), (PICTURES, FOUR, FOUR)),
    "renormalization": (
        lambda x, g, b, m, v: F.batch_renormalization(x, g, b, 2.0, 1.0, running_mean=m, running_var=v),
        (PICTURES, *[FOUR] * 4),
    ),
    "whitening": (whiten, (PICTURES, (2, 2), (2, 2, 2))),
    "linear": (F.linear, (ROWS, (5, 4), (5,))),
    "linear of pictures": (F.linear, (PICTURES, (5, 36), (5,))),
    "convolution": (F.convolution_2d, (PICTURES, (5, 4, 2, 2), (5,))),
    "depthwise convolution": (F.depthwise_convolution_2d, (PICTURES, (2, 4, 2, 2), (8,))),
    "deconvolution": (F.deconvolution_2d, (PICTURES, (4, 3, 2, 2), (3,))),
}


def derivatives(function, arrays):
    """Return the result of `function`, and the gradients of a mean of its cubes and of a sum of its squares."""
    xs = [xpgrad.Variable(a) for a in arrays]
    y = function(*xs)
    gxs = xpgrad.grad([F.sum(F.cast(y, "float64") ** 3) * (4 / y.size)], xs, enable_double_backprop=True)
    total = sum(F.sum(F.cast(g, "float64") ** 2) for g in gxs if g is not None)
    return [y, *gxs, *xpgrad.grad([total], xs)]


@pytest.mark.parametrize(("dtype", "other"), [("f2", "f4"), ("f2", "f8"), ("f4", "f8"), ("f8", "f4"), ("f4", "f2")])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_first_input_decides_and_each_gradient_has_its_inputs_dtype(name, dtype, other, rng):
    function, shapes = FUNCTIONS[name]
    arrays = [rng.uniform(0.1, 0.5, shape).astype(other if i else dtype) for i, shape in enumerate(shapes)]
    found, exact = derivatives(function, arrays), derivatives(function, [a.astype("f8") for a in arrays])
    assert found[0].dtype == dtype
    # as exact as float32 until the result is rounded: half a unit in the last place of float16 is 2 ** -11
    np.testing.assert_allclose(found[0].array, exact[0].array, rtol=6e-4 if dtype == "f2" else 1e-4, atol=1e-5)
    coarse = 0.02 if "f2" in (dtype, other) else 1e-3  # gradients in float16 are rounded, and pass on errors of y
    for i, (g, e) in enumerate(zip(found[1:], exact[1:], strict=True)):
        assert (g is None) == (e is None)
        if g is not None:
            assert g.dtype == arrays[i % len(arrays)].dtype
            np.testing.assert_allclose(g.array, e.array, rtol=coarse, atol=coarse * np.abs(e.array).max())


@pytest.mark.parametrize("average", ["f2", "f4", "f8"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_moving_averages_keep_their_dtype(dtype, average, rng):
    x = rng.standard_normal((6, 4)).astype(dtype)
    for given in (dtype, "f4"):
        m, v, m2, v2 = (np.full(4, 0.5, average) for _ in range(4))
        ones = np.ones(4, given)
        y = F.batch_normalization(x, ones, ones, running_mean=m, running_var=v, decay=0.5)
        z = F.batch_renormalization(x, ones, ones, 2, 1, 2e-5, m2, v2, 0.5, update_statistics=True)
        assert y.dtype == z.dtype == dtype
        assert {each.dtype.str[1:] for each in (m, v, m2, v2)} == {average}
        rtol = 2e-3 if "f2" in (dtype, average) else 1e-6
        np.testing.assert_allclose(m, 0.25 + 0.5 * x.astype("f8").mean(0), rtol, 1e-3 if average == "f2" else 1e-6)
        np.testing.assert_allclose(v, 0.25 + 0.5 * x.astype("f8").var(0, ddof=1), rtol)


def test_half_precision_with_wide_averages_is_computed_in_float32(rng):
    x, ones, mean = (1000 + rng.standard_normal((4096, 2))).astype("f2"), np.ones(2, "f2"), np.zeros(2, "f4")
    F.batch_normalization(x, ones, ones, running_mean=mean, decay=0.0)
    np.testing.assert_allclose(mean, x.astype("f8").mean(0), rtol=1e-6)  # the next number of float16 is 0.5 away


def test_arrays_of_one_dtype_and_complex_ones_are_not_cast():
    x, W = xpgrad.Variable(np.ones((1, 1, 4), "f4")), np.ones((1, 1, 2), "complex128")
    assert F.convolution_1d(x, W).dtype == "complex128"
    assert F.convolution_1d(x, np.ones((1, 1, 2), "f4")).creator.label == "convolution"
    assert F.linear(np.ones((2, 3), "f4"), np.ones((4, 3), "f4")).dtype == "float32"
