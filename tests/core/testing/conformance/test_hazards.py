"""Families A, M, Y and P: correct backends pass, every fault of theirs is killed, and none of their checks is idle."""

import gc
import threading
import tracemalloc

import pytest
from tests.devices import device_or_skip

from xpgrad.backend.capabilities import Capabilities
from xpgrad.backend.device import Device
from xpgrad.testing.cases import CASES
from xpgrad.testing.conformance.checks.together import together
from xpgrad.testing.conformance.faults import FREEDOMS, Fault, Freedom, hoarding, lateness, races, writes
from xpgrad.testing.conformance.faults.bed import Bed
from xpgrad.testing.conformance.outcome import Outcome, outcome
from xpgrad.testing.conformance.plan import plan
from xpgrad.testing.conformance.self_test import self_test

FAMILIES = "AMYP"
FAULTS: tuple[Fault, ...] = (*writes.FAULTS, *hoarding.FAULTS, *lateness.FAULTS, *races.FAULTS)
FEW = CASES[::60]


def outcomes(device: Device, capabilities: Capabilities) -> list[Outcome]:
    """What the checks of the four families say of a device, with a few cases of the table."""
    return [outcome(item, capabilities) for item in plan([device], families=FAMILIES, cases=FEW)]


def failures(found: list[Outcome]) -> list[str]:
    return [
        f"{each.id}: {each.reason}"
        for each in found
        if each.state == "failed" or not (each.declared or each.state == "passed")
    ]


@pytest.mark.parametrize("name", ["@numpy", "@strict:device1", "@strict:no_float64", "native:0", "native:1"])
def test_correct_backends_pass(name: str) -> None:
    device = device_or_skip(name)
    found = outcomes(device, device.backend.capabilities)
    assert failures(found) == []
    assert len({each.check for each in found if each.state == "passed"}) > 55


@pytest.mark.parametrize("freedom", FREEDOMS, ids=lambda each: each.id)
def test_backends_that_use_their_freedoms_pass(freedom: Freedom) -> None:
    bed = Bed(lazy=freedom.lazy)
    freedom.plant(bed)
    assert failures(outcomes(bed.devices()[1], bed.backend.capabilities)) == []


def test_a_backend_that_lacks_what_may_be_lacking_passes() -> None:
    facts = (
        *("index_arrays", "negative_steps", "in_place_update", "index_assignment", "empty_arrays", "dlpack_export"),
        *("threads", "linalg", "fft", "sort", "cumulative_prod", "concat", "nextafter"),
    )
    bed = Bed()
    found = outcomes(bed.devices()[1], Capabilities(dict.fromkeys((*facts, "memory_used"), "for this test")))
    assert failures(found) == []
    skipped = {each.check for each in found if each.state == "skipped"}
    assert {"A12", "A21", "M13", "P01", "P12", "Y04", "Y07", "Y14"} <= skipped


@pytest.mark.parametrize(
    "module", [writes, hoarding, lateness, races], ids=lambda module: module.__name__.split(".")[-1]
)
def test_every_fault_is_killed_by_each_of_its_families(module: object) -> None:
    verdict = self_test(faults=module.FAULTS, freedoms=())  # type: ignore[attr-defined]  # modules of faults
    assert verdict.survivors == ()


def test_no_check_is_idle() -> None:
    idle = self_test(faults=FAULTS, freedoms=()).idle
    assert [each for each in idle if each[0] in FAMILIES and each != "M01"] == []  # test_numerics has the fault of M01


def test_checks_leave_nothing_behind() -> None:
    before = threading.active_count()
    outcomes(device_or_skip("@numpy"), Capabilities())
    assert threading.active_count() == before
    assert gc.isenabled()
    assert not tracemalloc.is_tracing()


def test_threads_that_fail_raise_in_the_caller() -> None:
    def fails() -> None:
        raise KeyError("in a thread")

    with pytest.raises(KeyError, match="in a thread"):
        together([lambda: None, fails])


def test_a_thread_that_hangs_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xpgrad.testing.conformance.checks.together.TIMEOUT", 0.05)
    release = threading.Event()
    with pytest.raises(AssertionError, match="1 of 1 threads are not done"):
        together([lambda: release.wait(30)])
    release.set()
