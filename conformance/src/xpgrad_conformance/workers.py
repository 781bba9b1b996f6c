"""Worker processes: a backend that crashes or hangs fails one check and does not stop the run."""

import contextlib
import gc
import math
import mmap
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from xpgrad.plugin import Capabilities
from xpgrad_conformance import calling
from xpgrad_conformance.cases import CASES
from xpgrad_conformance.generated.operations import OPERATIONS
from xpgrad_conformance.order import Batch
from xpgrad_conformance.outcome import Outcome, expected_reason, outcome
from xpgrad_conformance.plan import Item, plan
from xpgrad_conformance.transformed import device_named

THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"
MAX_GROWTH = 2**30
"""Growth of a process in bytes after which it is replaced. Libraries that compile keep compiled code: jax, about 10 MB
for each item."""


@dataclass(frozen=True)
class Order:
    """The arguments from which every process makes the same plan, as plain data.

    Attributes
    ----------
    devices : tuple of str
    families, cases, operations : tuple of str or None
    quick, thin : bool
    seed : int
        Seed of checks with generated inputs.
    share : tuple of int or None
    chosen_seed : int
        Seed of the remaining checks.
    """

    devices: tuple[str, ...]
    families: tuple[str, ...] | None = None
    cases: tuple[str, ...] | None = None
    quick: bool = False
    seed: int = 0
    share: tuple[int, int] | None = None
    operations: tuple[str, ...] | None = None
    chosen_seed: int = 0
    thin: bool = False

    def seed_of(self, item: Item) -> int:
        """Return the seed of one item."""
        return self.seed if item.check.generated else self.chosen_seed

    @property
    def whole(self) -> bool:
        """Whether the run covers the whole suite, as limited by the profile."""
        return all(part is None for part in (self.families, self.cases, self.operations, self.share))

    def plan(self, capabilities: Capabilities) -> list[Item]:
        """Return the plan for a backend with these capabilities, the same in every process."""
        devices = [device_named(name) for name in self.devices]
        chosen = CASES if self.cases is None else [case for case in CASES if case.name in self.cases]
        named = OPERATIONS if self.operations is None else [each for each in OPERATIONS if each.name in self.operations]
        return plan(
            devices,
            families=self.families,
            quick=self.quick,
            thin=self.thin,
            cases=chosen,
            operations=named,
            share=self.share,
            capabilities=capabilities,
            chosen=bool(self.cases or self.operations),
        )


def _serve(order: Order, capabilities: dict[str, Any], connection: Connection, memory: Any) -> None:
    given = Capabilities(**capabilities)
    calling.share(memory)
    items = order.plan(given)
    start = _resident()
    gc.freeze()  # modules and the plan, which stay
    while (batch := connection.recv()) is not None:
        for number in batch:
            calling.note(b"")
            connection.send((outcome(items[number], given, seed=order.seed_of(items[number])), _resident() - start))


