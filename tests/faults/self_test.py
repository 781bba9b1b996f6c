"""Self-test of the suite with faults: each family of a fault must kill it, and every check must kill a fault."""

import itertools
import multiprocessing
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from tests.faults import FAULTS, FREEDOMS, Fault, Freedom
from tests.faults.testbed import Testbed, numbered

from xpgrad import Device
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.check import FAMILIES, Check
from xpgrad_conformance.checks import CHECKS
from xpgrad_conformance.generated.operation import Operation
from xpgrad_conformance.generated.operations import OPERATIONS
from xpgrad_conformance.outcome import outcome
from xpgrad_conformance.plan import Item, plan
from xpgrad_conformance.probes import mismatches
from xpgrad_conformance.table.case import Case

PROFILES = "quick", "quick", "quick", "full", "full"  # profiles in which checks draw inputs until a fault is killed
EVERY = 10  # only every tenth case of the table runs on a backend that uses its freedoms
MODES = 8  # in all modes of derivatives, which takes most of the time, an eighth of these, different for the next one
ALL_MODES = "H11", "H12"
OTHERS = 30  # and every thirtieth operation, with a different selection for the next backend: together they run all
PIECES = 2  # a correct backend takes as long as twenty faults: two processes run a half each


class Kills(NamedTuple):
    """The result of the checks for one fault or freedom: the names of failed checks, with the first reason."""

    id: str
    failed: dict[str, str]


class Task(NamedTuple):
    """The work of one process at a time, as plain data.

    Attributes
    ----------
    id : str
        A fault, a freedom, or a check without a known fault.
    without : tuple of str
        Letters of families that are left out.
    faults : tuple of str
        For a check: the faults among which it should kill at least one.
    piece : int or None
        For a freedom: which of its pieces.
    """

    id: str
    without: tuple[str, ...]
    faults: tuple[str, ...] = ()
    piece: int | None = None


