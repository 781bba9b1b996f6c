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
from xpgrad_numpy.kernels.windows import windows

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


def arrays(rng: np.random.Generator, dtype: str, plain: bool = False) -> Any:
    """Return windows, groups, images, filters, biases and outputs of random shapes; without steps if `plain`."""
    n, c, out, groups = (int(number) for number in rng.integers(1, 8, 4))
    groups = 1 if plain else groups
    stride, dilate = ((1, 1) if plain else tuple(map(int, rng.integers(1, 4, 2))) for _ in range(2))
    ksize = tuple(int(rng.integers(s + 1, 8)) for s in stride)
    whole = tuple(d * (k - 1) + 1 for k, d in zip(ksize, dilate, strict=True))
    size = tuple(n + int(rng.integers(13)) for n in whole)
    pad = tuple(int(rng.integers(k + 1)) for k in ksize)
    lengths = zip(size, pad, whole, stride, strict=True)
    outs = tuple((n + 2 * p - k) // s + 1 + (not plain and int(rng.integers(2))) for n, p, k, s in lengths)
    shapes = (n, groups * c, *size), (groups * out, c, *ksize), (groups * out,), (n, groups * out, *outs)
    made = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    return Geometry(size, ksize, stride, pad, dilate, outs), groups, *made


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
        geometry, groups, x, W, b, g = arrays(rng, dtype)
        x, g, b = laid_out(rng, x), laid_out(rng, g), (b if rng.integers(2) else None)
        if not rng.integers(8):
            g = np.broadcast_to(g[:1, :1, :1, :1], g.shape)
        for function, args in (
            (convolution.convolution, (x, W, b, geometry, groups)),
            (convolution.transposed_convolution, (g, W, None, geometry, groups)),
            (convolution.convolution_filter_backward, (x, g, geometry, groups)),
        ):
            assert getattr(direct, function.__name__)(*args) is not NotImplemented
            y, wanted = function(*args), expected(function, *args)
            assert (y.shape, y.dtype) == (wanted.shape, wanted.dtype)
            assert np.abs(y - wanted).max() <= BOUNDS[dtype] * max(1, np.abs(wanted).max())
            # an optimizer takes several times as long for a gradient that is laid out otherwise than the filters
            assert wanted.flags.c_contiguous or function is not convolution.convolution_filter_backward


@pytest.mark.usefixtures("_compiled")
def test_bits_do_not_depend_on_the_number_of_threads(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    x, W, g = (rng.standard_normal(s).astype("f") for s in ((21, 6, 9, 18), (8, 3, 3, 3), (21, 8, 9, 9)))
    geometry = Geometry((9, 18), (3, 3), (1, 2), (1, 1), (1, 1), (9, 9))
    found = []
    for number in range(1, 5):
        monkeypatch.setenv("XPGRAD_NUM_THREADS", str(number))
        found.append(
            (
                direct.convolution(x, W, None, geometry, 2).tobytes(),
                direct.transposed_convolution(g, W, None, geometry, 2).tobytes(),
                direct.convolution_filter_backward(x, g, geometry, 2).tobytes(),
            )
        )
    assert len(set(found)) == 1


@pytest.mark.usefixtures("_compiled")
def test_infinity_and_nan_reach_the_windows_that_hold_them(rng: np.random.Generator) -> None:
    for special in (np.inf, -np.inf, np.nan) * 3:
        geometry, groups, x, W, _, g = arrays(rng, "float32")
        for array in (x, g):
            array.ravel()[rng.integers(array.size)] = special
        for function, args in (
            (convolution.convolution, (x, W, None, geometry, groups)),
            (convolution.transposed_convolution, (g, W, None, geometry, groups)),
        ):
            y, wanted = getattr(direct, function.__name__)(*args), expected(function, *args)
            assert np.array_equal(np.isnan(y), np.isnan(wanted))
            assert np.array_equal(np.isinf(y), np.isinf(wanted))
        with np.errstate(invalid="ignore"):
            gW = direct.convolution_filter_backward(x, g, geometry, groups)
        columns = windows(x.astype(float), geometry, 0.0).reshape(len(x), groups, -1, *geometry.ksize, *geometry.out)
        with np.errstate(invalid="ignore"):
            given = g.astype(float).reshape(len(g), groups, -1, *geometry.out)
            wanted = np.einsum("nzohw,nzcijhw->zocij", given, columns).reshape(gW.shape)
        assert np.array_equal(np.isfinite(gW), np.isfinite(wanted))


@pytest.mark.usefixtures("_compiled")
def test_raw_and_recorded_gradients_have_the_same_bits(rng: np.random.Generator) -> None:
    _, _, x, W, b, _ = arrays(rng, "float32", plain=True)

    def gradients(recorded: bool) -> list[Any]:
        leaves = [xpgrad.Variable(a) for a in (x, W, b)]
        y = F.relu(F.convolution_2d(leaves[0], leaves[1], leaves[2], stride=2, pad=2))
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
    geometry, _, x, W, _, _ = arrays(rng, "float32", plain=True)
    assert direct.convolution(x, W.astype("f8"), None, geometry, 1) is NotImplemented
    apart = Geometry((9, 9), (3, 3), (3, 3), (0, 0), (1, 1), (3, 3))
    assert direct.convolution(x, W, None, apart, 1) is NotImplemented
    monkeypatch.setattr(direct, "WORTH", 2**62)
    assert direct.convolution(x, W, None, geometry, 1) is NotImplemented
    monkeypatch.setattr(direct, "WORTH", 1)
    monkeypatch.setenv("XPGRAD_CODEGEN", "0")
    direct.loops.cache_clear()
    assert direct.convolution(x, W, None, geometry, 1) is NotImplemented
