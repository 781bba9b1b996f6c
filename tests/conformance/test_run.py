"""Runs of the suite: plans, outcomes, levels, and reproduction of failures."""

import dataclasses
import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults import FAULTS, FREEDOMS
from tests.faults.testbed import Testbed

import xpgrad
from xpgrad.plugin import Capabilities
from xpgrad_conformance import Report, conform, reproduce, workers
from xpgrad_conformance.check import FAMILIES, LEVELS, Check
from xpgrad_conformance.checks import CHECKS
from xpgrad_conformance.documents import MAX_FAILURES, as_json, as_markdown, badge, write
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.outcome import Outcome, Skip, outcome
from xpgrad_conformance.plan import Item, letter_of, plan
from xpgrad_conformance.probes import mismatches
from xpgrad_conformance.report import reproduction
from xpgrad_conformance.subject import Subject

CASES = "exp", "sin", "sum-axis", "tanh"
STRICT = xpgrad.get_device("@strict:device1")


def _check(function: Callable[[Subject], None], **changes: Any) -> Check:
    made = Check("V99", "it holds", function, 2, "device", (), (), True, None)
    return dataclasses.replace(made, **changes)


def _outcome(function: Callable[[Subject], None], capabilities: Capabilities | None = None, **changes: Any) -> Outcome:
    return outcome(Item(_check(function, **changes), STRICT, None, None, False), capabilities or Capabilities())


def _fails(s: Subject) -> None:
    raise AssertionError("the condition fails")


def test_names_of_checks_are_unique_and_have_a_family_and_a_title() -> None:
    names = [check.id for check in CHECKS]
    assert len(set(names)) == len(names)
    for check in CHECKS:
        assert re.fullmatch(r"[A-Z]\d\d", check.id), check.id
        assert check.family in FAMILIES
        assert 0 < len(check.title) < 110, check.id
        assert check.level in LEVELS


def test_every_family_has_checks() -> None:
    assert {check.family for check in CHECKS} == set(FAMILIES)


def test_ids_of_the_items_of_a_plan_are_unique() -> None:
    for quick in (True, False):
        names = [item.id for item in plan([STRICT, xpgrad.get_device("@strict:cpu")], quick=quick)]
        assert len(set(names)) == len(names)


def test_the_thin_profile_has_every_check_case_and_dtype_on_few_inputs() -> None:
    devices = [xpgrad.get_device("@strict:cpu"), xpgrad.get_device("@strict:device1")]
    full, thin = plan(devices), plan(devices, thin=True)
    assert {item.id for item in thin} < {item.id for item in full}
    assert {item.check.id for item in thin} == {item.check.id for item in full}
    assert {item.id for item in thin if item.case} == {item.id for item in full if item.case}
    values = {item.id for item in full if item.check.id == "K50" and item.device == devices[0]}
    assert values == {item.id for item in thin if item.check.id == "K50"}
    assert all(item.quick and item.thin for item in thin)
    one, other = (item.subject(devices[0].backend.capabilities) for item in thin if item.id.startswith("K50[exp,float"))
    draws = Draw(one, "exp"), Draw(other, "exp")
    assert sorted(sum(1 for _ in draw.part_of(iter(range(96)))) for draw in draws) == [12, 32]
    assert all(list(draw.part_of(iter(["the only one"]))) for draw in draws)


def test_families_are_given_by_letter_or_name() -> None:
    assert letter_of("k") == letter_of("kernels") == "K"
    assert letter_of("Second order") == "H"
    with pytest.raises(ValueError, match=r"unknown family 'z'; choose one of L \(load\), C \(creation\)"):
        letter_of("z")
    assert {item.check.family.letter for item in plan([STRICT], families=["H"])} == {"H"}


def test_shares_partition_the_plan_and_keep_the_checks_of_a_case_in_one_dtype_together() -> None:
    whole = plan([STRICT], families=["L", "K"])
    shares = [plan([STRICT], families=["L", "K"], share=(i, 5)) for i in range(1, 6)]
    assert sorted(item.id for share in shares for item in share) == sorted(item.id for item in whole)
    groups = [{(item.group, item.dtype) for item in share} for share in shares]
    assert sum(map(len, groups)) == len(set().union(*groups))
    assert max(map(len, groups)) - min(map(len, groups)) <= 1