def _resident() -> int:
    """Return the resident memory of this process in bytes; 0 if the system does not report it."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * mmap.PAGESIZE


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Limit new processes to one thread for linear algebra, unless the user has set a number.

    There is a process for each core: threads of several would wait for each other.
    """
    added = {name: "1" for name in THREADS if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


class Worker:
    """A worker process and its batch of items; the first item is the current item."""

    def __init__(self, order: Order, capabilities: Capabilities) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, there = context.Pipe()
        self.calling = context.RawArray("c", calling.SIZE)
        arguments = order, capabilities.as_dict(), there, self.calling
        self.process = context.Process(target=_serve, args=arguments, daemon=True)
        with _one_thread():
            self.process.start()
        there.close()
        self.since, self.grown = 0.0, False
        self.batch: Batch = deque()

    def give(self, batch: Batch | None) -> None:
        """Send a batch of items to the process; None ends it."""
        self.batch, self.since = batch or deque(), time.monotonic()
        self.connection.send(batch)

    def stop(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.join()
        self.connection.close()


def outcomes(
    order: Order,
    items: Sequence[Item],
    batches: Iterable[Batch],
    capabilities: Capabilities,
    jobs: int,
    timeout: float,
    until: float = math.inf,
) -> Iterator[Outcome]:
    """Yield the outcomes of a plan in the order in which they are finished.

    Parameters
    ----------
    order : Order
    items : sequence of Item
        The result of `order.plan(capabilities)`.
    batches : iterable of Batch
        Numbers of the items to run, in order; the items of a batch run in one process.
    capabilities : Capabilities
    jobs : int
        Processes.
    timeout : float
        Seconds after which an item fails and its process is killed.
    until : float
        The time of `time.monotonic` at which to stop waiting.
    """
    running = Workers(order, items, batches, capabilities)
    try:
        for _ in range(min(jobs, len(running.todo))):
            running.begin()
        while running.workers and time.monotonic() < until:
            yield from running.received(timeout)
    finally:
        for worker in (*running.workers, *running.ending):
            worker.stop()


class Workers:
    """The worker processes of a run, and the batches that none of them has yet.

    Attributes
    ----------
    todo : deque of Batch
    workers : list of Worker
        The workers that have a batch.
    ending : list of Worker
        The workers that end, whose processes may still run.
    """

    def __init__(
        self, order: Order, items: Sequence[Item], batches: Iterable[Batch], capabilities: Capabilities
    ) -> None:
        self._order, self._items, self._capabilities = order, items, capabilities
        self.todo = deque(map(deque, batches))
        self.workers: list[Worker] = []
        self.ending: list[Worker] = []

    def begin(self) -> None:
        """Start a process if a batch is left."""
        if self.todo:
            self.workers.append(Worker(self._order, self._capabilities))
            self._proceed(self.workers[-1])

    def _proceed(self, worker: Worker) -> None:
        if worker.batch:
            worker.since = time.monotonic()
        elif self.todo and not worker.grown:
            worker.give(self.todo.popleft())
        else:
            worker.give(None)
            self.workers.remove(worker)
            self.ending.append(worker)
            self.begin()

    def received(self, timeout: float) -> Iterator[Outcome]:
        """Wait for a second at most, and yield the outcomes of items that have ended, crashed or taken too long."""
        ready = wait([worker.connection for worker in self.workers], timeout=1.0)
        for worker in list(self.workers):
            if worker.connection in ready:
                try:
                    found, growth = worker.connection.recv()
                except (EOFError, OSError):
                    worker.process.join()
                    yield self._lost(worker, f"the process died with {end_of(worker.process.exitcode)}")
                    continue
                worker.grown = growth > MAX_GROWTH
                worker.batch.popleft()
                self._proceed(worker)
                yield found
            elif time.monotonic() - worker.since > timeout:
                yield self._lost(worker, f"no answer within {timeout:g} s")

    def _lost(self, worker: Worker, reason: str) -> Outcome:
        """Return the outcome of an item whose process has crashed or hangs; another process takes its other items."""
        worker.stop()
        self.workers.remove(worker)
        number = worker.batch.popleft()
        if worker.batch:
            self.todo.appendleft(worker.batch)
        self.begin()
        item, reason = self._items[number], reason + calling.described(worker.calling)
        known = expected_reason(item, self._capabilities)
        state, why = ("failed", reason) if known is None else ("expected", f"{known} ({reason})")
        seconds = round(time.monotonic() - worker.since, 4)
        name, device, seed = item.check.id, item.device.name, self._order.seed_of(item)
        made = Outcome(item.id, name, device, state, why, seconds=seconds, seed=seed)
        return replace(made, quick=item.quick, thin=item.thin)


def end_of(code: int | None) -> str:
    """Return how a process ended: ``exit code 9``, ``SIGSEGV (segmentation fault)``."""
    if code is None or code >= 0:
        return f"exit code {code}"
    try:
        found = signal.Signals(-code)
    except ValueError:  # a signal that Python does not name, such as real-time signals
        return f"signal {-code}"
    return f"{found.name} ({(signal.strsignal(found) or 'unknown').lower()})"
