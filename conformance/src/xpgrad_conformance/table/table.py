"""The assertions for a case, for each dtype and variant of its inputs."""

from collections.abc import Callable, Sequence

from xpgrad import Device
from xpgrad_conformance.table.assertions import assert_gradient, assert_recorded, assert_value
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.graph_assertions import assert_aliasing, assert_keeps, assert_modes
from xpgrad_conformance.table.one_derivative import (
    assert_compiled_derivative,
    assert_one_derivative,
    assert_special_derivative,
)
from xpgrad_conformance.table.order_assertions import assert_second_order, assert_third_order
from xpgrad_conformance.table.scenario import Scenario
from xpgrad_conformance.table.small_assertions import assert_small
from xpgrad_conformance.table.special_assertions import applies, assert_special
from xpgrad_conformance.table.tie_assertions import TIES, assert_ties
from xpgrad_conformance.table.variants import PLAIN, Variant, broadcasting, small_variants, variants_of

ASSERTIONS: dict[str, Callable[[Scenario], None]] = {
    "value": assert_value,
    "small": assert_small,
    "special": assert_special,
    "ties": assert_ties,
    "gradient": assert_gradient,
    "recorded": assert_recorded,
    "aliasing": assert_aliasing,
    "keeps": assert_keeps,
    "modes": assert_modes,
    "second_order": assert_second_order,
    "third_order": assert_third_order,
    "one_derivative": assert_one_derivative,
    "compiled_derivative": assert_compiled_derivative,
    "special_derivative": assert_special_derivative,
}
NARROW = ("float32", "complex64")


def assertions_of(case: Case, dtype: str) -> tuple[str, ...]:
    """Return the names of the assertions for `case` in `dtype`; the third order in float64 only."""
    names = ["value", "gradient"] if dtype in NARROW else ["value", "gradient", "small"]
    names += ["special"] if dtype == "float64" and applies(case) else []
    names += ["ties"] if dtype == "float64" and case.function in TIES and case.order > 0 else []
    if case.order > 0:
        names += ["recorded"]
        names += ["aliasing", "keeps", "modes"] if dtype not in NARROW else []
        names += ["second_order"] if case.order > 1 else []
        names += ["third_order"] if case.order > 2 and dtype == "float64" else []
        names += ["one_derivative", "compiled_derivative", "special_derivative"] if dtype not in NARROW else []
    elif case.keeps is not None and dtype == "float64":
        names += ["keeps"]
    return tuple(names)


def variants_for(assertion: str, case: Case, dtype: str) -> Sequence[Variant]:
    """Return the variants of `case` for an assertion: all for values and gradients in the wide dtypes."""
    if assertion == "small":
        return small_variants(case)
    every = variants_of(case)
    if assertion in ("keeps", "third_order", "special", "ties") or assertion.endswith("_derivative"):
        return every[:1]
    stretched = broadcasting(case)
    few = [PLAIN, *(v for v in every if v.name == "0-d"), *([] if stretched is None else [stretched])]
    if assertion == "second_order":
        return few if dtype == "float64" else every[:1]
    if assertion in ("aliasing", "modes"):
        return few + [v for v in every if v.same]
    return few if dtype in NARROW else every


def verify(assertion: str, scenario: Scenario) -> None:
    """Make one assertion for a scenario; the error names both."""
    try:
        ASSERTIONS[assertion](scenario)
    except AssertionError as error:
        raise AssertionError(f"{scenario.title}: {assertion}: {error}") from error
    except Exception as error:
        error.add_note(f"in the check {assertion!r} of {scenario.title}")
        raise


def run(case: Case, device: Device, dtype: str, assertion: str) -> None:
    """Make one assertion for `case` on a device, in one dtype, on all applicable variants.

    Raises
    ------
    AssertionError
        The message contains case, device, dtype, variant and assertion.
    """
    for variant in variants_for(assertion, case, dtype):
        verify(assertion, Scenario(case, device, dtype, variant))
