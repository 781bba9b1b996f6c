"""Failures grouped by cause."""

from collections.abc import Sequence

from tests.faults.testbed import Testbed

from xpgrad.plugin import Capabilities
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.groups import Group, grouped
from xpgrad_conformance.outcome import Outcome, outcome
from xpgrad_conformance.plan import plan


def _groups(bed: Testbed, cases: Sequence[str], families: str = "KG") -> tuple[Group, ...]:
    device = bed.devices()[1]
    chosen = [case for case in CASES if case.name in cases]
    items = plan([device], families=families, cases=chosen, quick=True)
    outcomes = [outcome(item, Capabilities()) for item in items if item.case is not None]
    return grouped([each for each in outcomes if each.state == "failed"], [device.name])


def test_called_function_is_the_cause_of_its_callers_failures() -> None:
    bed = Testbed()
    bed.replace("sum", lambda original, x, *, axis=None, dtype=None, keepdims=False: original(x, axis=axis))
    group, *rest = _groups(bed, ["sum", "sum-axis", "sum-axes", "F.softmax", "F.log_softmax", "sin", "cov"])
    assert not rest
    assert group.function == "sum"
    assert {each.id.partition("[")[2].partition(",")[0] for each in group.outcomes} > {"sum-axes", "F.softmax"}
    assert group.example.id == f"K01[sum-axes,float64,@{bed.backend.name}:1]"


def test_two_faults_are_two_groups() -> None:
    bed = Testbed()
    bed.replace("exp", lambda original, x: original(x) * 1.01)
    bed.replace("sin", lambda original, x: original(x) + 1)
    assert {group.function for group in _groups(bed, ["exp", "sin", "F.softmax", "cos"])} == {"exp", "sin"}


def test_missing_function_is_a_group_with_this_title() -> None:
    bed = Testbed()
    bed.library.absent.add("exp")
    (group,) = _groups(bed, ["exp", "F.softmax"], "K")
    assert group.title == "exp is missing"


def test_error_of_several_functions_is_one_group() -> None:
    def refuse(original: object, *args: object, **kwargs: object) -> object:
        raise RuntimeError("the queue is closed")

    bed = Testbed()
    for name in ("exp", "sin", "cos", "tanh"):
        bed.replace(name, refuse)
    (group,) = _groups(bed, ["exp", "sin", "cos", "tanh"], "K")
    assert group.function == ""
    assert group.message.startswith("RuntimeError: ")


def _failed(check: str, inside: str, reason: str) -> Outcome:
    return Outcome(f"{check}[{inside},@x]", check, "@x", "failed", reason)


def test_group_of_a_lower_level_comes_first_unless_it_is_much_smaller() -> None:
    forward = _failed("K01", "nothing,float64", "a: value")
    gradients = [_failed("G01", f"nothing-{i},float64", "a: gradient") for i in range(3)]
    many = [_failed("G01", f"nothing-{i},float64", "a: gradient") for i in range(30)]
    assert [each.message for each in grouped([*gradients, forward], ["@x"])] == ["a: value", "a: gradient"]
    assert [each.message for each in grouped([*many, forward], ["@x"])] == ["a: gradient", "a: value"]


def test_example_is_small_and_in_float64() -> None:
    found = [
        _failed("K01", "exp,float32", "a: (2, 3) differs"),
        _failed("K01", "exp,float64", "a: (20, 3) differs"),
        _failed("K01", "exp,float64", "a: (2, 3) differs"),
    ]
    (group,) = grouped(found, ["@x"])
    assert group.example == found[2]
