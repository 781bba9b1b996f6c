"""Half precision in jax: every case of the table, and more elements than its dtypes can count."""

import pytest
from tests.half_precision import CASES, FAMILY, differences, table_differences
from tests.turn import part_of

import xpgrad

pytestmark = pytest.mark.exhaustive(1)

SLOW = {"average_pooling_2d", "average_pooling_nd without padding", "max_pooling_2d of equals"}
"""An operation for each element of a window: seconds each; the bodies are those that the core's tests run."""

SUBNORMAL = "fmod, magnitude 1e-07: gradient 1"
"""XLA's vectorized division of float16 takes subnormal divisors as zeros."""


@pytest.mark.parametrize("name", part_of([name for name in FAMILY if name not in SLOW], 4))
def test_many_elements_of_half_precision_are_counted_and_summed(name: str) -> None:
    dtype = "bfloat16" if len(name) % 2 else "float16"  # compiling takes most of the time, so each is tried in one
    assert not differences(name, xpgrad.get_device("@jax:cpu:0"), dtype)


@pytest.mark.parametrize("name", part_of(list(CASES), 16))
def test_half_precision_of_every_magnitude_is_as_float64(name: str) -> None:
    dtype = "bfloat16" if len(name) % 2 else "float16"
    found = table_differences(name, xpgrad.get_device("@jax:cpu:0"), dtype)
    assert not [each for each in found if not each.startswith(SUBNORMAL)]
