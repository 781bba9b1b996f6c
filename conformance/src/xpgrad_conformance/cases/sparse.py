"""Cases of `xpgrad.functions`: products of sparse and dense matrices, and sums and products along axes."""

from functools import partial
from typing import Any

import numpy as np

import xpgrad
from xpgrad_conformance.table.case import Input, of_functions

Host = Any  # a NumPy array
ELEMENTS = (4,)
PLACES = (Input(kind="int", values=[0, 2, 1, 2]), Input(kind="int", values=[1, 0, 3, 1]))
BATCH = (2, 3)
PLACES_OF_BATCH = (Input(kind="int", values=[[0, 2, -1], [1, 1, 2]]), Input(kind="int", values=[[3, 0, -1], [1, 1, 0]]))
IMAGES = (2, 3, 2, 2)
TRIPLE = (Input(), Input(), Input())
_f = partial(of_functions, order=2)


def _coo(data: Any, row: Any, col: Any) -> Any:
    return xpgrad.utils.CooMatrix(data, row, col, (3, 4))


def _dense(data: Host, row: Host, col: Host) -> Host:
    x = np.zeros((*data.shape[:-1], 3, 4), data.dtype)
    for index in np.ndindex(data.shape):
        if row[index] >= 0 and col[index] >= 0:
            x[(*index[:-1], row[index], col[index])] += data[index]
    return x


def _scipy(x: Host) -> Any:
    """Return a matrix of SciPy; without SciPy, an object with the same interface."""
    try:
        from scipy.sparse import csr_array
    except ImportError:
        row, col = np.nonzero(x)
        coo = type("coo_array", (), {"data": x[row, col], "row": row, "col": col, "shape": x.shape})
        return type("csr_array", (), {"tocoo": staticmethod(lambda: coo)})
    return csr_array(x)


CONSTANT = np.asarray([[0.0, 1.5, 0.0], [2.0, 0.0, -1.0]], np.float32)
PRODUCTS = (
    _f("sparse_matmul", lambda F, data, b, *places: F.sparse_matmul(_coo(data, *places), b),
       lambda data, b, *places: _dense(data, *places) @ b, (ELEMENTS, (4, 2), *PLACES)),
    _f("sparse_matmul-transposed",
       lambda F, data, b, *places: F.sparse_matmul(_coo(data, *places), b, transa=True, transb=True),
       lambda data, b, *places: _dense(data, *places).T @ b.T, (ELEMENTS, (2, 3), *PLACES)),
    _f("sparse_matmul-right", lambda F, a, data, *places: F.sparse_matmul(a, _coo(data, *places)),
       lambda a, data, *places: a @ _dense(data, *places), ((2, 3), ELEMENTS, *PLACES)),
    _f("sparse_matmul-right_transposed",
       lambda F, a, data, *places: F.sparse_matmul(a, _coo(data, *places), transa=True, transb=True),
       lambda a, data, *places: a.T @ _dense(data, *places).T, ((4, 2), ELEMENTS, *PLACES)),
    _f("sparse_matmul-batch", lambda F, data, b, *places: F.sparse_matmul(_coo(data, *places), b),
       lambda data, b, *places: _dense(data, *places) @ b, (BATCH, (2, 4, 2), *PLACES_OF_BATCH)),
    _f("sparse_matmul-batch_right", lambda F, a, data, *places: F.sparse_matmul(a, _coo(data, *places), transb=True),
       lambda a, data, *places: a @ _dense(data, *places).swapaxes(1, 2), ((2, 2, 4), BATCH, *PLACES_OF_BATCH)),
    _f("sparse_matmul-scipy", lambda F, b: F.sparse_matmul(_scipy(CONSTANT), b), lambda b: CONSTANT @ b, ((3, 2),)),
    _f("sparse_matmul-scipy_right", lambda F, a: F.sparse_matmul(a, _scipy(CONSTANT), transa=True, transb=True),
       lambda a: a.T @ CONSTANT.T, ((3, 2),)),
)  # fmt: skip
SCALING = (
    _f("bias", {}, lambda x, y: x + y[:, None, None], (IMAGES, (3,))),
    _f("bias-axis", (2,), lambda x, y: x + y, (IMAGES, (2, 2))),
    _f("scale", {}, lambda x, y: x * y[:, :, None], (IMAGES, (3, 2))),
    _f("scale-axis", {"axis": 0}, lambda x, y: (x.T * y).T, (IMAGES, (2,))),
    _f("linear_interpolate", {}, lambda p, x, y: y + p * (x - y), TRIPLE, elementwise=False),
)

CASES = PRODUCTS + SCALING
