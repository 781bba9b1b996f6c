"""CHECKPOINT: a gated recurrence of 200 steps, plain and in checkpointed segments: peak memory and time.

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
from xpgrad.transforms import checkpoint

STEPS, SEGMENT, BATCH, WIDTH = 200, 10, 64, 128
LIMIT = "0.25"

Step = Callable[[Any], Any]


def _inputs() -> list[Any]:
    rng = np.random.default_rng(0)
    weights = [rng.standard_normal((WIDTH, WIDTH), np.float32) / np.float32(WIDTH**0.5) for _ in range(2)]
    return [*weights, rng.standard_normal((BATCH, WIDTH), np.float32)]


def _segment(h: Any, w: Any, u: Any, steps: int) -> Any:
    xp = h.__array_namespace__()
    for _ in range(steps):
        z = xpgrad.functions.sigmoid(xp.matmul(h, w))
        h = (1 - z) * h + z * xp.tanh(xp.matmul(h, u))
    return h


def run(segment: int | None, steps: int = STEPS) -> tuple[Any, ...]:
    """Gradients of the recurrence by weights and start, in segments of so many steps, or plainly."""
    w, u, h = start = [xpgrad.Variable(a) for a in _inputs()]
    if segment is None:
        h = _segment(h, w, u, steps)
    else:
        for _ in range(steps // segment):
            h = checkpoint(_segment)(h, w, u, segment)
    (h * h).sum().backward(retain_graph=False)
    return tuple(x.grad for x in start)


def _peak(segment: int | None) -> float:
    run(segment)
    gc.collect()
    tracemalloc.start()
    run(segment)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def _seconds(segment: int | None, times: int) -> float:
    found = []
    for _ in range(times):
        gc.collect()
        start = time.process_time()
        run(segment)
        found.append(time.process_time() - start)
    return min(found)


def measure(report: Report, quick: bool) -> None:
    """Add peaks and times of both, and their ratios."""
    for plain, again in zip(run(None), run(SEGMENT), strict=True):
        # Weights' gradients are summed by segments, so they differ by rounding.
        np.testing.assert_allclose(again, plain, rtol=0, atol=1e-5 * float(np.max(np.abs(plain))))
    ways = {"plain": None, f"checkpoint of {SEGMENT} steps": SEGMENT}
    for unit, measured in (
        ("MiB", {name: _peak(segment) for name, segment in ways.items()}),
        ("ms", {name: 1e3 * _seconds(segment, 3 if quick else 20) for name, segment in ways.items()}),
    ):
        what = "peak" if unit == "MiB" else "time"
        report.rows += [Row(f"{what}, {name}", "xpgrad", unit, value, value) for name, value in measured.items()]
        plain, checkpointed = measured.values()
        ratio = Row(f"{what}, checkpoint / plain", "xpgrad", "ratio", checkpointed / plain, checkpointed / plain)
        judge([ratio], {"xpgrad": (LIMIT,)} if unit == "MiB" else {})
        report.rows.append(ratio)


WORKLOADS = {
    "CHECKPOINT": Workload(
        f"gated recurrence of {STEPS} steps, batch {BATCH}, width {WIDTH}, float32: gradients kept or computed again",
        finish=measure,
    ),
}