def test_outcome_has_state_and_reason_of_a_check() -> None:
    assert _outcome(lambda s: None).state == "passed"
    failed = _outcome(_fails)
    assert (failed.state, failed.reason) == ("failed", "the condition fails")
    assert "in _fails" in failed.trace


def test_any_exception_of_a_backend_is_a_failure() -> None:
    def ends(s: Subject) -> None:
        raise SystemExit(3)

    assert _outcome(ends).reason == "SystemExit: 3"


def test_checks_of_a_missing_fact_are_skipped_with_the_declared_reason() -> None:
    skipped = _outcome(_fails, Capabilities(missing={"fft": "none"}), needs=("fft",))
    assert (skipped.state, skipped.declared, skipped.reason) == ("skipped", True, "fft: none")
    here = Capabilities(missing_on={"device1": {"fft": "none here"}})
    assert _outcome(_fails, here, needs=("fft",)).reason == "fft: none here"


def test_function_that_the_library_lacks_is_a_declared_skip_or_a_failure() -> None:
    def uses(s: Subject) -> None:
        raise RuntimeError("the cause of another error") from xpgrad.errors.MissingFunction("x", "linalg.det")

    assert _outcome(uses).state == "failed"
    assert _outcome(uses, Capabilities(missing={"linalg.det": "none"})).declared
    assert _outcome(uses, Capabilities(missing={"linalg": "none"})).declared


def test_skip_without_a_declared_reason_is_distinguished() -> None:
    def skips(s: Subject) -> None:
        raise Skip("no idea how")

    assert not _outcome(skips).declared


def test_expected_failures_are_strict() -> None:
    known = Capabilities(expected={"V99[*device1]": "known"}), Capabilities(expected={"V99*": "known"})
    assert _outcome(_fails, known[1]).state == "expected"
    passing = _outcome(lambda s: None, known[1])
    assert passing.state == "failed"
    assert "it passes, but is declared to fail: known; remove it" in passing.reason


@pytest.mark.exhaustive(1)
@pytest.mark.parametrize("jobs", [0, 2])
def test_run_counts_planned_checks(jobs: int) -> None:
    seen: list[tuple[str, int]] = []
    report = conform(
        "@strict:device1",
        families=["A"],
        cases=CASES,
        profile="quick",
        jobs=jobs,
        progress=lambda each, planned: seen.append((each.id, planned)),
    )
    total = report.counts()
    assert total.planned == len(seen) == seen[0][1] >= len(CASES)
    assert total.passed + total.skipped == total.planned
    assert report.counts("A") == report.table["A", "@strict:device1"] == total
    assert all(any(each.id.startswith(f"A01[{case},") for each in report.outcomes) for case in CASES)
    assert report.level is None
    assert report.exit_code == 0
    assert "nothing failed; a level takes" in report.verdict


def test_unknown_profile_raises() -> None:
    with pytest.raises(ValueError, match="expected a profile among quick, thin, full, soak, got 'long'"):
        conform("numpy", profile="long")


def test_unknown_case_raises() -> None:
    with pytest.raises(ValueError, match="unknown case summ; choose cases"):
        conform("numpy", cases=["sum", "summ"])


def _report(*, mismatched: tuple[str, ...] = (), **states: str) -> Report:
    """Return a report in which every check passed once, except the checks in `states`."""
    outcomes = []
    for check in CHECKS:
        state, _, rest = states.get(check.id, "passed").partition(" ")
        outcomes.append(Outcome(f"{check.id}[@x:0]", check.id, "@x:0", state, rest, declared=rest == "declared"))
    facts = Capabilities(
        missing={"fft": "no time"},
        missing_on={"0": {"float64": "narrow"}},
        tolerances={"float32": (2.0, "half sums")},
        expected={"K*": "old bug"},
    )
    versions = {"xpgrad": "1", "plugin": "xpgrad-x 1", "library": "x 2", "python": "3"}
    return Report("x", versions, ("@x:0",), "full", True, 0, 1.5, facts, mismatched, tuple(outcomes))


def _first(level: int) -> str:
    return next(check.id for check in CHECKS if check.level == level)


def test_part_of_the_suite_gives_no_level() -> None:
    for part in ({"profile": "quick"}, {"whole": False}):
        report = dataclasses.replace(_report(), **part)
        assert (report.level, report.exit_code) == (None, 0)


