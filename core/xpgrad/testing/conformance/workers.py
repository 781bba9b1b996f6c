"""Processes that run items of a plan, so that a backend which crashes or hangs fails one check and stops no run."""

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from xpgrad.backend.capabilities import Capabilities
from xpgrad.backend.device import get_device
from xpgrad.testing.cases import CASES
from xpgrad.testing.conformance.outcome import Outcome, outcome
from xpgrad.testing.conformance.plan import Item, plan

MOST_ITEMS = 250
"""Items after which a process is followed by a new one. A library that compiles keeps what it has compiled: jax, some 15 MB
for each item."""


@dataclass(frozen=True)
class Order:
    """What a process needs to make the same plan: everything is plain data.

    Attributes
    ----------
    devices : tuple of str
    families, cases : tuple of str or None
    quick : bool
    seed : int
    """

    devices: tuple[str, ...]
    families: tuple[str, ...] | None
    cases: tuple[str, ...] | None
    quick: bool
    seed: int

    def plan(self) -> list[Item]:
        """Return the plan, the same in every process."""
        devices = [get_device(name) for name in self.devices]
        chosen = CASES if self.cases is None else [case for case in CASES if case.name in self.cases]
        return plan(devices, families=self.families, quick=self.quick, cases=chosen)


def _serve(order: Order, capabilities: dict[str, Any], connection: Connection) -> None:
    items, given = order.plan(), Capabilities(**capabilities)
    while (number := connection.recv()) is not None:
        connection.send(outcome(items[number], given, seed=order.seed))


class Worker:
    """One process, and the item that it works on."""

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
        self.number, self.since, self.left = -1, 0.0, MOST_ITEMS

    def give(self, number: int | None) -> None:
        """Let the process run an item; None ends it."""
        self.number, self.since = -1 if number is None else number, time.monotonic()
        self.left -= 1
        self.connection.send(number)

    def stop(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def outcomes(
    order: Order, items: Sequence[Item], capabilities: Capabilities, jobs: int, timeout: float
) -> Iterator[Outcome]:
    """Yield the outcomes of a plan in the order in which they arrive.

    Parameters
    ----------
    order : Order
    items : sequence of Item
        What `order.plan()` gives.
    capabilities : Capabilities
    jobs : int
        Processes.
    timeout : float
        Seconds without an answer after which an item has failed, and its process is ended.
    """
    todo = iter(range(len(items)))
    workers: list[Worker] = []

    def begin() -> None:
        number = next(todo, None)
        if number is not None:
            workers.append(Worker(order, capabilities))
            workers[-1].give(number)

    def lost(worker: Worker, reason: str) -> Outcome:
        worker.stop()
        workers.remove(worker)
        begin()
        item = items[worker.number]
        return Outcome(item.id, item.check.id, item.device.name, "failed", reason, seed=order.seed, quick=item.quick)

    try:
        for _ in range(min(jobs, len(items))):
            begin()
        while workers:
            ready = wait([worker.connection for worker in workers], timeout=1.0)
            for worker in list(workers):
                if worker.connection in ready:
                    try:
                        found = worker.connection.recv()
                    except (EOFError, OSError):
                        worker.process.join()
                        yield lost(worker, f"the process died with exit code {worker.process.exitcode}")
                        continue
                    number = next(todo, None) if worker.left else None
                    worker.give(number)
                    if number is None:
                        worker.process.join()
                        workers.remove(worker)
                        begin()
                    yield found
                elif time.monotonic() - worker.since > timeout:
                    yield lost(worker, f"no answer within {timeout:g} s")
    finally:
        for worker in workers:
            worker.stop()
