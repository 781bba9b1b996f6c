"""Programs that read external state are never stale, for any kind of state and any place of reading."""

import numpy as np
import pytest
from tests.core.transforms.trace.outside_programs import outcome, programs
from tests.devices import device_or_skip

import xpgrad
from xpgrad import array_api as xp

pytestmark = pytest.mark.exhaustive(1)

PROGRAMS = programs()


def executor_of(number):
    """Return an executor and a device for a program, so that all kinds of state are tested with each."""
    if number % 16 == 3:
        return "c", "@numpy"
    if number % 7 == 2 and "Variable" not in PROGRAMS[number].name:  # these use NumPy arrays
        return "python", "@torch:cpu"
    return "python", "@numpy"


@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=lambda number: PROGRAMS[number].name)
def test_a_change_outside_is_noticed(number):
    program, (executor, device) = PROGRAMS[number], executor_of(number)
    device_or_skip(device)
    found = outcome(program, executor, device)
    assert not found.differs, found
    assert found.ran, found.warnings


@pytest.mark.parametrize(
    "uses",
    [lambda x, w: xp.sum(xp.asarray(w, device=x.device) * x), lambda x, w: xp.sum(np.quantile(x, w / 8))],
    ids=["moved to the device", "fractions"],
)
def test_an_array_of_another_library_is_read(uses):
    w, x = np.ones(3), device_or_skip("@strict").send(np.arange(3.0))
    f = xpgrad.compile(lambda x: uses(x, w))
    for value in 1.0, 5.0:
        w[1] = value
        assert [float(f(x)) for _ in range(4)] == [float(uses(x, w))] * 4
    assert f.cache_info().hits == 4


def test_number_of_programs():
    assert len(PROGRAMS) >= 450