def test_the_verdict_of_the_thin_profile_names_the_profile() -> None:
    report = dataclasses.replace(_report(), profile="thin")
    assert report.level == _report().level is not None
    assert "on few inputs (profile thin)" in report.verdict
    assert "level 3 (thin" in badge(report)


def test_disagreement_of_facts_gives_no_level() -> None:
    report = _report(mismatched=("fft on @x:0: ...",))
    assert (report.level, report.exit_code) == (None, 3)


def test_empty_run_fails() -> None:
    nothing = dataclasses.replace(_report(), outcomes=())
    assert (nothing.level, nothing.exit_code) == (None, 2)
    skipped = _report(**{check.id: "skipped declared" for check in CHECKS})
    assert (skipped.level, skipped.exit_code) == (None, 2)


def test_report_is_written_as_data_page_and_badge(tmp_path: Path) -> None:
    report = _report(**{_first(2): "failed why not", _first(0): "expected known"})
    files = write(report, tmp_path / "deep" / "down")
    assert [file.name for file in files] == ["conformance.json", "conformance.md", "badge.svg"]
    data = json.loads(files[0].read_text())
    assert (data["schema"], data["level"], data["exit_code"]) == (1, 1, 1)
    assert sum(row["planned"] for row in data["families"]) == len(CHECKS)
    others = [other for row in data["checks"] for other in row["others"]]
    assert {other["state"] for other in others} == {"failed", "expected"}
    assert len(data["checks"]) == len(CHECKS)
    page = files[1].read_text()
    for text in (
        "| fft | all devices | no time |",
        "| float64 | `0` | narrow |",
        "| float32 | 2 | 4e-05 | 50 and 20 times | half sums |",
        "| `K*` | 0 | old bug |",
        f'reproduce("{_first(2)}[@x:0]", seed=0)',
        "# why not",
    ):
        assert text in page
    assert "level 1 (1 declared, tolerance x2)" in files[2].read_text()
    assert "not certified" in badge(_report(**{_first(0): "failed"}))


def test_page_lists_some_groups_of_failures_and_counts_the_rest() -> None:
    failed = tuple(
        Outcome(f"{check.id}[c{i},@x:0]", check.id, "@x:0", "failed", f"{'a' * i} is wrong")
        for i, check in zip(range(MAX_FAILURES + 3), itertools.cycle(CHECKS), strict=False)
    )
    page = as_markdown(dataclasses.replace(_report(), outcomes=failed))
    assert "23 failures in 23 groups, the one to repair first at the top" in page
    assert "and 3 more groups in conformance.json" in page
    assert len([row for row in as_json(dataclasses.replace(_report(), outcomes=failed))["checks"] if row["others"]])


def test_reproduction_is_a_short_program_that_fails_in_the_same_way() -> None:
    bed = Testbed()
    bed.replace("exp", lambda original, x: original(x) + (x.dtype == "float64"))
    device = bed.devices()[1]
    items = [item for item in plan([device], families=["K"], quick=True) if item.case and item.case.name == "exp"]
    outcomes = [outcome(item, Capabilities()) for item in items]
    failed = next(each for each in outcomes if each.state == "failed")
    program = reproduction(failed)
    assert len(program.splitlines()) <= 8
    with pytest.raises(AssertionError, match=r"exp\[.*float64.*value: output 0 differs") as again:
        exec(program, {})
    assert str(again.value) == failed.reason


def test_reproduction_of_an_unknown_check_is_an_error() -> None:
    with pytest.raises(ValueError, match="unknown check 'K01"):
        reproduce("K01[nothing,float32,@numpy]")


@pytest.mark.parametrize("name", ["@numpy", "@strict", "native:0"])
def test_declared_capabilities_of_shipped_backends_agree_with_the_probes(name: str) -> None:
    backend = xpgrad.get_device(name).backend
    assert not mismatches(backend.devices(), backend.capabilities)


def test_a_library_without_shared_memory_may_declare_it_or_not() -> None:
    def bind_anew(self: Any, key: Any, value: Any) -> None:
        copied = self.inner.copy()
        copied[key] = getattr(value, "inner", value)
        self.inner = copied

    bed = Testbed()
    bed.library.Array.__setitem__ = bind_anew
    for given in ({}, {"in_place_update": "bound anew"}):
        found = mismatches(bed.devices()[:1], Capabilities(missing=given))
        assert "in_place_update" not in {each.fact for each in found}


