"""The families load, creation, dtype and errors: correct backends pass, every seeded fault dies, every check kills."""

import pytest
from tests.devices import device_or_skip

from xpgrad.backend.capabilities import Capabilities
from xpgrad.backend.device import Device
from xpgrad.errors import MissingFunction
from xpgrad.testing.cases import CASES
from xpgrad.testing.conformance.checks import creation, dtype, errors, load, promotion
from xpgrad.testing.conformance.faults import FREEDOMS, Fault, Freedom, creating, dtypes, loading, refusing
from xpgrad.testing.conformance.faults.bed import Bed
from xpgrad.testing.conformance.outcome import _missing, outcome
from xpgrad.testing.conformance.plan import plan

MODULES = load, creation, promotion, dtype, errors
CHECKS = [check for module in MODULES for check in module.CHECKS]
FAULTS = [fault for module in (loading, creating, dtypes, refusing) for fault in module.FAULTS]
KILLERS: dict[str, str] = {}
"""By check, a fault that it kills; those without one run first, so that one kill for each fault tells enough."""
PLANTED: set[str] = set()


def _failures(devices: list[Device], capabilities: Capabilities) -> list[str]:
    found = [outcome(item, capabilities) for item in plan(devices, checks=CHECKS)]
    assert found
    return [f"{each.id}: {each.reason}\n{each.trace}" for each in found if each.state == "failed"]


@pytest.mark.parametrize("name", ["@numpy", "@strict:device1", "@strict:no_float64", "native:0", "native:1"])
def test_correct_backends_pass(name: str) -> None:
    device = device_or_skip(name)
    assert not _failures([device], device.backend.capabilities)


@pytest.mark.parametrize("freedom", FREEDOMS, ids=lambda each: each.id)
def test_backends_that_use_their_freedom_pass(freedom: Freedom) -> None:
    bed = Bed(lazy=freedom.lazy)
    freedom.plant(bed)
    assert not _failures([bed.devices()[1]], bed.backend.capabilities)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_each_family_kills_the_fault(fault: Fault) -> None:
    """The first device that shows the fault is enough: a self-test looks at two."""
    bed = Bed(lazy=fault.lazy)
    fault.plant(bed)
    devices = bed.devices()
    cases = [case for case in CASES if case.name in fault.cases]
    left = set(fault.families)
    for device in (devices[1], devices[0]):
        items = plan([device], families=fault.families, cases=cases)
        for item in sorted(items, key=lambda item: item.check.id in KILLERS):
            letter = item.check.family.letter
            if letter in left and outcome(item, bed.backend.capabilities).state == "failed":
                KILLERS.setdefault(item.check.id, fault.id)
                left.discard(letter)
    PLANTED.add(fault.id)
    assert not left


def test_every_check_kills_a_fault() -> None:
    if len(PLANTED) < len(FAULTS):
        pytest.skip("only some of the faults were planted in this run")
    assert not {check.id for check in CHECKS} - KILLERS.keys()


def test_chain_of_errors_that_bites_its_tail_ends() -> None:
    one, other = RuntimeError("one"), RuntimeError("other")
    one.__cause__, other.__context__ = other, one
    assert _missing(one) is None
    other.__cause__ = MissingFunction("x", "exp")
    assert _missing(one) == "exp"
