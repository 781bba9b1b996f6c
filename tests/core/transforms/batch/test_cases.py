"""Half of the cases of the table by `vmap` and by a loop: values, first and second derivatives."""

import os
import zlib

import pytest
from tests.core.transforms.batch.batched_cases import SEEDED, WITHOUT_BATCH, Members, check
from tests.devices import device_or_skip, lacking
from tests.turn import part_of

from xpgrad import transforms
from xpgrad.errors import BatchError
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.case import Case

OTHERS = tuple(os.environ.get("XPGRAD_TEST_DEVICES", "").split())
BATCHED = [case for case in CASES if case.name not in WITHOUT_BATCH and case.name not in SEEDED]
LONG = {f"special.{name}" for name in ("btdtria", "btdtrib", "fdtridfd", "gdtrib", "stdtridf")}
"""Cases that take minutes without SciPy's functions: roots of functions that are integrals."""
NUMBERS = {case.name: zlib.crc32(case.name.encode()) for case in BATCHED}
RUNS = [
    pytest.param(case, device, id=f"{case.name}-{device.removeprefix('@')}")
    for case in part_of(BATCHED, 2)
    for device in ("@numpy", "@strict:cpu", *OTHERS)
    if device == "@numpy" or (NUMBERS[case.name] % 2 == 0 and case.name not in LONG)
]


@pytest.mark.parametrize(("case", "device"), RUNS)
def test_vmap_of_a_case_is_the_loop(case: Case, device: str) -> None:
    """Values and gradients, and second derivatives of every fourth case; every second case outside NumPy."""
    found = device_or_skip(device)
    if (reason := lacking(found.backend.name, case.needs)) is not None:
        pytest.skip(reason)
    every = device == "@numpy"
    orders = (0, 1, 2) if every and NUMBERS[case.name] % 4 == 0 else (0, 1)
    check(case, found, orders, every=every)


@pytest.mark.parametrize("name", WITHOUT_BATCH)
def test_case_whose_shape_depends_on_values_raises(name: str) -> None:
    case = next(each for each in CASES if each.name == name)
    members = Members(case, device_or_skip("@numpy"), "float64")
    with pytest.raises(BatchError, match=r"vmap: the value of a batched array is needed: .*;"):
        transforms.vmap(members.values)(*members.arguments((True,) * len(case.inputs)))
