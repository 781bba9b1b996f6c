"""Requirements of a level: no failures, most checks run, and declarations are no substitute."""

import dataclasses
from collections.abc import Callable, Mapping

import pytest
from tests.faults.testbed import Testbed

from xpgrad.plugin import Capabilities
from xpgrad_conformance import Report
from xpgrad_conformance.check import LEVELS
from xpgrad_conformance.checks import CHECKS
from xpgrad_conformance.foundation import foundation
from xpgrad_conformance.levels import checked_item, ruling
from xpgrad_conformance.outcome import Outcome, outcome
from xpgrad_conformance.plan import Item, plan

pytestmark = pytest.mark.exhaustive(1)

DEVICE = Testbed().devices()[0]
ITEMS = plan([DEVICE])


def _report(state: Callable[[Item], str] = lambda item: "passed", declared: Capabilities | None = None) -> Report:
    """Return the report of a full run in which each item has the state, and after it the reason, that `state` gives."""
    outcomes = []
    for item in ITEMS:
        here, _, reason = state(item).partition(" ")
        outcomes.append(Outcome(item.id, item.check.id, DEVICE.name, here, reason, declared=":" in reason))
    given = declared or Capabilities()
    return Report("x", {}, (DEVICE.name,), "full", True, 0, 1.0, given, (), tuple(outcomes))


def _of(states: Mapping[str, str]) -> Callable[[Item], str]:
    """Return the states by the beginning of the items' ids."""
    return lambda item: next((state for start, state in states.items() if item.id.startswith(start)), "passed")


def _first(level: int) -> str:
    return next(check.id for check in CHECKS if check.level == level)


def test_level_is_the_highest_without_failures() -> None:
    assert _report().level == 3
    assert _report().verdict == f"certified at level 3: {LEVELS[3]}"
    for level in LEVELS:
        failing = _report(_of({_first(level): "failed"}))
        assert failing.level == (level - 1 if level else None)
        assert failing.exit_code == 1
        assert f"level {level} is not given" in failing.verdict


def test_level_is_given_with_declared_skips_only() -> None:
    assert _report(_of({"F03": "skipped fft: none"})).level == 3
    undeclared = _report(_of({_first(1): "skipped why"}))
    assert (undeclared.level, undeclared.exit_code) == (0, 0)


def test_verdict_counts_skipped_checks_with_reasons() -> None:
    found = _report(lambda item: "skipped complex128: none" if item.dtype == "complex128" else "passed")
    planned = sum(item.check.family.letter == "H" for item in ITEMS)
    skipped = sum(item.check.family.letter == "H" and item.dtype == "complex128" for item in ITEMS)
    assert f"{skipped:,} of {planned:,} second-order checks skipped: no complex128" in found.verdict
    assert found.level == 3


def test_level_takes_half_of_the_checks_of_each_family() -> None:
    def first_of_many(item: Item) -> str:
        late = item.check.id == "H01" and item.number % 3 > 0
        return (
            "skipped take: none" if late or (item.check.family.letter == "H" and item.check.id != "H01") else "passed"
        )

    found = _report(first_of_many)
    assert found.level == 1
    assert "checks of H (second order) ran, and it takes half of them" in found.verdict


def test_check_that_ran_in_one_dtype_has_run() -> None:
    wide = _report(lambda item: "skipped float64: none" if item.dtype in ("float64", "complex128") else "passed")
    assert checked_item(Outcome("K01[sum-axis,float32,@x:0]", "K01", "@x:0", "passed")) == ("K01", "@x:0", "sum-axis")
    families = {place.check[0] for place in map(checked_item, wide.outcomes) if place.about}
    assert families >= {"K", "G", "H", "A", "M", "F"}
    assert not any("K (kernels)" in each for each in wide.ruling.obstacles)


