"""COMPILE: what a compiled function costs: tracing, making the program, a call of it, and memory.

Times are minima of CPU time. Memory is what tracemalloc sees, to which NumPy reports its arrays.
"""

import gc
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

import xpgrad
import xpgrad.functions as F
from benchmarks import chain, mlp
from benchmarks.harness import Report, Row, Workload
from xpgrad.transforms import value_and_grad
from xpgrad.transforms.trace.executors import executor_for
from xpgrad.transforms.trace.executors.python import python_executor

LEAVES = 1, 101
STEPS = 10_000
KEPT_BYTES = 16_384  # what caches of a few entries may take


def _chain(x: Any) -> Any:
    y = x
    for _ in range(chain.PAIRS):
        y = y * chain.A
        y = y + chain.B
    return xpgrad.array_api.sum(y)


def _loss(parameters: Any, x: Any, t: Any) -> Any:
    w1, b1, w2, b2, w3, b3 = parameters
    h = F.relu(F.linear(x, w1, b1))
    h = F.relu(F.linear(h, w2, b2))
    return F.softmax_cross_entropy(F.linear(h, w3, b3), t)


def _perceptron(batch: int) -> tuple[Any, ...]:
    data = mlp.inputs(batch)
    return tuple(data[name] for name in mlp.NAMES), data["x"], data["t"]


def _cases() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]:
    return {
        "P1 (64,)": (value_and_grad(_chain), (np.ones(64),)),
        "P3 batch 64": (value_and_grad(_loss), _perceptron(64)),
    }


def _seconds(run: Callable[[], Any], times: int) -> float:
    found = []
    for _ in range(times):
        gc.collect()
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def _many(run: Callable[[], Any], times: int, count: int = 1000) -> float:
    """Seconds of one call of a fast function."""

    def repeated() -> None:
        for _ in range(count):
            run()

    return _seconds(repeated, times) / count


def _row(report: Report, case: str, unit: str, value: float, limit: float) -> None:
    report.rows.append(Row(case, "xpgrad compiled", unit, value, value, verdicts={f"{limit:.4g}": value <= limit}))


def measure_making(report: Report, times: int) -> None:
    """Add the first call in eager calls, and the time of passes, source and compiling for each call of the program."""
    for name, (f, args) in _cases().items():
        eager = _seconds(lambda f=f, args=args: f(*args), times)  # type: ignore[misc]  # the defaults have the types
        first = _seconds(lambda f=f, args=args: xpgrad.compile(f)(*args), times)  # type: ignore[misc]
        _row(report, f"first call / eager call, {name}", "ratio", first / eager, 3)
        step = xpgrad.compile(f)
        step(*args)

        def made(step: Any = step, args: tuple[Any, ...] = args) -> int:
            program = step.program(*args)
            executor_for(program, program.backend)
            return len(program.calls)

        count = made()
        _row(report, f"passes and source, {name}", "ms/call", 1e3 * _seconds(made, times) / count, 0.3)


def measure_calls(report: Report, times: int) -> None:
    """Add what a call costs above the generated function."""
    for leaves in LEAVES:
        arrays = [np.ones(3) for _ in range(leaves)]
        step = xpgrad.compile(lambda arrays: -arrays[0])
        for _ in range(3):
            step(arrays)
        run = python_executor(step.program(arrays))
        whole = _many(lambda step=step, arrays=arrays: step(arrays), times)  # type: ignore[misc]
        bare = _many(lambda run=run, arrays=arrays: run(*arrays), times)  # type: ignore[misc]
        name = f"a call above its function, {leaves} {'leaf' if leaves == 1 else 'leaves'}"
        _row(report, name, "µs", 1e6 * (whole - bare), 3 + 0.1 * leaves)


def _peak(run: Callable[[], Any]) -> int:
    gc.collect()
    tracemalloc.start()
    result = run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del result
    return peak


def measure_memory(report: Report, steps: int) -> None:
    """Add the peak of the first call in that of an eager one, and the growth in a training loop."""
    f, args = value_and_grad(_loss), _perceptron(4096)
    xpgrad.compile(f)(*args)
    f(*args)
    first, eager = _peak(lambda: xpgrad.compile(f)(*args)), _peak(lambda: f(*args))
    _row(report, "peak of the first call / eager, P3 batch 4096", "ratio", first / eager, 1.1)
    step = training_step()
    for _ in range(steps // 10):
        step()
    gc.collect()
    tracemalloc.start()
    step()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(steps):
        step()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    _row(report, f"growth in {steps:,} training steps", "bytes", max(0, grown), KEPT_BYTES)


def training_step() -> Callable[[], Any]:
    """A compiled step in Chainer's style: dropout, backward, and an update with momentum."""
    rng = np.random.default_rng(0)
    x, t = rng.standard_normal((16, 8)), rng.integers(0, 4, 16)
    weight, bias = xpgrad.Parameter(rng.standard_normal((4, 8))), xpgrad.Parameter(np.zeros(4))
    velocity = xpgrad.Variable(np.zeros((4, 8)), requires_grad=False)

    @xpgrad.compile(strict=True)
    def step(x: Any, t: Any) -> Any:
        weight.cleargrad()
        bias.cleargrad()
        loss = F.softmax_cross_entropy(F.linear(F.dropout(x, 0.1), weight, bias), t)
        loss.backward()
        assert weight.grad is not None
        assert bias.grad is not None
        velocity.array = 0.9 * velocity.array - 0.1 * weight.grad
        weight.array = weight.array + velocity.array
        bias.array = bias.array - 0.1 * bias.grad
        return loss.array

    return lambda: step(x, t)


def measure(report: Report, quick: bool) -> None:
    """Add all rows."""
    times = 5 if quick else 30
    measure_making(report, times)
    measure_calls(report, times)
    measure_memory(report, STEPS // 10 if quick else STEPS)


WORKLOADS = {"COMPILE": Workload("what compiled functions cost beside what they compute", finish=measure)}
