"""The families K, G, H, N, F and W: silent on correct backends, and deadly for every fault that is theirs."""

import pytest

from xpgrad.backend.device import Device
from xpgrad.testing.conformance.check import Check
from xpgrad.testing.conformance.checks import (
    fused,
    gradients,
    kernels,
    kernels_calls,
    kernels_linear,
    kernels_moving,
    kinks,
    programs,
    second_order,
)
from xpgrad.testing.conformance.faults import elementwise, freedoms, moving, products, reductions, state
from xpgrad.testing.conformance.faults import fused as fused_faults
from xpgrad.testing.conformance.faults.bed import Bed
from xpgrad.testing.conformance.faults.fault import Fault, Freedom
from xpgrad.testing.conformance.outcome import outcome
from xpgrad.testing.conformance.plan import plan
from xpgrad.testing.conformance.self_test import self_test

MODULES = fused, gradients, kernels, kernels_calls, kernels_linear, kernels_moving, kinks, programs, second_order
CHECKS = tuple(check for module in MODULES for check in module.CHECKS)
FAULT_MODULES = elementwise, fused_faults, moving, products, reductions, state
FAULTS = tuple(fault for module in FAULT_MODULES for fault in module.FAULTS)
OTHERS = "LCDEVTYPRX"
SLOW = "W08", "F04"


def failures(device: Device, checks: tuple[Check, ...], quick: bool = True) -> list[str]:
    """Return what fails of those checks that need no case."""
    items = plan([device], quick=quick, checks=[each for each in checks if each.scope != "case"])
    found = [outcome(item, device.backend.capabilities, quick=quick) for item in items]
    assert found, "nothing was planned"
    return [f"{each.id}: {each.reason}" for each in found if each.state not in ("passed", "skipped")]


@pytest.mark.parametrize("specifier", ["@numpy", "@strict:device1", "native:0"])
def test_checks_pass_on_a_correct_backend(specifier: str) -> None:
    import xpgrad

    assert failures(xpgrad.get_device(specifier), CHECKS, quick=False) == []


@pytest.mark.parametrize("freedom", freedoms.FREEDOMS, ids=lambda each: each.id)
def test_checks_leave_a_backend_its_freedoms(freedom: Freedom) -> None:
    bed = Bed(lazy=freedom.lazy)
    freedom.plant(bed)
    assert failures(bed.devices()[1], CHECKS) == []


@pytest.fixture(scope="module")
def used() -> set[str]:
    """Names of the checks that have killed a fault so far."""
    return set()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: each.id)
def test_fault_is_killed_by_each_of_its_families(fault: Fault, used: set[str]) -> None:
    verdict = self_test(faults=(fault,), freedoms=(), without=tuple(OTHERS))
    used |= set(verdict.kills[0].failed)
    assert [letter for _, letter in verdict.survivors if letter not in OTHERS] == []


def test_every_check_kills_a_fault(used: set[str]) -> None:
    if len(used) < 2:
        pytest.skip("the faults were not run in this session")
    names = {check.id for check in CHECKS} | {"K01", "G01", "G02", "G03", "H01", "H02", "A01", "M01"}
    assert sorted(names - used) == []


def test_backend_without_kernels_of_its_own_passes_the_family_of_fused_kernels() -> None:
    bed = Bed()
    items = plan(bed.devices()[:1], families="F", checks=fused.CHECKS, quick=True)
    found = [outcome(item, bed.backend.capabilities, quick=True) for item in items[:40]]
    assert [each.id for each in found if each.state != "passed"] == []
