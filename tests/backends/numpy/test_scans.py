"""Cumulative sums and products in C have the bits and layout of NumPy's, gradients of products those of the rule."""

from typing import Any

import numpy as np
import pytest
from tests.backends.c_executor.groups_to_compile import needs_compiler

import xpgrad
from xpgrad.backend.kernels import table
from xpgrad_numpy.kernels import scans

pytestmark = needs_compiler
XP = xpgrad.get_device("@numpy").backend.xp
FUNCTIONS: dict[str, Any] = {"add": (XP.cumulative_sum, np.cumsum), "multiply": (XP.cumulative_prod, np.cumprod)}


@pytest.fixture
def _compiled(built: Any) -> None:
    built(scans, scans.loops)


@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("ufunc", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_they_agree_with_numpy_to_the_bit(rng: np.random.Generator, dtype: str, ufunc: str) -> None:
    ours, theirs = FUNCTIONS[ufunc]
    for turn in range(60):
        shape = tuple(int(n) for n in rng.integers(1, 20, rng.integers(1, 4)))
        axis = int(rng.integers(-len(shape), len(shape)))
        x = np.where(rng.random(shape) < 0.1, -0.0, rng.standard_normal(shape)).astype(dtype)
        if turn % 5 == 0:
            x.ravel()[rng.integers(x.size, size=2)] = rng.choice([np.inf, -np.inf, np.nan])
        for array in (x, np.flip(x, axis), x.T, np.repeat(x, 2, -1)[..., ::2], x[:0]):
            along = axis % x.ndim if array is not x else axis
            y, wanted = ours(array, axis=along), theirs(array, axis=along)
            assert (y.tobytes(), y.dtype, y.shape) == (wanted.tobytes(), wanted.dtype, wanted.shape)
            assert y.strides == wanted.strides
        finite = np.isfinite(theirs(x, axis=axis)).all()
        assert (scans.scanned(ufunc, np.flip(x, axis), axis) is not NotImplemented) == finite
        assert ours(x.astype("f2"), axis=axis).dtype == np.float16


@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gradients_of_products_have_the_bits_of_the_rule(rng: np.random.Generator, dtype: str) -> None:
    declaration, backend = table.find("prod.x"), XP.backend
    assert declaration is not None
    assert declaration.rule is not None
    for turn in range(60):
        shape = tuple(int(n) for n in rng.integers(1, 20, rng.integers(1, 4)))
        first = int(rng.integers(-1, len(shape)))
        axis: Any = None if first < 0 else tuple(range(first, len(shape)))[:: rng.choice([1, -1])]
        x = rng.choice([0.0, -0.0, 0.3, -1.7, 2.9], shape).astype(dtype)
        if turn % 5 == 0:
            x.ravel()[rng.integers(x.size)] = rng.choice([np.inf, -np.inf, np.nan])
        gy = np.asarray(rng.standard_normal(np.prod(x, axis=axis).shape).astype(dtype))
        given = gy, x, backend.spec(x), axis[0] - len(shape) if axis and len(axis) == 1 else axis
        y = scans.prod_x(*given)
        assert y is not NotImplemented
        np.testing.assert_array_equal(y, declaration.rule(XP, *given), strict=True)
    assert scans.prod_x(gy, x[::-1], *given[2:]) is NotImplemented or len(x) == 1
    assert scans.prod_x(np.ones(4, dtype), np.ones((3, 4), dtype), backend.spec(x), 0) is NotImplemented


@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 2, 8, 9, 64, 65, 71, 72, 73, 600])
def test_gradients_of_cumulative_products_have_the_bits_of_the_rule(
    rng: np.random.Generator, dtype: str, count: int
) -> None:
    declaration, backend = table.find("cumulative_prod.x"), XP.backend
    assert declaration is not None
    assert declaration.rule is not None
    for lead in ((), (1,), (19,), (2, 3)):
        x = rng.choice([0.0, -0.0, 0.3, -1.1, 1.2], (*lead, count), p=[0.02, 0.02, 0.32, 0.32, 0.32]).astype(dtype)
        gy = rng.choice([0.0, -0.0, 0.7, -1.3], x.shape).astype(dtype)
        for axis in (-1, len(lead), *((None,) if not lead else ())):
            given = gy, x, backend.spec(x), axis, False
            y, wanted = scans.cumulative_prod_x(*given), declaration.rule(XP, *given)
            np.testing.assert_array_equal(y, wanted, strict=True)
            np.testing.assert_array_equal(np.signbit(y), np.signbit(wanted))
    for axis, initial in ((0, False), (1, True)):
        x = np.ones((3, 4), dtype)
        assert scans.cumulative_prod_x(x, x, backend.spec(x), axis, initial) is NotImplemented
    assert scans.cumulative_prod_x(x, x.T.copy().T, backend.spec(x), 1, False) is NotImplemented
    x = np.full(99, np.finfo(dtype).max / 2, dtype)
    assert scans.cumulative_prod_x(x, x, backend.spec(x), 0, False) is NotImplemented  # NumPy warns


@pytest.mark.usefixtures("_compiled")
def test_other_arrays_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones((3, 4), np.float32)
    for array, axis in ((x, 2), (x, None), (x.astype(int), 0), (x.T, 0), (x.astype(">f4"), 0), (x[0, 0, ...], 0)):
        assert scans.scanned("add", array, axis) is NotImplemented
    with pytest.warns(RuntimeWarning, match="overflow"):
        XP.cumulative_prod(np.full(9, 1e38, np.float32))
    np.testing.assert_array_equal(XP.cumulative_sum(x, axis=1, include_initial=True)[:, 0], 0.0)
    monkeypatch.setattr(scans, "LEAST", 99)
    assert scans.scanned("add", x, 0) is NotImplemented
