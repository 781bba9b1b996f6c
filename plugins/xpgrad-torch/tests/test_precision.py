"""Half precision in PyTorch: sums, counts and shares of more elements than its dtypes can count."""

import pytest
from tests.half_precision import FAMILY, differences

import xpgrad


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", FAMILY)
def test_many_elements_of_half_precision_are_counted_and_summed(device: xpgrad.Device, name: str, dtype: str) -> None:
    assert not differences(name, device, dtype)
