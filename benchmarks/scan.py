"""SCAN: peak memory and time of the gradient of a loop of 10^5 steps: plain, `scan`, and compiled `scan`.

Memory is the peak measured by tracemalloc, without the inputs. It includes NumPy's arrays, which NumPy reports, and
Python objects.
"""

import gc
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import xpgrad
from benchmarks.harness import Report, Row, Workload, judge
from xpgrad import array_api as xp
from xpgrad.transforms import scan, value_and_grad

STEPS, QUICK_STEPS, WIDTH = 100_000, 10_000, 16
LIMITS = {"peak": "0.05", "time": "1.7"}


def step(w: Any, c: Any, x: Any) -> Any:
    """The body, with few operations on small arrays, so that the cost of the loop dominates."""
    return xp.tanh(w * c + x)


def plain(w: Any, c: Any, xs: Any) -> Any:
    """The loop in Python, whose graph keeps all steps."""
    for x in xs:
        c = step(w, c, x)
    return xp.sum(c)


def looped(w: Any, c: Any, xs: Any) -> Any:
    """The same by `scan`."""
    return xp.sum(scan(lambda c, x: (step(w, c, x), None), c, xs)[0])


def _inputs(steps: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    return np.full(WIDTH, 0.5), np.zeros(WIDTH), rng.standard_normal((steps, WIDTH))


def _ways(steps: int) -> dict[str, Callable[[], Any]]:
    w, c, xs = _inputs(steps)
    in_python = value_and_grad(lambda w, c: plain(w, c, xs), (0, 1))
    by_scan = value_and_grad(lambda w, c: looped(w, c, xs), (0, 1))
    compiled = xpgrad.compile(value_and_grad(looped, (0, 1)))
    return {
        "plain": lambda: in_python(w, c),
        "scan": lambda: by_scan(w, c),
        "compiled scan": lambda: compiled(w, c, xs),
    }


def _peak(run: Callable[[], Any]) -> float:
    gc.collect()
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def _seconds(run: Callable[[], Any], times: int) -> float:
    found = []
    for _ in range(times):
        gc.collect()
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def measure(report: Report, quick: bool) -> None:
    """Add peaks and times of all ways, and their ratios to the plain loop."""
    steps = QUICK_STEPS if quick else STEPS
    ways = _ways(steps)
    results = {name: [run() for _ in range(3 if name == "compiled scan" else 1)][-1] for name, run in ways.items()}
    for value, gradients in results.values():
        for found, known in zip((value, *gradients), (results["plain"][0], *results["plain"][1]), strict=True):
            np.testing.assert_allclose(found, known, rtol=1e-6, atol=1e-9)
    peaks = {name: _peak(run) for name, run in ways.items()}
    times = {name: 1e3 * _seconds(run, 3) for name, run in ways.items()}
    for what, unit, measured in (("peak", "MiB", peaks), ("time", "ms", times)):
        report.rows += [Row(f"{what}, {name}", "xpgrad", unit, value, value) for name, value in measured.items()]
        for name in ("scan", "compiled scan"):
            value = measured[name] / measured["plain"]
            ratio = Row(f"{what}, {name} / plain", "xpgrad", "ratio", value, value)
            judge([ratio], {"xpgrad": (LIMITS[what],)})
            report.rows.append(ratio)


WORKLOADS = {
    "SCAN": Workload(
        f"recurrence of {STEPS:,} steps (a tenth in quick runs), width {WIDTH}, float64: gradients by the plain loop, "
        "by scan, and by a compiled scan",
        finish=measure,
    ),
}
