"""Every case of the table in every dtype on NumPy, and a part of the cases on the other devices of the tests."""

import pytest
from tests.devices import DEVICES, device_or_skip, lacking
from tests.turn import half_of, part_of

from xpgrad import array_api, get_device, using_config
from xpgrad.errors import XpgradError
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.scenario import Scenario, dtypes_of
from xpgrad_conformance.table.table import ASSERTIONS, assertions_of, run

PARTS = 8
OTHERS = [device for device in DEVICES if device not in ("@numpy", "@strict:cpu")]
"""The certificate of strict runs the table on its first device; @strict:device1 covers the second."""
LIBRARIES = "@torch:cpu", "@jax:cpu", "@dask"
"""Devices of plugins: a few cases run there, without the cases of `special` that take minutes."""
RUNS = [(case, "@numpy") for case in CASES] + [(case, device) for device in OTHERS for case in part_of(CASES, PARTS)]
RUNS += part_of(
    [(c, d) for c in CASES for d in LIBRARIES if d == "@torch:cpu" or not c.name.startswith("special.")], 128
)
SMALL_COMPLEX = {case.name for case in part_of(CASES, PARTS)}
"""Cases that also run with small complex inputs: a different part for each commit."""
FULLY = {case.name for case in part_of(CASES, 1)}
"""Cases that also run with small inputs and in all modes: a twelfth, others for each commit."""
COMPILED = {case.name for case in part_of(CASES, 4)}
"""Cases whose derivatives are also computed by programs."""
WATCHED = {case.name for case in half_of(CASES)}
"""Cases whose arrays are watched for changes; the others run as in users' programs, which is faster."""
AT_SPECIAL_VALUES = {case.name for case in part_of(CASES, 60)}
"""Cases whose derivatives are compared at special values: each takes seconds, decompositions half a minute."""
ORDERED = {
    *("less", "less_equal", "greater", "greater_equal", "max", "min", "maximum", "minimum", "argmax", "argmin"),
    *("sort", "argsort", "searchsorted", "unique_values", "unique_all", "unique_counts", "unique_inverse", "gate"),
    *("apply_where", "argpartition", "median", "nanmax", "nanmin", "partition", "percentile", "quantile"),
    *("segment_max", "segment_min", "setdiff1d", "union1d"),
    *("F.argmax", "F.argmin", "F.clip", "F.max", "F.maximum", "F.min"),
}
"""Functions that compare elements: NumPy orders complex numbers by their real parts first, other libraries refuse."""
WITHOUT_CASE = {
    "broadcast_shapes": "takes shapes, no arrays",
    "empty_like": "creation: no values to compare",
    "ones_like": "creation: no gradient",
    "zeros_like": "creation: no gradient",
}


@pytest.mark.parametrize(
    ("case", "device"), RUNS, ids=[f"{case.name}-{device.removeprefix('@')}" for case, device in RUNS]
)
def test_case(case: Case, device: str) -> None:
    """One test for a case in all dtypes: tens of thousands of tests take longer to list than to run."""
    found = device_or_skip(device)
    reason = lacking(found.backend.name, case.needs)
    if reason is not None:
        pytest.skip(reason)
    failures = []
    for dtype in dtypes_of(case):
        for assertion in assertions_of(case, dtype):
            if assertion in ("small", "one_derivative") and case.name not in FULLY:
                continue
            if assertion == "small" and dtype == "complex128" and case.name not in SMALL_COMPLEX:
                continue
            if assertion == ("one_derivative" if case.name in COMPILED else "compiled_derivative"):
                continue  # the second contains the first
            if assertion == "special_derivative" and case.name not in AT_SPECIAL_VALUES:
                continue
            try:
                with using_config("detect_mutation", case.name in WATCHED):
                    run(case, found, dtype, assertion)
            except Exception as error:
                error.add_note(f"{case.name}: {assertion} in {dtype} on {device}")
                failures.append(error)
    if failures:
        raise failures[0] if len(failures) == 1 else ExceptionGroup(case.name, failures)


def test_names_of_cases_are_unique() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


def test_every_function_of_the_namespace_has_a_case() -> None:
    covered = {case.name.partition("-")[0] for case in CASES if case.area == "xp"}
    assert set(array_api.__all__) - covered == WITHOUT_CASE.keys()
    shared = {name for name in array_api.linalg.__all__ if name in array_api.__all__}
    assert {f"linalg.{name}" for name in set(array_api.linalg.__all__) - shared} <= covered


def test_functions_take_complex_numbers_in_a_case_or_reject_them() -> None:
    """Elsewhere a rule that needs a conjugate would be wrong without notice."""
    device, complex_cases = get_device("@numpy"), {(case.area, case.function) for case in CASES if case.complex}
    taken = set()
    for case in CASES:
        if (case.area, case.function) in complex_cases or not any(x.kind == "float" for x in case.inputs):
            continue
        scenario = Scenario(case, device, "complex128")
        try:
            scenario.call(scenario.variables(scenario.arrays()))
        except (XpgradError, TypeError, ValueError):
            continue
        taken.add(case.function)
    assert taken == ORDERED


def test_every_assertion_applies_to_some_case() -> None:
    used = {assertion for case in CASES for dtype in dtypes_of(case) for assertion in assertions_of(case, dtype)}
    assert used == ASSERTIONS.keys()