def test_facility_that_is_absent_as_a_whole_is_named_and_takes_no_level() -> None:
    found = _report(lambda item: "skipped threads: one alone" if item.check.family.letter == "P" else "passed")
    assert found.level == 3
    assert "without threads (P)" in found.verdict
    without_linalg = _report(lambda item: "skipped linalg: none" if item.check.family.letter == "P" else "passed")
    assert without_linalg.level == 2


@pytest.mark.parametrize(
    ("name", "factor", "level"),
    [
        *(("float32", 20, 3), ("float32", 21, 0), ("float32", 51, None)),
        *(("float64", 100, 3), ("float64", 101, 0), ("float64", 1e12, None)),
        *(("exp", 20, 3), ("exp", 50, 0), ("exp", 1e12, None)),
    ],
)
def test_tolerances_have_a_ceiling(name: str, factor: float, level: int | None) -> None:
    found = _report(declared=Capabilities(tolerances={name: (factor, "our exponential is fast")}))
    assert found.level == level
    assert f"the tolerance of {name} widened {factor:g} times" in found.verdict
    assert found.exit_code == (1 if level is None else 0)


def test_few_failures_may_be_declared() -> None:
    one = _report(_of({"H06": "expected issue 3"}))
    assert one.level == 3
    assert "1 failure that is declared" in one.verdict
    functions = sorted({item.functions[0] for item in ITEMS if item.functions} - foundation())[:41]
    patterns = {f"?0?[{name}*": "known" for name in functions}
    many = _report(
        lambda item: "expected known" if item.functions and item.functions[0] in functions else "passed",
        Capabilities(expected=patterns),
    )
    assert many.level is None
    assert "are declared to fail, and " in many.verdict


def test_pattern_that_covers_more_than_ten_checks_is_named() -> None:
    given = Capabilities(expected={"K01[sinh,*": "issue 1", "F01[s*": "issue 2"})
    found = _report(_of({"K01[sinh,": "expected issue 1", "F01[s": "expected issue 2"}), given)
    number = sum(item.id.startswith("F01[s") for item in ITEMS)
    assert f"{number} of them by the pattern F01[s*" in found.verdict
    assert "K01[sinh" not in found.verdict


def test_declared_failure_of_a_foundation_function_blocks_the_level_of_its_family() -> None:
    assert {"add", "multiply", "sum", "matmul", "exp", "where", "reshape", "getitem"} <= foundation()
    assert not {"sinh", "linalg.eigh", "fft.fft", "roll"} & foundation()
    found = _report(_of({"H01[exp,": "expected issue 3"}))
    assert found.level == 1
    assert "exp, on which other functions are built, is declared to fail in H (second order)" in found.verdict
    assert _report(_of({"K01[operator-shift-scalar,": "expected issue 4"})).level is not None
    assert _report(_of({"K01[operator-mul-scalar,": "expected issue 4"})).level is None


def test_wrong_function_is_skipped_and_counts_as_a_declared_failure() -> None:
    given = Capabilities(wrong={"linalg.eigh": "issue 12", "sinh[float32]": "issue 13"})
    some = [item for item in ITEMS if item.case is not None and item.case.name in ("sinh", "linalg.eigh", "cosh")]
    found = [outcome(item, given) for item in some]
    assert {each.reason for each in found if each.wrong} == {"linalg.eigh: issue 12", "sinh[float32]: issue 13"}
    assert all("[linalg.eigh," in each.id or "[sinh,float32," in each.id for each in found if each.wrong)
    assert all(each.state == ("skipped" if each.wrong else "passed") for each in found)
    number = sum(each.wrong for each in found if "eigh" in each.id)
    report = dataclasses.replace(_report(declared=given), outcomes=tuple(found))
    assert f"wrong: linalg.eigh ({number} checks skipped)" in report.verdict
    exp = [item for item in ITEMS if item.check.id == "K01" and item.case is not None and item.case.name == "exp"]
    wrong = Capabilities(wrong={"exp": "issue 14"})
    assert "exp, on which other functions are built" in str(ruling([outcome(item, wrong) for item in exp], wrong))
