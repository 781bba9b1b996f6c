"""The suite tested by faults: every fault must be killed by each of its families, every check must kill one."""

import multiprocessing
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from xpgrad.testing.cases import CASES
from xpgrad.testing.conformance.check import FAMILIES
from xpgrad.testing.conformance.checks import CHECKS
from xpgrad.testing.conformance.faults import FAULTS, FREEDOMS, Fault, Freedom
from xpgrad.testing.conformance.faults.bed import Bed
from xpgrad.testing.conformance.outcome import outcome
from xpgrad.testing.conformance.plan import Item, plan

EVERY = 10  # of the cases of the table, one in so many runs on a backend that uses its freedoms


class Kills(NamedTuple):
    """What the checks said of one fault, or of one freedom: the names of those that failed, with the first reason."""

    id: str
    failed: dict[str, str]


class Verdict(NamedTuple):
    """What a self-test found.

    Attributes
    ----------
    kills : tuple of Kills
        One for each fault.
    survivors : tuple of (fault, family)
        Families that should have killed a fault and did not.
    idle : tuple of str
        Checks that killed nothing.
    alarms : tuple of (freedom, check, reason)
        Checks that failed on a correct backend.
    """

    kills: tuple[Kills, ...]
    survivors: tuple[tuple[str, str], ...]
    idle: tuple[str, ...]
    alarms: tuple[tuple[str, str, str], ...]

    @property
    def passed(self) -> bool:
        """Whether the suite can be trusted."""
        return not (self.survivors or self.idle or self.alarms)


def self_test(
    *,
    without: Collection[str] = (),
    faults: Sequence[Fault] = FAULTS,
    freedoms: Sequence[Freedom] = FREEDOMS,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda name: None,
) -> Verdict:
    """Return what the suite says of every fault and of every freedom.

    Parameters
    ----------
    without : collection of str
        Letters of families that are left out, to show that each is needed.
    faults, freedoms : sequences
        By default all.
    jobs : int
        Processes.
    progress : callable
        Gets the name of each fault and freedom when it is done.
    """
    tasks = [(fault.id, tuple(without)) for fault in faults], [(each.id, tuple(without)) for each in freedoms]
    kills, free = [], []
    for found in _mapped(_on_fault, tasks[0], jobs):
        kills.append(found)
        progress(found.id)
    for found in _mapped(_on_freedom, tasks[1], jobs):
        free.append(found)
        progress(found.id)
    survivors = [
        (fault.id, letter)
        for fault, found in zip(faults, kills, strict=True)
        for letter in fault.families
        if not any(name.startswith(letter) for name in found.failed)
    ]
    used = {name for found in kills for name in found.failed}
    all_faults = len(faults) == len(FAULTS)
    idle = [c.id for c in CHECKS if c.id not in used and c.family.letter not in without] if all_faults else []
    alarms = [(found.id, name, reason) for found in free for name, reason in found.failed.items()]
    return Verdict(tuple(kills), tuple(survivors), tuple(idle), tuple(alarms))


def _mapped(
    function: Callable[[tuple[str, tuple[str, ...]]], Kills], tasks: list[tuple[str, tuple[str, ...]]], jobs: int
) -> Iterator[Kills]:
    if jobs <= 1 or len(tasks) < 2:
        yield from map(function, tasks)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(function, tasks)


def _on_fault(task: tuple[str, tuple[str, ...]]) -> Kills:
    fault = next(each for each in FAULTS if each.id == task[0])
    bed = Bed(lazy=fault.lazy)
    fault.plant(bed)
    families = [letter for letter in fault.families if letter not in task[1]]
    cases = [case for case in CASES if case.name in fault.cases]
    return _killed(fault.id, bed, lambda devices: plan(devices, families=families, cases=cases))


def _on_freedom(task: tuple[str, tuple[str, ...]]) -> Kills:
    freedom = next(each for each in FREEDOMS if each.id == task[0])
    bed = Bed(lazy=freedom.lazy)
    freedom.plant(bed)
    families = [family.letter for family in FAMILIES if family.letter not in task[1]]
    return _killed(freedom.id, bed, lambda devices: plan(devices[1:2], families=families, cases=CASES[::EVERY]))


def _killed(id: str, bed: Bed, planned: Callable[..., Iterable[Item]]) -> Kills:
    failed: dict[str, str] = {}
    try:
        devices = bed.devices()
        for item in planned(devices[1:2] + devices[:1]):
            if item.check.id not in failed:
                found = outcome(item, bed.backend.capabilities)
                if found.state == "failed":
                    failed[item.check.id] = f"{found.id}: {found.reason}"
    except Exception as error:  # a backend so wrong that xpgrad refuses it: the family "load" kills it
        failed["L00"] = f"{type(error).__name__}: {error}"
    return Kills(id, failed)