def test_probes_find_wrong_declarations_in_both_directions() -> None:
    device = STRICT
    wrong = Capabilities(missing={"fft": "wrong", "float64": "wrong", "take": "wrong"})
    found = {(each.fact, each.declared) for each in mismatches([device], wrong)}
    assert {("fft", False), ("float64", False), ("take", False)} <= found
    assert ("index_assignment_arrays", True) in found
    assert any("not declared missing" in str(each) for each in mismatches([device], wrong))


def test_a_mismatch_has_the_error_of_the_probe() -> None:
    def refuse(self: Any, key: Any) -> Any:
        raise RuntimeError("the queue is closed\nand more lines")

    bed = Testbed()
    bed.library.Array.__getitem__ = refuse
    texts = {each.fact: str(each) for each in mismatches(bed.devices()[:1], Capabilities())}
    assert texts["index_arrays"].endswith("but the probe does not find it: RuntimeError: the queue is closed")


@pytest.mark.slow
def test_crash_and_hang_fail_one_check_each_unless_they_are_declared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "crashing.py").write_text(CRASHING)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}", prepend=":")
    (tmp_path / "sitecustomize.py").write_text("import crashing\n")
    declared = STRICT.backend.capabilities.as_dict()
    declared["expected"] = {"A01[cos,*": "issue 7", "A01[tanh,*": "issue 8"}
    report = conform(
        "@strict:device1",
        families=["A"],
        cases=[*CASES, "cos"],
        profile="quick",
        jobs=1,
        timeout=8,
        capabilities=Capabilities(**declared),
    )
    failed = {each.id.partition(",")[0]: each.reason for each in report.failures}
    assert failed["A01[exp"] == "the process died with exit code 9"
    assert failed["A01[sin"] == "the process died with SIGSEGV (segmentation fault)"
    known = {each.id.partition(",")[0]: each.reason for each in report.outcomes if each.state == "expected"}
    assert known == {
        "A01[cos": "issue 7 (the process died with SIGSEGV (segmentation fault))",
        "A01[tanh": "issue 8 (no answer within 8 s)",
    }
    assert report.counts().passed >= len(CASES) - 3


@pytest.mark.slow
def test_a_crash_on_generated_inputs_names_the_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}", prepend=":")
    (tmp_path / "sitecustomize.py").write_text(CRASHING_AT_17)
    report = conform("@strict:device1", families=["K"], cases=[], operations=["square"], profile="quick", jobs=1)
    reasons = {each.id: each.reason for each in report.failures}
    assert reasons["K50[square,float64,@strict:device1]"].startswith(
        "the process died with exit code 9, in xp.square(x0) with x0 float64 (17,) contiguous"
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell how much memory is in use")
def test_a_process_that_has_grown_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Counted(workers.Worker):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            started.append(self)

    monkeypatch.setattr(workers, "MAX_GROWTH", -(2**40))
    monkeypatch.setattr(workers, "Worker", Counted)
    outcomes = conform("@strict:device1", families=["F"], cases=CASES, profile="full", jobs=1).outcomes
    cases = [re.search(r"\[([^,]*),", each.id) for each in outcomes if each.check == "F01"]
    others = [each for each in outcomes if each.check != "F01"]
    assert {match[1] for match in cases if match} == set(CASES)
    assert len(cases) > len(CASES)  # items of one case share a process
    assert len(started) == len(CASES) + len(others)


CRASHING_AT_17 = """
import os
import array_api_strict

square = array_api_strict.square
array_api_strict.square = lambda x: os._exit(9) if x.size == 17 else square(x)
"""
CRASHING = """
import os, signal, sys, time, importlib.abc

class Spoil(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "xpgrad_strict.plugin":
            import array_api_strict
            array_api_strict.exp = lambda x, /: os._exit(9)
            array_api_strict.sin = array_api_strict.cos = lambda x, /: os.kill(os.getpid(), signal.SIGSEGV)
            array_api_strict.tanh = lambda x, /: time.sleep(600)
        return None

sys.meta_path.insert(0, Spoil())
"""


def test_names_of_faults_and_freedoms_are_unique() -> None:
    names = [each.id for each in (*FAULTS, *FREEDOMS)]
    assert len(set(names)) == len(names)
