"""Which checks a case goes through in which dtype, and on which variants of its inputs."""

from collections.abc import Iterable

from xpgrad import Device
from xpgrad_conformance.table.case import Case
from xpgrad_conformance.table.checks import Check, check_gradient, check_recorded, check_value
from xpgrad_conformance.table.graph_checks import check_aliasing, check_keeps, check_modes
from xpgrad_conformance.table.order_checks import check_second_order, check_third_order
from xpgrad_conformance.table.scenario import Scenario
from xpgrad_conformance.table.variants import PLAIN, Variant, broadcasting, variants_of

CHECKS: dict[str, Check] = {
    "value": check_value,
    "gradient": check_gradient,
    "recorded": check_recorded,
    "aliasing": check_aliasing,
    "keeps": check_keeps,
    "modes": check_modes,
    "second_order": check_second_order,
    "third_order": check_third_order,
}
NARROW = ("float32", "complex64")


def checks_of(case: Case, dtype: str) -> tuple[str, ...]:
    """Return the names of the checks that `case` goes through in `dtype`; the third order in float64 only."""
    names = ["value", "gradient"]
    if case.order > 0:
        names += ["recorded"]
        names += ["aliasing", "keeps", "modes"] if dtype not in NARROW else []
        names += ["second_order"] if case.order > 1 else []
        names += ["third_order"] if case.order > 2 and dtype == "float64" else []
    elif case.keeps is not None and dtype == "float64":
        names += ["keeps"]
    return tuple(names)


def variants_for(check: str, case: Case, dtype: str) -> Iterable[Variant]:
    """Return the variants of `case` on which a check runs: all for values and gradients in the wide dtypes."""
    every = variants_of(case)
    if check in ("keeps", "third_order"):
        return every[:1]
    stretched = broadcasting(case)
    few = [PLAIN, *(v for v in every if v.name == "0-d"), *([] if stretched is None else [stretched])]
    if check == "second_order":
        return few if dtype == "float64" else every[:1]
    if check in ("aliasing", "modes"):
        return few + [v for v in every if v.same]
    return few if dtype in NARROW else every


def run(case: Case, device: Device, dtype: str, check: str) -> None:
    """Run one check of `case` on a device, in one dtype, on all its variants.

    Raises
    ------
    AssertionError
        With a text that names case, device, dtype, variant and check.
    """
    for variant in variants_for(check, case, dtype):
        CHECKS[check](Scenario(case, device, dtype, variant))
