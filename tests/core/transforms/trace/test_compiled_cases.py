"""Every case of the table, compiled: each call, with new numbers, equals the eager call to the bit."""

import os

import pytest
from tests.core.transforms.trace.compiled_cases import EAGER, programs_of
from tests.devices import device_or_skip, lacking
from tests.turn import part_of

from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import dtypes_of

OTHERS = tuple(os.environ.get("XPGRAD_TEST_DEVICES", "").split())


@pytest.mark.parametrize("device", ["@numpy", "@strict:cpu", *OTHERS], ids=lambda each: each.removeprefix("@"))
@pytest.mark.parametrize("case", part_of(CASES, 4), ids=lambda each: each.name)
def test_compiled_case_agrees_with_the_eager_call(case: Case, device: str) -> None:
    """All variants in all dtypes on NumPy; one variant and dtype on other devices, because the calls are the same."""
    found = device_or_skip(device)
    if (reason := lacking(found.backend.name, case.needs)) is not None:
        pytest.skip(reason)
    every = device == "@numpy"
    dtypes = dtypes_of(case) if every else dtypes_of(case)[-1:]
    programs_of(case, found, dtypes, every=every)


def test_cases_without_a_program_are_in_the_table() -> None:
    assert set(EAGER) <= {case.name for case in CASES}
