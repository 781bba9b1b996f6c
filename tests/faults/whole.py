"""The whole suite on seeded faults: each fault in a separate process, up to the first check that kills it."""

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import NamedTuple

from tests.faults.fault import Fault
from tests.faults.testbed import Testbed, numbered

from xpgrad_conformance.outcome import outcome
from xpgrad_conformance.plan import Item, plan

TIMEOUT = 900.0  # seconds after which a check of a fault counts as hung
CLEAN = Fault("", "nothing is wrong", "", lambda bed: None)


class Kill(NamedTuple):
    """The result of the whole suite for one fault.

    Attributes
    ----------
    id : str
        The fault.
    check : str
        The item that failed first; empty if the fault survives.
    reason : str
        Of that failure.
    seconds : float
        From the planting of the fault on.
    """

    id: str
    check: str
    reason: str
    seconds: float


class Baseline(NamedTuple):
    """Measurements of a run on a correct backend.

    Attributes
    ----------
    seconds : dict
        Duration of each item, by the item's id.
    alarms : dict
        Reasons of failures, by id: false alarms, which kill no fault.
    """

    seconds: dict[str, float]
    alarms: dict[str, str]


def baseline(*, quick: bool, seed: int = 0) -> Baseline:
    """Return the result of a profile on a correct backend, from a run in another process."""
    process, receiver = _started(CLEAN, quick, seed, None)
    found: Baseline = receiver.recv()
    process.join()
    return found


def whole(
    faults: Sequence[Fault], measured: Baseline, *, quick: bool, jobs: int = 1, seed: int = 0, timeout: float = TIMEOUT
) -> Iterator[Kill]:
    """Yield the result of a profile for each fault, in the order of completion.

    Parameters
    ----------
    faults : sequence of Fault
    measured : Baseline
        Of the same profile: cheap items run first, after those about first uses.
    quick : bool
        Use the quick profile instead of the full profile.
    jobs : int
        Faults at a time, each in one process.
    seed : int
        Seed of all random numbers of the checks.
    timeout : float
        Seconds after which a fault counts as killed by a hang.
    """
    left = list(faults)
    running: dict[Connection, tuple[Fault, ForkProcess, float]] = {}
    while left or running:
        while left and len(running) < jobs:
            fault = left.pop(0)
            process, receiver = _started(fault, quick, seed, measured)
            running[receiver] = fault, process, time.monotonic()
        ready = wait(list(running), 1.0)
        for receiver, (fault, process, started) in list(running.items()):
            seconds = time.monotonic() - started
            if receiver in ready:
                yield _received(receiver, fault, process, seconds)
            elif seconds > timeout:
                process.kill()
                yield Kill(fault.id, "hang", f"it did not end within {timeout:g} seconds", seconds)
            else:
                continue
            process.join()
            del running[receiver]


def _received(receiver: Connection, fault: Fault, process: ForkProcess, seconds: float) -> Kill:
    try:
        found: Kill = receiver.recv()
    except EOFError:
        process.join()
        return Kill(fault.id, "crash", f"the process ended with {process.exitcode}", seconds)
    return found


def _started(fault: Fault, quick: bool, seed: int, measured: Baseline | None) -> tuple[ForkProcess, Connection]:
    """Start the suite on a fault in a process that has all modules loaded; return it and its output channel."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sender, fault, quick, seed, measured))
    process.start()
    sender.close()
    return process, receiver


def _run(sender: Connection, fault: Fault, quick: bool, seed: int, measured: Baseline | None) -> None:
    sender.send(_measured(quick, seed) if measured is None else _killed(fault, quick, seed, measured))
    sender.close()


def _planned(fault: Fault, quick: bool) -> tuple[Testbed, list[Item]]:
    """Plant a fault; return its bed, and the items of a profile on one of its devices."""
    bed = Testbed(lazy=fault.lazy, name=numbered(fault.id or "bed"))
    fault.plant(bed)
    return bed, plan(bed.devices()[1:2], quick=quick)


def _measured(quick: bool, seed: int) -> Baseline:
    bed, items = _planned(CLEAN, quick)
    found = [(_key(item), outcome(item, bed.backend.capabilities, seed=seed)) for item in items]
    alarms = {key: each.reason for key, each in found if each.state == "failed"}
    return Baseline({key: each.seconds for key, each in found}, alarms)


def _killed(fault: Fault, quick: bool, seed: int, measured: Baseline) -> Kill:
    started = time.monotonic()
    try:
        bed, items = _planned(fault, quick)
        for item in sorted(items, key=lambda item: (not item.check.early, measured.seconds.get(_key(item), 0.0))):
            found = outcome(item, bed.backend.capabilities, seed=seed)
            if found.state == "failed" and _key(item) not in measured.alarms:
                return Kill(fault.id, found.id, found.reason, time.monotonic() - started)
    except Exception as error:  # a backend so wrong that xpgrad refuses it
        return Kill(fault.id, "load", f"{type(error).__name__}: {error}", time.monotonic() - started)
    return Kill(fault.id, "", "", time.monotonic() - started)


def _key(item: Item) -> str:
    """Return the id of an item without the name of its backend, which differs from bed to bed."""
    return f"{item.id.rpartition('@')[0]}{item.device.name.rpartition(':')[2]}"
