"""Kernels that work block by block: the results are those without blocks, to the bit, for every layout."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpgrad.functions as F
from xpgrad import Variable, grad
from xpgrad_numpy import blocks, buffers
from xpgrad_numpy.kernels import neural

NEVER = 2**62


def _labels(x: Variable) -> Any:
    return np.arange(x.size // x.shape[1]).reshape((x.shape[0], *x.shape[2:])) * 7 % x.shape[1]


FUNCTIONS: dict[str, Callable[..., Variable]] = {
    **{f"softmax along {axis}": lambda x, *_, axis=axis: F.softmax(x, axis=axis) for axis in (0, 1, -1)},
    **{f"log_softmax along {axis}": lambda x, *_, axis=axis: F.log_softmax(x, axis=axis) for axis in (0, 1, -1)},
    "softmax_cross_entropy": lambda x, *_: F.softmax_cross_entropy(x, _labels(x)),
    "softmax_cross_entropy of each": lambda x, *_: F.softmax_cross_entropy(x, _labels(x), reduce="no"),
    "batch_normalization": F.batch_normalization,
    "group_normalization": lambda x, gamma, beta: F.group_normalization(x, 1, gamma, beta),
    "layer_normalization": F.layer_normalization,
}
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "C order": np.ascontiguousarray,
    "Fortran order": np.asfortranarray,
    "every second element": lambda x: np.repeat(np.repeat(x, 2, 0), 2, -1)[::2, ..., ::2],
    "reversed": lambda x: x[::-1, ..., ::-1].copy()[::-1, ..., ::-1],
    "channels last": lambda x: np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1),
}
SHAPES = (
    (300, 70), (7, 1000), (1000, 7), (1, 5000), (300, 1), (8, 16, 9, 9), (2, 3, 40, 50), (5, 200, 1, 1), (50, 4, 1, 3),
)  # fmt: skip


def _limit(monkeypatch: pytest.MonkeyPatch, least: int, size: int = 1) -> None:
    for module, name in ((blocks, "FROM"), (blocks, "COLUMNS_FROM"), (neural, "FROM"), (buffers, "LARGE")):
        monkeypatch.setattr(module, name, least)
    monkeypatch.setattr(blocks, "CACHED", size)
    monkeypatch.setattr(blocks, "COLUMNS", size)
    blocks._cut.cache_clear()


def _results(f: Callable[..., Variable], arrays: list[Any], *, recorded: bool = False) -> list[bytes]:
    """Return the value and the gradients of `f` as bytes."""
    xs = [Variable(a, requires_grad=True) for a in arrays]
    y = f(*xs)
    gy = np.random.default_rng(1).standard_normal(y.shape).astype(y.dtype)
    return [v.array.tobytes() for v in (y, *grad([y], xs, [Variable(gy)], enable_double_backprop=recorded))]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_results_in_blocks_are_those_without(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, f = np.random.default_rng(0), FUNCTIONS[name]
    for shape in SHAPES:
        if name == "layer_normalization" and len(shape) != 2:
            continue
        for layout, place in LAYOUTS.items():
            x = place(rng.standard_normal(shape).astype(dtype))
            arrays = [x]
            if "normalization" in name:
                arrays += [rng.standard_normal(shape[1]).astype(dtype) for _ in "gb"]
            _limit(monkeypatch, NEVER)
            expected = _results(f, arrays)
            for size, recorded in (512, False), (2**12, False), (2**12, True), (2**16, True):
                _limit(monkeypatch, 0, size)
                got = _results(f, arrays, recorded=recorded)
                assert got == expected, f"{shape}, {layout}, blocks of {size} bytes, recorded: {recorded}"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_rows_that_are_not_finite_are_as_without_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.random.default_rng(0).standard_normal((64, 50), np.float32)
    x[3, 4], x[20, 7], x[33, 1], x[50] = np.nan, np.inf, -np.inf, -np.inf
    arrays = [x, np.ones(50, np.float32), np.zeros(50, np.float32)] if "normalization" in name else [x]
    with np.errstate(all="ignore"):
        _limit(monkeypatch, NEVER)
        expected = _results(FUNCTIONS[name], arrays)
        _limit(monkeypatch, 0, 2**10)
        assert _results(FUNCTIONS[name], arrays) == expected
        with np.errstate(invalid="warn"), pytest.warns(RuntimeWarning, match="invalid value"):
            FUNCTIONS[name](*arrays)


PARTS: list[tuple[tuple[int, ...], Any]] = [
    ((4096, 1024), 1), ((4096, 1024), 0), ((3, 2, 999, 777), (0, 2, 3)), ((2, 3, 5, 7, 100_000), 2), ((3_000_001,), 0),
    ((2, 3_000_001), -2),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "axes"), PARTS)
def test_blocks_cover_an_array_once_and_are_whole_along_the_axes(shape: tuple[int, ...], axes: Any) -> None:
    count = np.zeros(shape, np.float32)
    taken = {axis % len(shape) for axis in (axes if isinstance(axes, tuple) else (axes,))}
    for part in blocks.blocks(count, axes):
        count[part] += 1
        assert all(count[part].shape[axis] == shape[axis] for axis in taken)
    assert (count == 1).all()


def test_small_arrays_and_those_without_elements_are_one_block() -> None:
    for shape in (1000, 100), (0, 5), (10**9, 0):
        assert blocks.blocks(np.empty(shape), 1) == blocks.WHOLE
    assert blocks.blocks(np.empty(10**6), None) == blocks.WHOLE


@pytest.mark.parametrize(("shape", "axes", "width"), [
    ((40, 1024), (1,), 1024), ((40, 1024), -1, 1024), ((40, 1024), (0,), 1024), ((8, 16, 32, 32), (0, 2, 3), 1024),
    ((8, 16, 32, 32), (1,), 1024), ((512, 512), (0, 1), buffers.USUAL), ((4, 9999), (1,), buffers.USUAL),
])  # fmt: skip
def test_buffers_hold_the_elements_that_share_an_operand(shape: Any, axes: Any, width: int) -> None:
    usual = np.getbufsize()
    with buffers.on_rows(np.zeros(shape), axes):
        assert np.getbufsize() == width
    assert np.getbufsize() == usual


def test_buffers_stay_for_few_elements_short_rows_and_arrays_with_gaps() -> None:
    usual = np.getbufsize()
    for x, axes in ((np.zeros((8, 1024)), 1), (np.zeros((4096, 16)), 1), (np.zeros((64, 2048))[:, ::2], 1)):
        with buffers.on_rows(x, axes):
            assert np.getbufsize() == usual
    with pytest.raises(ZeroDivisionError), buffers.on_rows(np.zeros((64, 1024)), 1):
        raise ZeroDivisionError
    assert np.getbufsize() == usual
