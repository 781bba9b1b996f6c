"""Facts about NumPy's functions that compiled programs rely on hold for each function."""

import contextlib
import inspect
import operator

import numpy as np
import pytest

import xpgrad
from xpgrad_numpy import programs
from xpgrad_numpy.aligned import LINE, aligned
from xpgrad_numpy.buffers import Buffers
from xpgrad_numpy.kernels import KERNELS, LATE, network
from xpgrad_numpy.writers import INTO, WRITERS

BACKEND = xpgrad.get_device("@numpy").backend
UFUNCS = sorted({f.__name__ for f in KERNELS.values() if programs.loop(f) is not None})
X, Y = np.arange(1.0, 10.0).reshape(3, 3), np.ones((3, 3))
NUMBERS, ROWS = np.arange(9).reshape(3, 3), np.array([0, 1, 2])
ARGUMENTS = [
    *([X], [X, Y], [X, 0], [X, 1], [NUMBERS], [NUMBERS, NUMBERS], [X, ROWS], [X, (3, 3)], [(3, 3)], [[X, Y]], [[X]]),
    *([X, X, X], [X, (0,)], [X, ()], [X, 0, False], [(3, 3), 1.0], [3], [X, X, BACKEND.spec(X)], [X > 2, X, Y]),
    *([X, X, X, BACKEND.spec(X), 0, True], [X, X, 0], [X, ROWS, X, None, True, -1, "mean"], [X[0], X[0]]),
]
"""Arguments; most functions accept some of these."""
LEAST = 130


def test_a_fresh_function_shares_no_memory_with_its_arguments() -> None:
    shared, tried = set(), set()
    networks = [network(name) for names in LATE.values() for name in names.split()]
    for function in {*programs.fresh(True), *filter(programs.is_fresh, networks)}:
        for given in ARGUMENTS:
            if len(given) > getattr(function, "nin", len(given)):
                continue  # the last call would take the result
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


@pytest.mark.parametrize("name", UFUNCS)
def test_a_result_has_the_same_bits_in_the_memory_of_an_operand(name) -> None:
    function = getattr(np, name)
    for dtype in ("float16", "float32", "float64", "complex128", "int64", "bool"):
        rng = np.random.default_rng(0)
        with contextlib.suppress(TypeError, ValueError):  # no loop for the dtype, or not for these numbers
            for size in (2, 4099, 10_000):
                given = [(rng.uniform(-1, 1, size) * 3).astype(dtype) for _ in range(function.nin)]
                with np.errstate(all="ignore"):
                    fresh = function(*given)
                    for i in range(function.nin if fresh.dtype == given[0].dtype else 0):
                        copies = [array.copy() for array in given]
                        assert function(*copies, out=copies[i]).tobytes() == fresh.tobytes(), dtype


@pytest.mark.parametrize("name", ["add", "mul", "neg", "sub", "truediv"])
def test_an_operator_is_the_ufunc_that_writes_its_result(name) -> None:
    function = getattr(operator, name)
    given = [X, -Y][: 1 if name == "neg" else 2]
    out = np.empty_like(X)
    assert programs.writer(function)(*given, out=out) is out
    assert out.tobytes() == function(*given).tobytes()
    assert programs.writer(operator.pow) is None
    assert programs.writer(operator.matmul) is None


ALONG = {
    "softmax": ([(300, 40)], {"axis": 1}),
    "softmax_backward": ([(300, 40), (300, 40)], {"axis": 1}),
    "normalized": ([(300, 40), (40,), (40,), (300, 1), (300, 1)], {"axis": (1,), "eps": 1e-5}),
    "normalized_x": ([(300, 40), (300, 40), (40,), (300, 1), (300, 1), (1,), 1e-5], {}),
    "where": ([(300, 40), (300, 1), 0.5], {}),
    "astype": ([(300, 40), np.dtype("float64")], {}),
}
"""Arguments of the functions along axes that write to given memory: shapes of arrays, and further arguments."""


