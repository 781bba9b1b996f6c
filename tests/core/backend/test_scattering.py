from typing import Any

import numpy as np
import pytest

import xpgrad
from xpgrad.backend.scattering import scatter_add_by_sorting
from xpgrad.testing.arrays import on_host, placed

A = np.asarray
INDICES: dict[str, tuple[tuple[int, ...], Any]] = {
    "repeated": ((5,), A([1, 1, 4, 1, 0, 4])),
    "one place many times": ((2,), A([1] * 37)),
    "two index arrays": ((5, 3), (A([[1, 1], [4, 1]]), A([[2, 2], [0, 2]]))),
    "index array and slice": ((5, 3), (A([1, 1, 4]), slice(None))),
    "slice and index array": ((5, 3), (slice(1, None), A([2, 2, 0]))),
    "index arrays apart": ((3, 2, 4), (A([0, 0, 2]), slice(None), A([1, 1, 3]))),
    "integer and index array": ((5, 3), (2, A([1, 1]))),
    "negative": ((5,), A([-1, -1, 0])),
    "integers": ((5, 3), (2, -1)),
    "integer alone": ((5, 3), 2),
    "slice with step": ((5, 3), (slice(1, 4, 2), Ellipsis)),
    "negative step": ((5, 3), (slice(None, None, -1), 1)),
    "slice beyond the end": ((5,), slice(3, 99)),
    "block": ((4, 5, 3), (slice(1, -1), Ellipsis, slice(2))),
    "empty slice": ((5, 3), (slice(4, 2), slice(1, None))),
    "everything": ((5, 3), Ellipsis),
    "new axis": ((5, 3), (None, 2, Ellipsis)),
    "mask": ((2, 3), A([[True, False, True], [False, False, True]])),
    "mask of the first axis": ((3, 2), A([True, False, True])),
    "mask of nothing": ((3,), A([False, False, False])),
    "empty index": ((3,), A([], int)),
    "0-d": ((), ()),
    "empty array": ((0, 3), (slice(None), 1)),
}


def reference(shape: tuple[int, ...], index: Any, values: Any) -> Any:
    total = np.zeros(shape, values.dtype)
    np.add.at(total, index, values)
    return total


@pytest.mark.parametrize("name", INDICES)
def test_every_kind_of_index(device: xpgrad.Device, rng: np.random.Generator, name: str) -> None:
    shape, index = INDICES[name]
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


def test_the_result_is_new_memory_and_the_values_are_not_written_to() -> None:
    device = xpgrad.get_device(-1)
    spec = device.backend.spec(np.zeros(3))
    values = np.asarray([1.0, 2.0, 3.0])
    made = scatter_add_by_sorting(spec, [(np.asarray([0, 1, 2]), values)])
    made[...] = 9.0
    assert values.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("index", [..., slice(1, None)], ids=["all of it", "a block"])
def test_a_block_is_new_memory_too(index: Any) -> None:
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
