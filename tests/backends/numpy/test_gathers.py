"""Gradients of gathers: the fast additions at positions equal `numpy.add.at`, bit by bit."""

from typing import Any

import numpy as np
import pytest
from tests.backends.c_executor.groups_to_compile import needs_compiler

from xpgrad.plugin import run_all
from xpgrad_numpy.kernels import gathers
from xpgrad_numpy.kernels.gathers import WIDE, _add_at


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("width", [3, WIDE])
@pytest.mark.parametrize("places", [[0, 0, 3, -1, 3], [], [[1, 2], [1, -3]]], ids=["line", "empty", "table"])
def test_rows_along_an_axis(axis: int, width: int, places: list[int]) -> None:
    rng = np.random.default_rng(0)
    shape = [4, 4, 4]
    shape[(axis + 1) % 3] = width
    index = (*(slice(None),) * axis, np.asarray(places, int))
    value = rng.standard_normal(np.empty(shape)[index].shape)
    found, expected = np.ones(shape), np.ones(shape)
    _add_at(found, index, value)
    np.add.at(expected, index, value)
    np.testing.assert_array_equal(found, expected)


@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_are_added_in_c_with_the_same_bits(built: Any, monkeypatch: pytest.MonkeyPatch, dtype: str) -> None:
    built(gathers, gathers.adder)
    rng = np.random.default_rng(0)
    places = rng.integers(-5, 5, (7, 9))
    value = rng.standard_normal((9, 7, 12)).astype(dtype)[:, :, ::2].transpose(1, 0, 2)
    found, expected = np.ones((5, 6), dtype), np.ones((5, 6), dtype)
    with monkeypatch.context() as patch:
        patch.setattr(np, "ravel", None)  # which NumPy's addition needs
        _add_at(found, places, value)
    np.add.at(expected, places, value)
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(IndexError):
        _add_at(found, np.asarray([0, 5]), np.ones((2, 6), dtype))
    np.testing.assert_array_equal(found, expected)


@needs_compiler
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_parts_along_an_axis_are_added_in_c_with_the_same_bits(built: Any, dtype: str, axis: int) -> None:
    built(gathers, gathers.adder)
    rng = np.random.default_rng(0)
    index: Any = (*(slice(None),) * axis, rng.integers(-4, 4, 9))
    value = rng.standard_normal(np.empty((4, 5, 4))[index].shape).astype(dtype).swapaxes(0, 2).copy().swapaxes(0, 2)
    value[..., 0] = np.inf
    found, expected = np.ones((4, 5, 4), dtype), np.ones((4, 5, 4), dtype)
    assert gathers._add_rows(found.copy(), gathers._from_the_front(index[axis], found.shape[axis]), value, axis)
    _add_at(found, index, value)
    np.add.at(expected, index, value)
    np.testing.assert_array_equal(found, expected)
    assert not gathers._add_rows(found.T, np.zeros(9, int), value.T, axis)
    assert not gathers._add_rows(found, np.full(9, 5), value, axis)


@pytest.mark.parametrize("layouts", ["CC", "CF", "FC", "FF"])
@pytest.mark.parametrize("number", [1, 2, 5])
def test_threads_share_a_large_addition(monkeypatch: pytest.MonkeyPatch, number: int, layouts: str) -> None:
    monkeypatch.setenv("XPGRAD_NUM_THREADS", str(number))
    monkeypatch.setattr(gathers, "SHARED_FROM", 0)
    calls: list[int] = []

    def shared(task: Any, *sizes: int) -> None:
        calls.append(number)
        run_all(task, *sizes)

    monkeypatch.setattr(gathers, "run_all", shared)
    arrays = zip((np.linspace(1, end, 77).reshape(7, 11) for end in (2, 5)), layouts, strict=True)
    total, g = (np.asfortranarray(x) if layout == "F" else x.copy() for x, layout in arrays)
    expected, in_place = total + g, layouts != "FC"
    found = gathers.accumulate(total, g)
    assert (found is total) is in_place
    assert (calls == [number]) is (layouts == "CC")
    np.testing.assert_array_equal(found, expected)