def drawn(items, dtype):
    rng = np.random.default_rng(0)
    shapes = (300, 40), (300, 1), (40,)
    return [(rng.standard_normal(item) * 2).astype(dtype) if item in shapes else item for item in items]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("kernel", WRITERS, ids=lambda kernel: kernel.__name__)
def test_elementwise_kernels_write_the_same_bits_into_any_memory(kernel, dtype) -> None:
    rng = np.random.default_rng(0)
    number = inspect.unwrap(kernel).__code__.co_argcount - {"expit_x": 2, "tanh_x": 2}.get(kernel.__name__, 0)
    for shape in (1,), (5000,), (70, 90):
        given = [(rng.standard_normal(shape) * 4).astype(dtype) for _ in range(number)]
        given[-1].flat[::7] = [1.0, -0.0, 0.999][given[-1].size % 3]
        with np.errstate(all="ignore"):
            wanted = kernel(*given)
            assert programs.writer(kernel)(*given, out=(out := np.empty_like(wanted))) is out
            assert out.tobytes() == wanted.tobytes()
            for i in range(number):
                copies = [array.copy() for array in given]
                programs.writer(kernel)(*copies, out=copies[i])
                assert copies[i].tobytes() == wanted.tobytes()
                others = [j for j in range(number) if j != i]
                assert all(copies[j].tobytes() == given[j].tobytes() for j in others)


@pytest.mark.parametrize("kernel", WRITERS, ids=lambda kernel: kernel.__name__)
def test_elementwise_kernels_write_the_same_bits_for_mixed_dtypes(kernel) -> None:
    number = inspect.unwrap(kernel).__code__.co_argcount - {"expit_x": 2, "tanh_x": 2}.get(kernel.__name__, 0)
    rng = np.random.default_rng(0)
    for i in range(number):
        given = [rng.standard_normal(500).astype("float64" if i == j else "float32") for j in range(number)]
        wanted = kernel(*given)
        assert programs.writer(kernel)(*given, out=np.empty_like(wanted)).tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "kernel", [kernel for kernel in INTO if kernel not in WRITERS], ids=lambda kernel: kernel.__name__
)
def test_kernels_along_axes_write_the_same_bits_into_other_memory(kernel, dtype) -> None:
    items, options = ALONG[kernel.__name__]
    given = drawn(items, dtype)
    if kernel.__name__ == "where":
        given[0] = given[0] > 0
    wanted = kernel(*given, **options)
    assert programs.writer(kernel) is None
    before = [item.tobytes() for item in given if isinstance(item, np.ndarray)]
    out = aligned(wanted.shape, wanted.dtype)
    assert programs.into(kernel)(*given, **options, out=out) is out
    assert out.tobytes() == wanted.tobytes()
    assert before == [item.tobytes() for item in given if isinstance(item, np.ndarray)]


@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (0, 4), (1000,)])
@pytest.mark.parametrize("dtype", ["bool", "float16", "float64", "complex128"])
def test_aligned_memory_begins_at_a_line_of_the_cache(shape, dtype) -> None:
    made = [aligned(shape, np.dtype(dtype)) for _ in range(5)]
    assert all(array.shape == shape and array.dtype == dtype and array.flags.c_contiguous for array in made)
    assert all(array.flags.writeable and (array.ctypes.data % LINE == 0 or not array.size) for array in made)
    for array in made:
        array[...] = 1
    assert not any(np.shares_memory(a, b) for a in made for b in made if a is not b)


def test_buffers_hold_one_row_within_the_context_only() -> None:
    usual = np.getbufsize()
    for width, size in ((1024, 1024), (300, 288), (100_000, 8192), (255, usual)):
        with Buffers(width):
            assert np.getbufsize() == size
        assert np.getbufsize() == usual
    with pytest.raises(OSError, match="within"), Buffers(1024):
        raise OSError("within")
    assert np.getbufsize() == usual
