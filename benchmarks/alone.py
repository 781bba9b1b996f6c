"""Measurements in separate processes: the time of a call, and its peak memory.

The peak is the growth of the resident set during a call, after some warm-up calls. It covers the allocators of all
libraries, unlike `tracemalloc`. The time of a call in a separate process includes page faults, as in users' programs.
"""

import ctypes
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers import threads

SHORTEST_ROUND = 0.001


def probed(module: str, arguments: list[str], name: str, report: Any, cores: int | None = None) -> list[Any]:
    """Return the JSON output of a module run in a separate process; on failure an empty list, and add a note."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent.parent,
        env=os.environ | ({} if cores is None else threads(cores)),
    )
    if done.returncode == 0:
        return [json.loads(done.stdout.splitlines()[-1])]
    last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    if last.startswith(("ModuleNotFoundError", "ImportError")):
        report.notes.append(f"{name} skipped: {last.partition(': ')[2]}")
        report.failed |= name == "xpgrad"
    else:
        report.notes.append(f"{' '.join([module, *arguments])} FAILED: {last}")
        report.failed = True
    return []


def status(name: str) -> int | None:
    """Return an entry of this process's status in bytes, such as VmRSS and VmHWM, or None if unavailable."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
    except (OSError, StopIteration):
        return None


def trim() -> None:
    """Make the C library return freed memory to the system, if it supports this."""
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)


def peak(run: Callable[[], Any]) -> int | None:
    """Return the peak growth of the resident set in bytes during a call, or None if the system does not report it."""
    gc.collect()
    trim()
    try:
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak to the resident set
    except OSError:
        return None
    before = status("VmRSS")
    run()
    after = status("VmHWM")
    return None if before is None or after is None else max(0, after - before)


def fastest(run: Callable[[], Any], seconds: float, clock: Callable[[], float], rounds: int = 3) -> float:
    """Return the minimum time of a call in seconds, from repetitions for at least this time and number of rounds.

    A round has many calls if a call is short compared with reading the clock.
    """
    start = clock()
    run()
    calls = max(1, round(SHORTEST_ROUND / max(clock() - start, 1e-9)))
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < rounds or time.perf_counter() < end:
        gc.collect()
        start = clock()
        for _ in range(calls):
            run()
        times.append((clock() - start) / calls)
    return min(times)


def available() -> float:
    """Return the bytes of memory that the system could give to a process now."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        return 4e9
