from typing import Any

import numpy as np
import pytest
from tests.core.backend.test_indexing import INDICES, SHAPE

import xpgrad
from xpgrad.backend.scattering import scatter_add_by_sorting
from xpgrad.testing.arrays import on_host, placed

A = np.asarray
FORMS: list[tuple[tuple[int, ...], Any]] = [
    *((SHAPE, index) for index in INDICES), ((2,), A([1] * 37)), ((5, 3), (A([[1, 1], [4, 1]]), A([[2, 2], [0, 2]]))),
    ((5, 3), (slice(1, 4, 2), ...)), ((5,), slice(3, 99)), ((4, 5, 3), (slice(1, -1), ..., slice(2))),
    ((3,), A([False, False, False])), ((), ()), ((0, 3), (slice(None), 1)),
]  # fmt: skip


def reference(shape: tuple[int, ...], index: Any, values: Any) -> Any:
    total = np.zeros(shape, values.dtype)
    np.add.at(total, index, values)
    return total


@pytest.mark.parametrize(("shape", "index"), FORMS, ids=repr)
def test_every_kind_of_index(device: xpgrad.Device, rng: np.random.Generator, shape: Any, index: Any) -> None:
    items = [
        placed(i, device) if isinstance(i, np.ndarray) else i for i in (index if type(index) is tuple else [index])
    ]
    on_device = tuple(items) if type(index) is tuple else items[0]
    for dtype in ("float32", "complex128"):
        values = [rng.standard_normal(np.zeros(shape)[index].shape).astype(dtype) for _ in range(2)]
        spec = device.backend.spec(placed(np.zeros(shape, dtype), device))
        made = scatter_add_by_sorting(spec, [(on_device, placed(v, device)) for v in values])
        assert device.backend.spec(made) is spec
        expected = reference(shape, index, values[0]) + reference(shape, index, values[1])
        np.testing.assert_allclose(on_host(made), expected, rtol=1e-5, atol=1e-6)


def test_infinite_values_stay_at_their_place(device: xpgrad.Device) -> None:
    spec = device.backend.spec(placed(np.zeros(4), device))
    index, values = placed(A([2, 0, 2]), device), placed(A([np.inf, 1.0, 1.0]), device)
    assert on_host(scatter_add_by_sorting(spec, [(index, values)])).tolist() == [1.0, 0.0, np.inf, 0.0]


def test_sum_of_many_small_values_is_accurate(device: xpgrad.Device) -> None:
    spec = device.backend.spec(placed(np.zeros(2, np.float32), device))
    index, values = placed(np.ones(20000, np.int64), device), placed(np.full(20000, 0.1, np.float32), device)
    total = on_host(scatter_add_by_sorting(spec, [(index, values)]))[1]
    assert abs(total - 2000) < 1e-3  # added one after the other it would be off by 0.2 or more


@pytest.mark.parametrize("index", [..., slice(1, None), A([0, 1, 2])], ids=["all of it", "a block", "places"])
def test_the_result_is_new_memory_and_the_values_are_not_written_to(index: Any) -> None:
    spec = xpgrad.get_device(-1).backend.spec(np.zeros(3))
    values = np.ones(3)[index]
    made = scatter_add_by_sorting(spec, [(index, values)])
    made[...] = 9.0
    assert set(values.tolist()) == {1.0}


def test_blocks_and_scattered_values_add_up(device: xpgrad.Device) -> None:
    spec = device.backend.spec(placed(np.zeros(4), device))
    parts = [
        (i, placed(A(v), device)) for i, v in ((slice(1, 3), [1.0, 2.0]), (2, 4.0), (slice(None, None, 3), [8.0, 16.0]))
    ]
    assert on_host(scatter_add_by_sorting(spec, parts)).tolist() == [8.0, 1.0, 6.0, 16.0]
