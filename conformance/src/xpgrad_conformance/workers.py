"""Worker processes: a backend that crashes or hangs fails one check and does not stop the run."""

import mmap
import multiprocessing
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from xpgrad.plugin import Capabilities
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.generated.operations import OPERATIONS
from xpgrad_conformance.outcome import Outcome, outcome
from xpgrad_conformance.plan import Item, plan
from xpgrad_conformance.transformed import device_named

MAX_GROWTH = 2**30
"""Bytes by which a process may grow before it is replaced. Libraries that compile keep compiled code: jax, about 10 MB
for each item."""


@dataclass(frozen=True)
class Order:
    """The arguments from which every process makes the same plan, as plain data.

    Attributes
    ----------
    devices : tuple of str
    families, cases, operations : tuple of str or None
    quick : bool
    seed : int
    share : tuple of int or None
    """

    devices: tuple[str, ...]
    families: tuple[str, ...] | None
    cases: tuple[str, ...] | None
    quick: bool
    seed: int
    share: tuple[int, int] | None = None
    operations: tuple[str, ...] | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing is left out but by the profile."""
        return all(part is None for part in (self.families, self.cases, self.operations, self.share))

    def plan(self) -> list[Item]:
        """Return the plan, the same in every process."""
        devices = [device_named(name) for name in self.devices]
        chosen = CASES if self.cases is None else [case for case in CASES if case.name in self.cases]
        named = OPERATIONS if self.operations is None else [each for each in OPERATIONS if each.name in self.operations]
        return plan(devices, families=self.families, quick=self.quick, cases=chosen, operations=named, share=self.share)


def _serve(order: Order, capabilities: dict[str, Any], connection: Connection) -> None:
    items, given = order.plan(), Capabilities(**capabilities)
    start = _resident()
    while (number := connection.recv()) is not None:
        connection.send((outcome(items[number], given, seed=order.seed), _resident() - start))


def _resident() -> int:
    """Return the resident memory of this process in bytes; 0 if the system does not report it."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * mmap.PAGESIZE


class Worker:
    """One process, its current item, and the items that it runs next."""

    def __init__(self, order: Order, capabilities: Capabilities) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, there = context.Pipe()
        plain = {
            "missing": dict(capabilities.missing),
            "missing_on": {index: dict(facts) for index, facts in capabilities.missing_on.items()},
            "tolerances": dict(capabilities.tolerances),
            "expected": dict(capabilities.expected),
        }
        self.process = context.Process(target=_serve, args=(order, plain, there), daemon=True)
        self.process.start()
        there.close()
        self.number, self.since, self.grown = -1, 0.0, False
        self.group: deque[int] = deque()

    def give(self, number: int | None) -> None:
        """Send an item to the process; None ends it."""
        self.number, self.since = -1 if number is None else number, time.monotonic()
        self.connection.send(number)

    def stop(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def outcomes(
    order: Order, items: Sequence[Item], capabilities: Capabilities, jobs: int, timeout: float
) -> Iterator[Outcome]:
    """Yield the outcomes of a plan in the order in which they are finished.

    Parameters
    ----------
    order : Order
    items : sequence of Item
        The result of `order.plan()`.
    capabilities : Capabilities
    jobs : int
        Processes.
    timeout : float
        Seconds after which an item fails and its process is killed.
    """
    todo = deque(_groups(items))
    workers: list[Worker] = []

    def begin() -> None:
        if todo:
            workers.append(Worker(order, capabilities))
            proceed(workers[-1])

    def proceed(worker: Worker) -> None:
        if not worker.group and not worker.grown and todo:
            worker.group = todo.popleft()
        worker.give(worker.group.popleft() if worker.group else None)
        if worker.number < 0:
            worker.process.join()
            workers.remove(worker)
            begin()

    def lost(worker: Worker, reason: str) -> Outcome:
        worker.stop()
        workers.remove(worker)
        if worker.group:
            todo.appendleft(worker.group)
        begin()
        item = items[worker.number]
        return Outcome(item.id, item.check.id, item.device.name, "failed", reason, seed=order.seed, quick=item.quick)

    try:
        for _ in range(min(jobs, len(todo))):
            begin()
        while workers:
            ready = wait([worker.connection for worker in workers], timeout=1.0)
            for worker in list(workers):
                if worker.connection in ready:
                    try:
                        found, growth = worker.connection.recv()
                    except (EOFError, OSError):
                        worker.process.join()
                        yield lost(worker, f"the process died with exit code {worker.process.exitcode}")
                        continue
                    worker.grown = growth > MAX_GROWTH
                    proceed(worker)
                    yield found
                elif time.monotonic() - worker.since > timeout:
                    yield lost(worker, f"no answer within {timeout:g} s")
    finally:
        for worker in workers:
            worker.stop()


def _groups(items: Sequence[Item]) -> list[deque[int]]:
    """Return the numbers of items in groups for one process each: those of a case on one device stay together.

    Most checks of a case call the same functions on the same shapes, and a library may have to compile these once for
    each process: for jax, all takes a third of the time this way.
    """
    groups: dict[tuple[str, str], deque[int]] = {}
    for number, item in enumerate(items):
        groups.setdefault(item.group, deque()).append(number)
    return list(groups.values())
