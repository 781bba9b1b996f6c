"""Threads for the checks: started together, or kept in a context. A thread that hangs is a failure."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

COUNT = 8
TIMEOUT = 30.0
"""Seconds after which an unfinished thread counts as hung."""
SWITCH = 1e-5
"""Seconds after which another thread may go on: far fewer than usual, so that more orders of events occur."""


def run_concurrently(calls: list[Callable[[], Any]]) -> list[Any]:
    """Return the results of calls that run in one thread each, started together; raise the first exception.

    A thread that hangs is a failure; threads are daemons, so that the process can exit nevertheless.
    """
    return run_in_rounds([calls])[0]


def run_in_rounds(rounds: list[list[Callable[[], Any]]]) -> list[list[Any]]:
    """Return the results of rounds of calls; each thread makes one call per round, simultaneously.

    The first exception is raised after the last round. This starts fewer threads than `run_concurrently` in each round.
    """
    if not rounds:
        return []
    count = len(rounds[0])
    results: list[list[Any]] = [[None] * count for _ in rounds]
    errors: list[BaseException] = []
    # cheaper than a barrier, at which threads queue once more
    gates, done = ([threading.Lock() for _ in range(count)] for _ in range(2))
    for lock in (*gates, *done):
        lock.acquire()
    over = threading.Event()

    def run(i: int) -> None:
        for number, calls in enumerate(rounds):
            gates[i].acquire()
            if over.is_set():
                return
            try:
                results[number][i] = calls[i]()
            except BaseException as error:
                errors.append(error)
            done[i].release()

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for _ in rounds:
        for gate in gates:
            gate.release()
        if not all(lock.acquire(timeout=TIMEOUT) for lock in done):
            over.set()
            for gate in gates:  # so that threads leave that wait for the next round
                if gate.locked():
                    gate.release()
            break
    for thread in threads:
        thread.join(1.0)
    hanging = sum(thread.is_alive() for thread in threads)
    assert not hanging, f"{hanging} of {count} threads are not done after {TIMEOUT:.0f} s"
    if errors:
        raise errors[0]
    return results


def ignoring_exceptions(call: Callable[[], Any]) -> Callable[[], Any]:
    """Return a call that returns None where the given one raises an exception."""

    def called() -> Any:
        with contextlib.suppress(Exception):
            return call()
        return None

    return called


def in_another_thread(call: Callable[[], Any]) -> Any:
    """Return the result of a call in another thread."""
    return run_concurrently([call])[0]


@contextlib.contextmanager
def switching_often() -> Iterator[None]:
    """Let threads take turns more often within a block."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class Held:
    """A thread that stays in a context until it is released."""

    def __init__(self, enter: Callable[[], Any]) -> None:
        self._inside, self._leave = threading.Event(), threading.Event()
        self._errors: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, args=(enter,), daemon=True)

    def _run(self, enter: Callable[[], Any]) -> None:
        try:
            with enter():
                self._inside.set()
                self._leave.wait(TIMEOUT)
        except BaseException as error:
            self._errors.append(error)
            self._inside.set()

    def __enter__(self) -> None:
        self._thread.start()
        assert self._inside.wait(TIMEOUT), f"a thread has not entered its context after {TIMEOUT:.0f} s"

    def __exit__(self, *_: object) -> None:
        self._leave.set()
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive(), f"a thread has not left its context after {TIMEOUT:.0f} s"
        for error in self._errors:
            raise error
