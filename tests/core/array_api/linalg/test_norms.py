"""Norms and angles of vectors whose squares, or whose lengths, are beyond the range of their dtype."""

import numpy as np
import pytest
from tests.devices import DEVICES, device_or_skip

import xpgrad
import xpgrad.array_api as A
from xpgrad.testing.arrays import on_host, placed

FUNCTIONS = {
    "vector_norm": lambda x: A.linalg.vector_norm(x),
    "vector_norm-axis": lambda x: A.linalg.vector_norm(x, axis=0),
    "matrix_norm": lambda x: A.linalg.matrix_norm(A.expand_dims(x, axis=0)),
    "hypot": lambda x: A.hypot(x[0], x[1]),
}


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("specifier", DEVICES)
def test_no_intermediate_result_of_a_norm_overflows_or_vanishes(specifier, dtype, name):
    device, limits = device_or_skip(specifier), np.finfo(dtype)
    for scale in (limits.max / 4, limits.max / 8, 1.0, limits.tiny, limits.smallest_subnormal):
        x = xpgrad.Variable(placed(np.asarray([3 * float(scale), 4 * float(scale)], dtype), device))
        y = FUNCTIONS[name](x)
        (g,) = xpgrad.grad([y], [x])
        expected = np.asarray(5 * np.longdouble(scale)).astype(dtype)
        assert np.isclose(on_host(y), expected, rtol=1e-6, atol=float(limits.smallest_subnormal))
        assert np.allclose(on_host(g), [0.6, 0.8], rtol=1e-6)


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
@pytest.mark.parametrize("ord", [3, 0.5, -1.5])
@pytest.mark.parametrize("specifier", DEVICES)
def test_no_power_in_a_norm_overflows_or_vanishes(specifier, ord):
    device = device_or_skip(specifier)

    def norm(scale):
        x = xpgrad.Variable(placed(np.asarray([3.0, 4.0, 5.0]) * scale, device))
        y = A.linalg.vector_norm(x, ord=ord)
        return on_host(y) / scale, on_host(xpgrad.grad([y], [x])[0])

    for scale in (1e250, 1e-250):
        for found, expected in zip(norm(scale), norm(1.0), strict=True):
            assert np.allclose(found, expected)
