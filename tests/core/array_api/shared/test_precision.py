"""Half precision: every case of the table, and sums, counts and shares of more elements than its dtypes can count."""

import pytest
from tests.devices import DEVICES, device_or_skip
from tests.half_precision import CASES, FAMILY, differences, table_differences
from tests.turn import part_of

SPECIFIERS = [d for d in DEVICES if "strict" not in d]  # the standard has no float16


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("specifier", SPECIFIERS)
def test_many_elements_of_float16_are_counted_and_summed(specifier, name):
    assert not differences(name, device_or_skip(specifier), "float16")


@pytest.mark.parametrize("name", part_of(list(CASES), 4))
@pytest.mark.parametrize("specifier", SPECIFIERS)
def test_float16_of_every_magnitude_is_as_float64(specifier, name):
    assert not table_differences(name, device_or_skip(specifier), "float16")
