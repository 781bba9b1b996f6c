"""Half precision: sums, counts and shares of more elements than its dtypes can count."""

import pytest
from tests.devices import DEVICES, device_or_skip
from tests.half_precision import FAMILY, differences


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("specifier", [d for d in DEVICES if "strict" not in d])  # the standard has no float16
def test_many_elements_of_float16_are_counted_and_summed(specifier, name):
    assert not differences(name, device_or_skip(specifier), "float16")
