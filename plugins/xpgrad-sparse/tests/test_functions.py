"""Products of constant sparse matrices with dense parameters."""

from typing import Any

import numpy as np
import pytest
import sparse

import xpgrad
import xpgrad.array_api as xp
from xpgrad.errors import ShapeError
from xpgrad_sparse.functions import matmul

DENSE = np.asarray([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, -1.5, 4.0], [0.0, 0.0, 0.0]])


@pytest.mark.parametrize("kind", [sparse.COO.from_numpy, sparse.GCXS.from_numpy])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("shape", [(3,), (3, 2)])
def test_every_order_of_derivative_is_that_of_the_dense_matrix(kind: Any, dtype: type, shape: tuple[int, ...]) -> None:
    values = DENSE.astype(dtype) * (1 if dtype is np.float64 else 1 - 2j)
    start = np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape).astype(dtype)
    found = []
    for product in (lambda x: matmul(kind(values), x), lambda x: xp.matmul(values, x)):
        x = xpgrad.Variable(start)
        (g,) = xpgrad.grad([xp.sum(xp.abs(product(x)) ** 4)], [x], enable_double_backprop=True)
        (gg,) = xpgrad.grad([xp.sum(xp.abs(g) ** 2)], [x])
        found.append((g.array, gg.array))
    for mine, expected in zip(*found, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-12)


def test_shapes_and_kinds_that_do_not_fit_are_errors_that_say_so() -> None:
    a = sparse.COO.from_numpy(DENSE)
    with pytest.raises(ShapeError, match=r"matmul: expected shapes \(M, N\) and \(N,\).*got \(4, 3\) and \(4,\)"):
        matmul(a, np.ones(4))
    with pytest.raises(
        TypeError, match="matmul: expected a sparse matrix and a dense array of NumPy's, got COO and COO"
    ):
        matmul(a, xpgrad.Variable(a))
