"""Convolutions by direct loops in C, compared with products of matrices of windows."""

from typing import Any

import numpy as np
import pytest
from tests.backends.c_executor.groups_to_compile import needs_compiler

import xpgrad
from xpgrad import functions as F
from xpgrad.plugin import Geometry
from xpgrad_c.executor import wait
from xpgrad_c.written import Written
from xpgrad_numpy.kernels import convolution, direct

pytestmark = needs_compiler
BOUNDS = {"float32": 2e-6, "float64": 4e-15}
"""Of an error, relative to the largest element."""


@pytest.fixture
def _compiled(built: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loops, for convolutions of any size."""
    built(direct, direct.loops)
    for name in ("WORTH", "MIN_WIDTH", "MIN_SUMMED"):
        monkeypatch.setattr(direct, name, 1)
    monkeypatch.setattr(direct, "MAX_WASTE", 99.0)


def arrays(rng: np.random.Generator, dtype: str) -> Any:
    """Return windows, images, filters, biases and outputs of random shapes."""
    n, c, out = (int(number) for number in rng.integers(1, 8, 3))
    k = int(rng.choice(direct.SIZES))
    size, pad = (tuple(int(each) for each in rng.integers(*limits, 2)) for limits in ((k, 20), (0, k + 1)))
    outs = tuple(s + 2 * p - k + 1 for s, p in zip(size, pad, strict=True))
    shapes = (n, c, *size), (out, c, k, k), (out,), (n, out, *outs)
    made = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    return Geometry(size, (k, k), (1, 1), pad, (1, 1), outs), *made


def expected(function: Any, *args: Any) -> Any:
    """Return the expected products of matrices."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(direct, "WORTH", 2**62)
        return function(*args)


def laid_out(rng: np.random.Generator, x: Any) -> Any:
    """Return an equal array with random strides."""
    kind = rng.integers(4)
    if kind == 0:
        return np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    if kind == 1:
        return x[::-1].copy()[::-1, :, ::-1, ::-1].copy()[:, :, ::-1, ::-1]
    return np.repeat(x, 2, 3)[..., ::2] if kind == 2 else x


@pytest.mark.exhaustive(1)
@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize("dtype", BOUNDS)
def test_loops_agree_with_products(rng: np.random.Generator, dtype: str) -> None:
    for _ in range(40):
        geometry, x, W, b, g = arrays(rng, dtype)
        x, g, b = laid_out(rng, x), laid_out(rng, g), (b if rng.integers(2) else None)
        if not rng.integers(8):
            g = np.broadcast_to(g[:1, :1, :1, :1], g.shape)
        assert direct.convolution(x, W, b, geometry, 1) is not NotImplemented
        for function, args in (
            (convolution.convolution, (x, W, b, geometry, 1)),
            (convolution.transposed_convolution, (g, W, None, geometry, 1)),
            (convolution.convolution_filter_backward, (x, g, geometry, 1)),
        ):
            y, wanted = function(*args), expected(function, *args)
            assert (y.shape, y.dtype) == (wanted.shape, wanted.dtype)
            assert np.abs(y - wanted).max() <= BOUNDS[dtype] * max(1, np.abs(wanted).max())
            # an optimizer takes several times as long for a gradient that is laid out otherwise than the filters
            assert wanted.flags.c_contiguous or function is not convolution.convolution_filter_backward


@pytest.mark.usefixtures("_compiled")
def test_bits_do_not_depend_on_the_number_of_threads(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    x, W, g = (rng.standard_normal(s).astype("f") for s in ((21, 3, 9, 18), (7, 3, 3, 3), (21, 7, 9, 18)))
    geometry = Geometry((9, 18), (3, 3), (1, 1), (1, 1), (1, 1), (9, 18))
    found = []
    for number in range(1, 5):
        monkeypatch.setenv("XPGRAD_NUM_THREADS", str(number))
        found.append(
            (
                direct.convolution(x, W, None, geometry, 1).tobytes(),
                direct.convolution_filter_backward(x, g, geometry, 1).tobytes(),
            )
        )
    assert len(set(found)) == 1


@pytest.mark.usefixtures("_compiled")
def test_infinity_and_nan_reach_the_windows_that_hold_them(rng: np.random.Generator) -> None:
    for special in (np.inf, -np.inf, np.nan):
        geometry, x, W, _, g = arrays(rng, "float32")
        for array in (x, g):
            array.ravel()[rng.integers(array.size)] = special
        y, wanted = (
            direct.convolution(x, W, None, geometry, 1),
            expected(convolution.convolution, x, W, None, geometry, 1),
        )
        assert np.array_equal(np.isnan(y), np.isnan(wanted))
        assert np.array_equal(np.isinf(y), np.isinf(wanted))
        with np.errstate(invalid="ignore"):
            gW = direct.convolution_filter_backward(x, g, geometry, 1)
        windows = np.lib.stride_tricks.sliding_window_view(
            np.pad(x, ((0, 0), (0, 0), *((p, p) for p in geometry.pad))), geometry.ksize, (2, 3)
        )
        with np.errstate(invalid="ignore"):
            wanted = np.einsum("nohw,nchwij->ocij", g.astype(float), windows.astype(float))
        assert np.array_equal(np.isfinite(gW), np.isfinite(wanted))


@pytest.mark.usefixtures("_compiled")
def test_raw_and_recorded_gradients_have_the_same_bits(rng: np.random.Generator) -> None:
    _, x, W, b, _ = arrays(rng, "float32")

    def gradients(recorded: bool) -> list[Any]:
        leaves = [xpgrad.Variable(a) for a in (x, W, b)]
        y = F.relu(F.convolution_2d(leaves[0], leaves[1], leaves[2], pad=1))
        return [v.array for v in xpgrad.grad([y], leaves, enable_double_backprop=recorded) if v is not None]

    for raw, recorded in zip(gradients(False), gradients(True), strict=True):
        np.testing.assert_array_equal(raw, recorded, strict=True)


def test_a_process_uses_the_file_of_its_first_use(
    codegen: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("XPGRAD_CACHE_DIR", str(tmp_path))
    text = "int one(void) { return 1; }\n"
    first = Written(text)
    assert first.library() is None
    assert wait(60)
    assert first.library() is None
    second = Written(text)
    assert second.library() is not None
    assert second.build()
    monkeypatch.setenv("XPGRAD_CODEGEN", "0")
    assert Written(text).library() is None
    assert not Written(text).build()


@pytest.mark.usefixtures("_compiled")
def test_other_convolutions_are_left_to_products(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    geometry, x, W, _, _ = arrays(rng, "float32")
    assert direct.convolution(x, W.astype("f8"), None, geometry, 1) is NotImplemented
    strided = Geometry((9, 9), (3, 3), (2, 2), (0, 0), (1, 1), (4, 4))
    assert direct.convolution(x, W, None, strided, 1) is NotImplemented
    monkeypatch.setattr(direct, "WORTH", 2**62)
    assert direct.convolution(x, W, None, geometry, 1) is NotImplemented
    monkeypatch.setattr(direct, "WORTH", 1)
    monkeypatch.setenv("XPGRAD_CODEGEN", "0")
    direct.loops.cache_clear()
    assert direct.convolution(x, W, None, geometry, 1) is NotImplemented
