"""The families K, G, H, N, F and W: silent on correct backends, and deadly for every fault that is theirs."""

import pytest

from xpgrad.backend.device import Device
from xpgrad.testing.cases import CASES
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
    table,
)
from xpgrad.testing.conformance.faults import elementwise, freedoms, moving, products, reductions, state
from xpgrad.testing.conformance.faults import fused as fused_faults
from xpgrad.testing.conformance.faults.bed import Bed
from xpgrad.testing.conformance.faults.fault import Fault, Freedom
from xpgrad.testing.conformance.outcome import outcome
from xpgrad.testing.conformance.plan import plan

MODULES = fused, gradients, kernels, kernels_calls, kernels_linear, kernels_moving, kinks, programs, second_order
CHECKS = tuple(check for module in MODULES for check in module.CHECKS)
FAULT_MODULES = elementwise, fused_faults, moving, products, reductions, state
FAULTS = tuple(fault for module in FAULT_MODULES for fault in module.FAULTS)
OWN = "KGHNFWAM"
SLOW = ("W08",)
KILLS = {
    "G01": "relu-x-ignores-cotangent",
    "G02": "relu-x-ignores-cotangent",
    "G03": "copy-rounds",
    "G04": "accumulate-loses-sum",
    "G05": "add-repeats-one-number",
    "G06": "flip-does-nothing",
    "G07": "exp-x-in-place",
    "G08": "scatter-add-last-part",
    "G09": "cos-is-negative",
    "G10": "scatter-add-last-wins",
    "G11": "conj-is-lost",
    "G12": "multiply-reuses-operand",
    "G13": "multiply-reuses-operand",
    "G14": "scatter-add-overlap",
    "H01": "tanh-x-of-input",
    "H02": "tanh-x-of-input",
    "H03": "tanh-x-of-input",
    "H04": "scatter-add-last-part",
    "H05": "cos-is-negative",
    "H06": "kernels-are-not-asked",
    "H07": "tanh-x-of-input",
    "H08": "complex-multiply-is-real",
    "K01": "sum-drops-keepdims",
    "K02": "log-is-finite",
    "K03": "expm1-cancels",
    "K04": "max-ignores-nan",
    "K05": "sum-one-by-one",
    "K06": "int8-sum-overflows",
    "K07": "any-of-axis-is-all",
    "K08": "sum-of-unsorted-axes",
    "K09": "prod-of-empty-is-zero",
    "K10": "exp-assumes-contiguous",
    "K11": "tril-of-batches",
    "K12": "stack-counts-from-input",
    "K13": "take-along-axis-wraps",
    "K14": "scatter-add-last-wins",
    "K15": "argmax-takes-last",
    "K16": "cumsum-forgets-initial",
    "K17": "maximum-forgets-numbers",
    "K18": "unique-counts-once",
    "K19": "matmul-of-transposes",
    "K20": "qr-is-complete",
    "K21": "fft-ignores-norm",
    "K22": "complex-log-branch",
    "K23": "vector-tail",
    "K24": "buffer-for-each-shape",
    "K25": "kernels-are-not-asked",
    "K26": "assignment-ignores-step",
    "N01": "relu-x-at-zero",
    "N02": "equal-compares-bits",
    "N03": "max-starts-at-zero",
    "N04": "where-multiplies",
    "N05": "pow-by-log",
    "F01": "relu-x-ignores-cotangent",
    "F02": "kernels-are-not-asked",
    "F03": "kernels-are-not-asked",
    "F04": "kernel-always-declines",
    "W01": "matmul-in-half",
    "W02": "irfft-forgets-odd",
    "W03": "matmul-in-half",
    "W04": "scatter-add-last-wins",
    "W05": "abs-of-complex-is-of-real",
    "W06": "cos-is-negative",
    "W07": "matmul-in-half",
    "W08": "mean-of-whole-size",
    "W09": "accumulate-loses-sum",
    "A01": "views-are-not-told",
    "M01": "integers-are-floating",
}
"""For each check a fault that it kills."""


def failures(device: Device, checks: tuple[Check, ...], quick: bool = True) -> list[str]:
    """Return what fails of those checks that need no case."""
    items = plan([device], quick=quick, checks=[each for each in checks if each.scope != "case"])
    found = [outcome(item, device.backend.capabilities) for item in items]
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


def first_kill(fault: Fault, letter: str) -> str | None:
    """Return the name of the first check of a family that fails on a fault's bed."""
    bed = Bed(lazy=fault.lazy)
    fault.plant(bed)
    devices = bed.devices()
    cases = [case for case in CASES if case.name in fault.cases]
    for item in plan(devices[1:2] + devices[:1], families=letter, cases=cases):
        if item.check.id not in SLOW and outcome(item, bed.backend.capabilities).state == "failed":
            return item.check.id
    return None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: each.id)
def test_fault_is_killed_by_each_of_its_families(fault: Fault) -> None:
    survived = [letter for letter in fault.families if letter in OWN and first_kill(fault, letter) is None]
    assert survived == []


def test_every_check_is_listed_with_a_fault_that_it_kills() -> None:
    assert sorted(KILLS) == sorted(check.id for check in (*CHECKS, *table.CHECKS))


@pytest.mark.parametrize(("name", "id"), KILLS.items())
def test_every_check_kills_a_fault(name: str, id: str) -> None:
    fault = next(each for each in FAULTS if each.id == id)
    bed = Bed(lazy=fault.lazy)
    fault.plant(bed)
    devices = bed.devices()
    cases = [case for case in CASES if case.name in fault.cases]
    checks = [check for check in (*CHECKS, *table.CHECKS) if check.id == name]
    items = plan(devices[1:2] + devices[:1], checks=checks, cases=cases)
    assert any(outcome(item, bed.backend.capabilities).state == "failed" for item in items)


def test_backend_without_kernels_of_its_own_passes_the_family_of_fused_kernels() -> None:
    bed = Bed()
    items = plan(bed.devices()[:1], families="F", checks=fused.CHECKS, quick=True)
    found = [outcome(item, bed.backend.capabilities) for item in items[:40]]
    assert [each.id for each in found if each.state != "passed"] == []
