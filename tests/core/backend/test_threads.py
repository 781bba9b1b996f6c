"""Threads that share a loop."""

import contextvars
import gc
import os
import subprocess
import sys
import threading
import time
import weakref

import pytest
from tests.interrupts import interrupted
from tests.threads import at_once

from xpgrad.backend.threads import run_all, threads


@pytest.fixture(params=[1, 2, 5])
def number(request, monkeypatch):
    monkeypatch.setenv("XPGRAD_NUM_THREADS", str(request.param))
    return request.param


@pytest.fixture
def two(monkeypatch):
    monkeypatch.setenv("XPGRAD_NUM_THREADS", "2")


class Meeting:
    """A task in which two threads wait for each other, so that both certainly take part."""

    def __init__(self, task=None):
        self.barrier = threading.Barrier(2, timeout=30)
        self.task = task

    def __call__(self, first, last):
        if first < 2:
            self.barrier.wait()
        if self.task is not None:
            self.task(first, last)


def test_number_of_threads_follows_the_environment(monkeypatch):
    monkeypatch.setenv("XPGRAD_NUM_THREADS", "3")
    assert threads() == 3


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="there is no set of cores of a process here")
def test_number_of_threads_follows_the_cores_of_the_process(monkeypatch):
    monkeypatch.delenv("XPGRAD_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2, 5})
    assert threads() == 3


@pytest.mark.parametrize("text", ["0", "-1", "two", "1.5"])
def test_bad_number_of_threads_is_an_error(monkeypatch, text):
    monkeypatch.setenv("XPGRAD_NUM_THREADS", text)
    with pytest.raises(ValueError, match=f"XPGRAD_NUM_THREADS: expected a whole number from 1, got '{text}'"):
        run_all(lambda first, last: None, 10)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("step", [None, 1, 3, 100])
def test_ranges_cover_the_loop_once(number, count, step):
    taken = []
    run_all(lambda first, last: taken.append((first, last)), count, step)
    assert all(first < last for first, last in taken)
    assert sorted(i for first, last in taken for i in range(first, last)) == list(range(count))
    if step is not None:
        assert all(last - first == min(step, count - first) for first, last in taken)


def test_threads_take_part_at_the_same_time(two):
    taken = set()
    run_all(Meeting(lambda first, last: taken.add(threading.get_ident())), 2, 1)
    assert len(taken) == 2
    assert threading.get_ident() in taken


def test_one_thread_makes_no_other(monkeypatch):
    monkeypatch.setenv("XPGRAD_NUM_THREADS", "1")
    taken = set()
    before = set(threading.enumerate())
    run_all(lambda first, last: taken.add(threading.get_ident()), 100, 1)
    assert taken == {threading.get_ident()}
    assert set(threading.enumerate()) <= before


def test_threads_have_the_context_of_the_caller(two):
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(5)
    found = []

    def task(first, last):
        found.append(variable.get())
        variable.set(6)

    run_all(Meeting(task), 2, 1)
    assert 5 in found
    own = contextvars.copy_context()
    own.run(run_all, Meeting(lambda first, last: found.append(variable.get())), 2, 1)
    assert found[2:] == [variable.get()] * 2


def test_error_is_raised_when_all_have_ended(two):
    ended = []

    def task(first, last):
        if first == 0:
            raise OSError("the first")
        threading.Event().wait(0.05)
        ended.append(first)

    with pytest.raises(OSError, match="the first"):
        run_all(Meeting(task), 1000, 1)
    assert ended[0] == 1
    assert len(ended) < 900


def test_error_of_the_first_range_is_raised(two):
    def task(first, last):
        raise OSError(f"range {first}")

    with pytest.raises(OSError, match="range 0"):
        run_all(Meeting(task), 2, 1)


@pytest.mark.usefixtures("few_objects")
def test_task_is_dropped_at_the_end(two):
    class Held:
        pass

    held = Held()
    found = weakref.ref(held)

    def task(first, last, held=held):
        return held

    run_all(Meeting(task), 4, 1)
    del task, held
    run_all(Meeting(), 2, 1)  # the thread of the pool is at another loop
    gc.collect()
    assert found() is None


def test_loops_within_a_task_are_done_by_its_thread(two):
    taken = []

    def inner(first, last):
        taken.append(threading.get_ident())

    def task(first, last):
        before = len(taken) if first == 0 else None
        run_all(inner, 4, 1)
        outer.add(threading.get_ident())
        assert before is None or len(taken) >= before + 4

    outer = set()
    run_all(Meeting(task), 2, 1)
    assert sorted(taken) == sorted([*outer] * 4)


def test_two_concurrent_callers(two):
    def caller():
        found = []
        for _ in range(50):
            run_all(lambda first, last: found.append(sum(range(first, last))), 1000, 10)
        return sum(found)

    assert at_once(*[caller] * 4) == [50 * sum(range(1000))] * 4


PRELUDE = """
import os, threading
from xpgrad.backend.threads import run_all
barrier = threading.Barrier(2, timeout=30)
def task(first, last):
    if first < 2:
        barrier.wait()
run_all(task, 4, 1)
"""


def run_python(text):
    environment = {**os.environ, "XPGRAD_NUM_THREADS": "2"}
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PRELUDE + text], capture_output=True, text=True, env=environment,
        timeout=120,
    )  # fmt: skip


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forked processes here")
def test_forked_process_starts_separate_threads():
    found = run_python(
        "child = os.fork()\n"
        "run_all(task, 4, 1)\n"
        "if child:\n"
        "    print(os.waitpid(child, 0)[1])\n"
        "else:\n"
        "    os._exit(0)\n"
    )
    assert (found.returncode, found.stdout, found.stderr) == (0, "0\n", "")


def test_interpreter_ends_with_threads_at_work():
    found = run_python(
        "import time\n"
        "started = threading.Event()\n"
        "def slow(first, last):\n"
        "    started.set()\n"
        "    time.sleep(60)\n"
        "threading.Thread(target=run_all, args=(slow, 4, 1), daemon=True).start()\n"
        "started.wait()\n"
        "print('end')\n"
    )
    assert (found.returncode, found.stdout, found.stderr) == (0, "end\n", "")


def test_an_interrupt_at_any_place_returns_after_the_threads_have_ended(monkeypatch):
    monkeypatch.setenv("XPGRAD_NUM_THREADS", "3")
    running: set[int] = set()

    def task(first: int, last: int) -> None:
        running.add(first)
        time.sleep(0.002 if threading.current_thread() is threading.main_thread() else 0.01)
        running.discard(first)

    for _ in interrupted(lambda: run_all(task, 4, 1), "backend/threads.py", checked=True):
        assert not running
