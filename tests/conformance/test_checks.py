"""The checks of every family on correct backends; that faults fail them is shown by ``make self-test``."""

import gc
import inspect
import re
import threading
import tracemalloc

import pytest
from tests.devices import device_or_skip
from tests.faults import FAULTS, FREEDOMS
from tests.faults.testbed import Testbed
from tests.turn import part_of

import xpgrad
from xpgrad import array_api, get_device, initializers, random
from xpgrad.backend.capabilities import Capabilities
from xpgrad.errors import MissingFunction
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.check import FAMILIES, CheckFamily
from xpgrad_conformance.checks import CHECKS, spellings
from xpgrad_conformance.checks.concurrent_calls import run_concurrently
from xpgrad_conformance.generated.operations import OPERATIONS
from xpgrad_conformance.outcome import Outcome, outcome
from xpgrad_conformance.plan import plan
from xpgrad_conformance.probes import findings
from xpgrad_conformance.subject import Subject

SAMPLE_CASES = CASES[::60]
SOME = OPERATIONS[::24]
LACKED = (
    *("index_arrays", "negative_steps", "in_place_update", "index_assignment", "empty_arrays", "memory_used"),
    *("pickle", "pickle_keeps_device", "dlpack_export", "dlpack_import", "threads", "linalg", "fft"),
    *("random_numbers_of_the_host", "sort", "cumulative_prod", "concat", "nextafter"),
)
PACKAGES = (
    "distributions", "functions", "initializers", "links", "ops", "optimizers", "serializers", "special",
    "transforms",
)  # fmt: skip
MODULES = {"": array_api, "linalg.": array_api.linalg, "fft.": array_api.fft}
MODULES |= {f"{name}.": getattr(xpgrad, name) for name in PACKAGES}
"""Modules of public functions, by the prefix that the tables of spellings have for their names."""
OTHERWISE = {
    ("astype", "device"),  # D28 and C14 have asarray with both
    ("default_dtype", "device"),  # which makes no array
    ("einsum", "dtype"),  # which is refused
    ("from_dlpack", "device"),  # the family "exchange" has it
    ("isdtype", "dtype"),  # also tested by D28
}
"""Functions and parameters that are not in the tables of spellings."""


def _outcomes(device: object, lacks: Capabilities | None = None, families: str | None = None) -> list[Outcome]:
    """Run a part of the quick profile, which must restore the global state; self-test and certificates run the rest."""
    found = device_or_skip(device) if isinstance(device, str) else device
    given = found.backend.capabilities if lacks is None else lacks
    items = plan([found], families=families, quick=True, cases=SAMPLE_CASES, operations=SOME)
    before = _state()
    outcomes = [outcome(item, given) for item in items]
    assert _state() == before
    return outcomes


def _state() -> tuple[object, ...]:
    """Return the global state, without timers, which may be about to end, and threads of xpgrad, which are kept."""
    started = [each for each in threading.enumerate() if type(each) is threading.Thread]
    threads = [each for each in started if not each.name.startswith("xpgrad")]
    return get_device(), random.get_state(), threads, gc.isenabled(), tracemalloc.is_tracing()


def _failures(found: list[Outcome]) -> list[str]:
    return [
        f"{each.id}: {each.reason}\n{each.trace}"
        for each in found
        if each.state == "failed" or (each.state == "skipped" and not each.declared)
    ]


CORRECT = [
    pytest.param(name, family, id=f"{name}-{family.name}")
    for name in ("@numpy", "@strict:device1", "@strict:no_float64", "native:1")
    for family in FAMILIES
]


@pytest.mark.parametrize(("name", "family"), part_of(CORRECT, 4))
def test_correct_backends_pass(name: str, family: CheckFamily) -> None:
    found = _outcomes(name, families=family.letter)
    assert _failures(found) == []
    assert any(each.state == "passed" for each in found)


def test_a_correct_backend_with_a_freedom_passes() -> None:
    freedom = next(each for each in FREEDOMS if each.id == "views-where-legal")
    bed = Testbed(lazy=freedom.lazy)
    freedom.plant(bed)
    assert _failures(_outcomes(bed.devices()[1], bed.backend.capabilities, "AT")) == []


