"""Requirements of a level: no failures, and few declared exceptions."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from xpgrad.backend.standard import DTYPES
from xpgrad.plugin import Capabilities
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.check import FAMILIES, LEVELS, Check, CheckFamily
from xpgrad_conformance.checks import CHECKS
from xpgrad_conformance.foundation import foundation
from xpgrad_conformance.outcome import Outcome

LEAST_RUN = 0.5
"""The share of the checks of each family that must have run, in one dtype at least."""
MAX_DECLARED = 0.02
"""The share of the checks of each family on a device that may be declared to fail; one may be in any family."""
CEILINGS = {
    0: {"float64": 1000.0, "complex128": 1000.0, "float32": 50.0, "complex64": 50.0},
    1: {"float64": 100.0, "complex128": 100.0, "float32": 20.0, "complex64": 20.0},
}
"""The largest factors of tolerances, by the level from which they hold and dtype: values must agree to 1e-8 in float64
and to 1e-3 in float32 for level 0, to 1e-9 and 4e-4 for the levels above."""
FACILITIES: dict[str, tuple[str, ...]] = {
    "M": ("memory_used",),
    "V": ("several_devices", "threads"),
    "T": ("several_devices",),
    "Y": ("asynchronous", "dlpack_export"),
    "P": ("threads",),
    "R": ("pickle", "pickle_keeps_device", "random_numbers_of_the_host", "threads"),
    "X": ("dlpack_export", "dlpack_import", "dlpack_shares_memory", "from_dlpack"),
    "J": ("threads",),
}
"""Facilities that a library may lack completely, by the family that tests them. Checks that are skipped for this reason
do not count among the checks that must run; the verdict names the facility."""
BY_ID = {check.id: check for check in CHECKS}
OF_BITS = {case.name for case in CASES if case.function == "operator" and {x.kind for x in case.inputs} == {"int"}}
"""Cases of operators on bits, which no rule calls."""
FUNCTION_OF = {case.name: case.name if case.name in OF_BITS else case.function for case in CASES}


class CheckedItem(NamedTuple):
    """The id, device, and case or operation (if any) of a check, without the dtype."""

    check: str
    device: str
    about: str


class Ruling(NamedTuple):
    """The level that outcomes and declarations reach, and the obstacles to the next level, one sentence each."""

    level: int | None
    obstacles: tuple[str, ...]


def check_of(outcome: Outcome) -> Check:
    """Return the check that an outcome is of."""
    return BY_ID[outcome.check]


def checked_item(outcome: Outcome) -> CheckedItem:
    """Return check, device and case of an outcome: ``K01[sum-axis,float32,@npu:0]`` is K01 of sum-axis on @npu:0."""
    inside = outcome.id[len(outcome.check) + 1 : -1].removesuffix(outcome.device).rstrip(",")
    about, _, dtype = inside.rpartition(",")
    return CheckedItem(outcome.check, outcome.device, about if dtype in DTYPES else inside)


def fact_of(outcome: Outcome) -> str:
    """Return the declared fact for which an item was skipped, or an empty text."""
    return outcome.reason.partition(":")[0] if outcome.state == "skipped" and outcome.declared else ""


def ruling(outcomes: Sequence[Outcome], capabilities: Capabilities) -> Ruling:
    """Return the highest level that outcomes reach, and the obstacles to the next level.

    A level is given if, in each of its families and of those below,

    - something was planned, and at least one check of the level passed;
    - no check failed, or was skipped without a declared capability;
    - at least `LEAST_RUN` of the checks ran, not counting checks of absent `FACILITIES`;
    - at most `MAX_DECLARED` of the checks are declared to fail, and none of a function of the foundation;

    and no tolerance is wider than its ceiling.
    """
    reached = None
    for level in LEVELS:
        here = [each for each in outcomes if check_of(each).level == level]
        found = [*_obstacles(level, here), *_too_wide(level, capabilities)]
        if found:
            return Ruling(reached, tuple(found))
        reached = level
    return Ruling(reached, ())


def _obstacles(level: int, outcomes: Sequence[Outcome]) -> Iterator[str]:
    by_family: dict[str, list[Outcome]] = {}
    for each in outcomes:
        by_family.setdefault(check_of(each).family.letter, []).append(each)
    if not any(each.state == "passed" for each in outcomes):
        yield f"no check of level {level} passed"
    for family in FAMILIES:
        found = by_family.get(family.letter, [])
        if family.level == level and not found:
            yield f"nothing of {named(family)} was planned"
        yield from _obstacles_in(family, found)


def _obstacles_in(family: CheckFamily, outcomes: Sequence[Outcome]) -> Iterator[str]:
    failed = sum(each.state == "failed" for each in outcomes)
    if failed:
        yield f"{failed} checks of {named(family)} failed"
    undeclared = sum(each.state == "skipped" and not each.declared for each in outcomes)
    if undeclared:
        yield f"{undeclared} checks of {named(family)} were skipped for no declared reason"
    planned = {checked_item(each) for each in outcomes}
    ran = {checked_item(each) for each in outcomes if each.state != "skipped"}
    counted = ran | {checked_item(each) for each in outcomes if fact_of(each) not in FACILITIES.get(family.letter, ())}
    if len(ran) < LEAST_RUN * len(counted):
        yield f"{len(ran)} of {len(counted)} checks of {named(family)} ran, and it takes half of them"
    yield from _declared_too_often(family, planned, outcomes)


def _declared_too_often(
    family: CheckFamily, planned: Iterable[CheckedItem], outcomes: Sequence[Outcome]
) -> Iterator[str]:
    places = {checked_item(each): each for each in outcomes if fails_as_declared(each)}
    for device in dict.fromkeys(place.device for place in places):
        number = sum(place.device == device for place in places)
        allowed = max(1, int(MAX_DECLARED * sum(place.device == device for place in planned)))
        if number > allowed:
            yield f"{number} checks of {named(family)} on {device} are declared to fail, and {allowed} may be"
    based = sorted({FUNCTION_OF.get(place.about, place.about) for place in places} & foundation())
    if based:
        yield f"{', '.join(based)}, on which other functions are built, is declared to fail in {named(family)}"


def _too_wide(level: int, capabilities: Capabilities) -> Iterator[str]:
    for name, (factor, _) in capabilities.tolerances.items():
        if factor > (allowed := ceiling(name, level)):
            yield f"the tolerance of {name} is widened {factor:g} times, and level {level} takes at most {allowed:g}"


def ceiling(name: str, level: int) -> float:
    """Return the largest factor that a level takes for the tolerance of a dtype or case."""
    by_dtype = CEILINGS[min(level, max(CEILINGS))]
    return by_dtype.get(name, min(by_dtype.values()))


def fails_as_declared(outcome: Outcome) -> bool:
    """Return whether an item is declared to fail, or needs a function that is declared wrong."""
    return outcome.state == "expected" or outcome.wrong


def named(family: CheckFamily) -> str:
    """Return a family for messages: ``H (second order)``."""
    return f"{family.letter} ({family.name})"