class Verdict(NamedTuple):
    """The result of a self-test.

    Attributes
    ----------
    kills : tuple of Kills
        One for each fault.
    survivors : tuple of (fault, family)
        Families that did not kill a fault as they should.
    idle : tuple of str
        Checks that killed no fault.
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
    idle: bool = True,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda name: None,
) -> Verdict:
    """Return the verdict of the suite on every fault and every freedom.

    Parameters
    ----------
    without : collection of str
        Letters of families that are left out, to show that each is needed.
    faults, freedoms : sequences
        By default all.
    idle : bool
        Whether each check of their families must kill at least one of these faults.
    jobs : int
        Processes.
    progress : callable
        Gets the name of each fault and freedom when it is done.
    """
    left_out = tuple(without)
    tasks = [Task(each.id, left_out, piece=piece) for each in freedoms for piece in range(PIECES)]
    tasks += [Task(fault.id, left_out) for fault in faults]  # the shorter ones last, for processes that end together
    results = []
    for task, result in zip(tasks, _mapped(_on_one, tasks, jobs), strict=True):
        results.append(result)
        if task.piece in (None, PIECES - 1):
            progress(task.id)
    free, kills = results[: PIECES * len(freedoms)], results[PIECES * len(freedoms) :]
    survivors = [
        (fault.id, letter)
        for fault, found in zip(faults, kills, strict=True)
        for letter in fault.families
        if not any(name.startswith(letter) for name in found.failed)
    ]
    used = {name for found in kills for name in found.failed}
    wanted = {letter for fault in faults for letter in fault.families} - set(without)
    names = tuple(fault.id for fault in faults)
    unused = [check.id for check in CHECKS if idle and check.id not in used and check.family.letter in wanted]
    tried = _mapped(_of_check, [Task(id, left_out, names) for id in unused], jobs)
    killed_nothing = tuple(found.id for found in tried if not found.failed)
    alarms = [(found.id, name, reason) for found in free for name, reason in found.failed.items()]
    return Verdict(tuple(kills), tuple(survivors), killed_nothing, tuple(alarms))


def _mapped(function: Callable[[Task], Kills], tasks: list[Task], jobs: int) -> Iterator[Kills]:
    if jobs <= 1 or len(tasks) < 2:
        yield from map(function, tasks)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(function, tasks)


def _on_one(task: Task) -> Kills:
    return _on_fault(task) if task.piece is None else _on_freedom(task)


def _on_fault(task: Task) -> Kills:
    """Run the families of a fault until each has killed it; retry on another testbed with other random numbers.

    The first attempts draw as many inputs as the quick profile, which is faster; those after them as many as the full.
    """
    fault, failed = _fault(task.id), dict[str, str]()
    for profile in PROFILES:
        killed = {name[0] for name in failed}
        letters = [letter for letter in fault.families if letter not in task.without and letter not in killed]
        if letters:
            failed |= _killed(fault, letters, quick=profile == "quick").failed
    return Kills(fault.id, failed)


def _of_check(task: Task) -> Kills:
    """Run one check on the faults of its family until it kills a fault."""
    for id in task.faults:
        fault = _fault(id)
        if task.id[0] in fault.families:
            found = _killed(fault, task.id[0], [check for check in CHECKS if check.id == task.id])
            if found.failed:
                return Kills(task.id, {fault.id: found.failed[task.id]})
    return Kills(task.id, {})


def _fault(id: str) -> Fault:
    return next(fault for fault in FAULTS if fault.id == id)


def _killed(fault: Fault, families: Iterable[str], checks: Sequence[Check] = CHECKS, *, quick: bool = True) -> Kills:
    failed: dict[str, str] = {}
    try:
        bed = Testbed(lazy=fault.lazy, name=numbered(fault.id))
        fault.plant(bed)
        devices = bed.devices()
        cases = [case for case in CASES if case.name in fault.cases]
        operations = [operation for operation in OPERATIONS if operation.name in fault.operations]
        for item in _planned(devices[1:2] + devices[:1], families, cases, operations, checks, quick=quick):
            if not any(name[0] == item.check.id[0] for name in failed):
                failed |= _failure(item, bed)
    except Exception as error:  # a backend so wrong that xpgrad refuses it: the family "load" kills it
        failed["L00"] = f"{type(error).__name__}: {error}"
    return Kills(fault.id, failed)


def _on_freedom(task: Task) -> Kills:
    """Run a piece of every family on a correct backend, and compare its declaration with the probes."""
    number, freedom = next((i, each) for i, each in enumerate(FREEDOMS) if each.id == task.id)
    bed = Testbed(lazy=freedom.lazy, name=numbered(freedom.id))
    freedom.plant(bed)
    families = [family.letter for family in FAMILIES if family.letter not in task.without]
    devices = bed.devices()[1:2] or bed.devices()
    failed = {f"declaration of {each.fact}": str(each) for each in mismatches(devices, bed.backend.capabilities)}
    cases = CASES[::EVERY]
    in_modes = {case.name for case in cases[number % MODES :: MODES]}
    planned = _planned(devices, families, cases, OPERATIONS[number % OTHERS :: OTHERS])
    for item in itertools.islice(planned, task.piece, None, PIECES):
        if item.check.id not in ALL_MODES or item.case is None or item.case.name in in_modes:
            failed |= _failure(item, bed)
    return Kills(freedom.id, failed)


def _planned(
    devices: Sequence[Device],
    families: Iterable[str],
    cases: Sequence[Case],
    operations: Sequence[Operation],
    checks: Sequence[Check] = CHECKS,
    *,
    quick: bool = True,
) -> Iterator[Item]:
    """Yield the items of the full profile; with `quick`, generated checks draw as many inputs as in quick."""
    for item in plan(devices, families=families, cases=cases, operations=operations, checks=checks):
        if item.operation is None or item.check.every or item.dtype in item.operation.quick:
            yield item if item.case is not None else item._replace(quick=quick)


def _failure(item: Item, bed: Testbed) -> dict[str, str]:
    found = outcome(item, bed.backend.capabilities)
    return {item.check.id: f"{found.id}: {found.reason}"} if found.state == "failed" else {}