@pytest.mark.parametrize("family", part_of(FAMILIES, 4), ids=lambda each: each.name)
def test_a_backend_without_optional_facts_passes(family: CheckFamily) -> None:
    lacks = Capabilities(dict.fromkeys(LACKED, "for this test"))
    assert _failures(_outcomes(Testbed().devices()[1], lacks, family.letter)) == []


def test_checks_that_need_a_missing_fact_are_skipped() -> None:
    lacks = Capabilities(dict.fromkeys(LACKED, "for this test"))
    names = "A12 A21 M13 P02 P12 Y04 Y07 Y14 R03 R13 R15 T07 V25 X01 X05"
    few = set(names.split())
    items = plan([Testbed().devices()[1]], cases=(), operations=(), checks=[each for each in CHECKS if each.id in few])
    assert {item.check.id for item in items if outcome(item, lacks).state == "skipped"} == few


def test_pickles_may_change_the_device_if_declared() -> None:
    bed = Testbed()
    next(fault for fault in FAULTS if fault.id == "pickle-loses-the-device").plant(bed)
    device = bed.devices()[1]
    assert findings(device)["pickle_keeps_device"].there is False
    assert findings(device)["pickle"].there is True
    lacks = Capabilities({"pickle_keeps_device": "for this test"})
    (item,) = (item for item in plan([device], families=["R"]) if item.check.id == "R03")
    assert outcome(item, Capabilities()).state == "failed"
    assert outcome(item, lacks).state == "passed"


def test_a_wrong_kernel_is_named_with_its_arguments() -> None:
    bed = Testbed()
    next(fault for fault in FAULTS if fault.id == "scatter-add-last-wins").plant(bed)
    case = next(each for each in CASES if each.name == "getitem-array")
    items = plan(bed.devices()[:1], families=["F"], cases=[case])
    (item,) = (each for each in items if each.id.startswith("F01[getitem-array,float64,"))
    reason = outcome(item, bed.backend.capabilities).reason
    assert re.match(
        r"the backend's kernel scatter_add of float64\[\d.*\], \[\(int64\[\d\], float64\[.*\]\)\]", reason
    ), reason


def test_threads_that_fail_raise_in_the_caller() -> None:
    def fails() -> None:
        raise KeyError("in a thread")

    with pytest.raises(KeyError, match="in a thread"):
        run_concurrently([lambda: None, fails])


def test_a_thread_that_hangs_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xpgrad_conformance.checks.concurrent_calls.TIMEOUT", 0.05)
    release = threading.Event()
    with pytest.raises(AssertionError, match="1 of 1 threads are not done"):
        run_concurrently([lambda: release.wait(30)])
    release.set()


def test_a_chain_of_errors_that_bites_its_tail_ends() -> None:
    one, other = RuntimeError("one"), RuntimeError("other")
    one.__cause__, other.__context__ = other, one
    s = Subject(get_device("@numpy"), Capabilities())
    assert s.missing(one) is None
    other.__cause__ = MissingFunction("x", "exp")
    assert s.missing(one) == "exp"


def test_every_function_that_takes_a_dtype_or_a_device_is_called_with_each_spelling():
    dtypes = {*spellings.OF_ARRAYS, *spellings.CREATORS, *(f"links.{name}" for name in spellings.LINKS)}
    devices = {*spellings.INDICES, *spellings.CREATORS}
    missing = set()
    for prefix, module in MODULES.items():
        for name in dir(module):
            function = getattr(module, name)
            if name[0] == "_" or not (inspect.isroutine(function) or isinstance(function, type)):
                continue
            if module is not array_api and getattr(array_api, name, None) is function:
                continue
            if isinstance(function, type) and issubclass(function, initializers.Initializer):
                continue
            try:
                given = inspect.signature(function).parameters
            except ValueError:  # a dtype
                continue
            for parameter, called in (("dtype", dtypes), ("device", devices)):
                if parameter in given and f"{prefix}{name}" not in called:
                    missing.add((f"{prefix}{name}", parameter))
    assert missing == OTHERWISE
