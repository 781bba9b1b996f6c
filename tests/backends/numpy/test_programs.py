"""What compiled programs may know of NumPy's functions is true of each of them."""

import operator

import numpy as np
import pytest

import xpgrad
from xpgrad_numpy import programs
from xpgrad_numpy.kernels import KERNELS, NETWORKS, network

BACKEND = xpgrad.get_device("@numpy").backend
UFUNCS = sorted({f.__name__ for f in KERNELS.values() if programs.writer(f) is not None})
X, Y = np.arange(1.0, 10.0).reshape(3, 3), np.ones((3, 3))
NUMBERS, ROWS = np.arange(9).reshape(3, 3), np.array([0, 1, 2])
ARGUMENTS = [
    *([X], [X, Y], [X, 0], [X, 1], [NUMBERS], [NUMBERS, NUMBERS], [X, ROWS], [X, (3, 3)], [(3, 3)], [[X, Y]], [[X]]),
    *([X, X, X], [X, (0,)], [X, ()], [X, 0, False], [(3, 3), 1.0], [3], [X, X, BACKEND.spec(X)], [X > 2, X, Y]),
    *([X, X, X, BACKEND.spec(X), 0, True], [X, X, 0], [X, ROWS, X, None, True, -1, "mean"], [X[0], X[0]]),
]
"""Arguments of which most functions take some."""
LEAST = 130


def test_a_fresh_function_shares_no_memory_with_its_arguments() -> None:
    shared, tried = set(), set()
    networks = [network(name) for names in NETWORKS.values() for name in names.split()]
    for function in {*programs.FRESH, *filter(programs.is_fresh, networks)}:
        for given in ARGUMENTS:
            if len(given) > getattr(function, "nin", len(given)):
                continue  # the last one would take the result
            try:
                with np.errstate(all="ignore"):
                    results = function(*given)
            except Exception:
                continue
            tried.add(function)
            arrays = [a for item in given for a in (item if isinstance(item, list) else [item])]
            for result in results if isinstance(results, (tuple, list)) else [results]:
                if any(isinstance(a, np.ndarray) and np.may_share_memory(result, a) for a in arrays):
                    shared.add(function)
    assert shared == set()
    assert len(tried) > LEAST


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128", "int64", "bool"])
@pytest.mark.parametrize("name", UFUNCS)
def test_a_result_has_the_same_bits_in_the_memory_of_an_operand(name, dtype) -> None:
    function = getattr(np, name)
    rng = np.random.default_rng(0)
    for size in (2, 4099, 10_000):
        given = [(rng.uniform(-1, 1, size) * 3).astype(dtype) for _ in range(function.nin)]
        try:
            with np.errstate(all="ignore"):
                fresh = function(*given)
                if fresh.dtype != given[0].dtype:
                    return
                for i in range(function.nin):
                    copies = [array.copy() for array in given]
                    assert function(*copies, out=copies[i]).tobytes() == fresh.tobytes()
        except (TypeError, ValueError):  # no loop for the dtype, or not for these numbers
            return


@pytest.mark.parametrize("name", ["add", "mul", "neg", "sub", "truediv"])
def test_an_operator_is_the_ufunc_that_writes_its_result(name) -> None:
    function = getattr(operator, name)
    given = [X, -Y][: 1 if name == "neg" else 2]
    out = np.empty_like(X)
    assert programs.writer(function)(*given, out=out) is out
    assert out.tobytes() == function(*given).tobytes()
    assert programs.writer(operator.pow) is None
    assert programs.writer(operator.matmul) is None
