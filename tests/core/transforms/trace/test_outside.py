"""Programs that read external state are never stale, for any kind of state and any place of reading."""

import pytest
from tests.core.transforms.trace.outside_programs import outcome, programs
from tests.devices import device_or_skip

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


def test_number_of_programs():
    assert len(PROGRAMS) >= 450
