"""The gradient of windows of 2 x 2 in C has the bits of NumPy's kernel."""

from typing import Any

import numpy as np
import pytest
from tests.backends.c_executor.groups_to_compile import needs_compiler

from xpgrad.plugin import Geometry
from xpgrad_numpy.kernels import pooling

pytestmark = needs_compiler


@pytest.fixture
def _compiled(built: Any) -> None:
    built(pooling, pooling.loop)


@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_it_agrees_with_numpy_to_the_bit(rng: np.random.Generator, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(40):
        n, c, rows, columns = (int(k) for k in rng.integers(1, 20, 4))
        x = rng.integers(-2, 3, (n, c, 2 * rows, 2 * columns)).astype(dtype)  # with ties
        x[rng.random(x.shape) < 0.1] = np.nan
        geometry = Geometry(x.shape[2:], (2, 2), (2, 2), (0, 0), (1, 1), (rows, columns))
        top = pooling.max_pool(x, geometry)
        g = rng.standard_normal((*top.shape[:3], 2 * columns)).astype(dtype)[..., ::2]
        y = pooling._by_pairs(g, x, top, geometry)
        with monkeypatch.context() as patch:
            patch.setattr(pooling, "LEAST", float("inf"))
            expected = pooling.max_pool_backward(g, x, top, geometry)
        assert y is not NotImplemented
        np.testing.assert_array_equal(y, expected, strict=True)
