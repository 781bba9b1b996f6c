"""Half precision in PyTorch: every case of the table, and more elements than its dtypes can count."""

import pytest
from tests.half_precision import CASES, FAMILY, differences, table_differences
from tests.turn import part_of

import xpgrad


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", FAMILY)
def test_many_elements_of_half_precision_are_counted_and_summed(device: xpgrad.Device, name: str, dtype: str) -> None:
    assert not differences(name, device, dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", part_of(list(CASES), 8))
def test_half_precision_of_every_magnitude_is_as_float64(device: xpgrad.Device, name: str, dtype: str) -> None:
    assert not table_differences(name, device, dtype)
