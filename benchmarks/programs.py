"""COMPILE: costs of a compiled function: tracing, generating the program, compiling C, a call, and memory.

Times are minima of CPU time. Memory is measured by tracemalloc, including NumPy's arrays, which NumPy reports.
"""

import gc
import importlib
import json
import os
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

import xpgrad
import xpgrad.functions as F
from benchmarks import alone, deep, mlp, peers
from benchmarks.harness import Report, Row, Workload
from xpgrad.transforms import value_and_grad
from xpgrad.transforms.trace.executors import wait
from xpgrad.transforms.trace.executors.python import python_executor
from xpgrad.transforms.trace.passes import PASSES
from xpgrad_c.groups import CompiledGroups

COMPILED = {
    "P1": "chain",
    "P2": "chain",
    "P3": "mlp",
    "P4": "formula",
    "P5": "rows",
    "P6": "convnet",
    "P7": "rnn",
    "P9": "hvp",
    "P10": "gather",
    "P11": "accumulate",
    "P12": "attention",
}
"""The modules of the workloads that are compiled."""
LEAVES = 1, 101
STEPS = 10_000
KEPT_BYTES = 16_384  # limit for caches of a few entries


def _loss(parameters: Any, x: Any, t: Any) -> Any:
    w1, b1, w2, b2, w3, b3 = parameters
    h = F.relu(F.linear(x, w1, b1))
    h = F.relu(F.linear(h, w2, b2))
    return F.softmax_cross_entropy(F.linear(h, w3, b3), t)


def _perceptron(batch: int) -> tuple[Any, ...]:
    data = mlp.inputs(batch)
    return tuple(data[name] for name in mlp.NAMES), data["x"], data["t"]


class Recorder:
    """xpgrad, with a `compile` that does not, but remembers the function and the arguments of its call."""

    def __init__(self) -> None:
        self._library = peers.load("xpgrad")
        self.call: tuple[Callable[..., Any], tuple[Any, ...]] = (print, ())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def compile(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Return `f`, which remembers its call."""

        def called(*args: Any) -> Any:
            self.call = f, args
            return f(*args)

        return called


def recorded(name: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the function that the first case of a workload compiles, and its arguments."""
    case = importlib.import_module(f"benchmarks.{COMPILED[name]}").WORKLOADS[name].cases[0]
    recorder = Recorder()
    case.contestants[peers.COMPILED](recorder, case.inputs())()
    return recorder.call


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


def _first(f: Callable[..., Any], *args: Any) -> Any:
    return xpgrad.compile(f)(*args)


def measure_making(report: Report, seconds: float) -> None:
    """Add the first call in eager calls, and the time of passes, source and its bytecode for each recorded call."""
    for name in COMPILED:
        f, args = recorded(name)
        eager = alone.fastest(partial(f, *args), seconds, time.process_time)
        first = alone.fastest(partial(_first, f, *args), seconds, time.process_time)
        _row(report, f"{name}: first call / eager call", "ratio", first / eager, 3)
        count = len(xpgrad.compile(f, executor="python", without=set(PASSES)).program(*args).calls)
        step = xpgrad.compile(f)
        for _ in range(2):
            step(*args)
        _, runner = step._trace_of(args, {})

        _row(
            report,
            f"{name}: passes and source",
            "ms/call",
            1e3 * alone.fastest(runner.prepare, seconds, time.process_time) / count,
            0.3,
        )
        peers.settle()


def measure_c(report: Report, names: Iterable[str]) -> None:
    """Add the seconds of compiling C in the background, and of loading C from the cache on disk.

    The second process may record another program than the first one, with kernels in C that the first one has compiled.
    """
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_CACHE_HOME"] = folder
            found = [alone.probed("benchmarks.programs", [name], name, report) for _ in range(3)]
            del os.environ["XDG_CACHE_HOME"]
        if all(found):
            _row(report, f"{name}: C compiler, in the background", "s", found[0][0], 2)
            _row(report, f"{name}: C from the cache on disk", "ms", 1e3 * found[2][0], 5)


def seconds_of_c(name: str) -> float:
    """Return the time until the C of a program is loaded, or zero for a program without C.

    It is not the first program of the process, which also imports the executor and looks for a compiler.
    """
    f, args = recorded(name)
    compile = peers.load("xpgrad compiled c").compile
    first, step = compile(lambda x: deep.chain(x, 20)), compile(f)
    for _ in range(2):
        first(np.ones(3))
    peers.settle()
    original, took = CompiledGroups.start, list[float]()

    def start(self: CompiledGroups) -> None:
        begin = time.perf_counter()
        original(self)
        peers.settle()
        took.append(time.perf_counter() - begin)

    CompiledGroups.start = start  # type: ignore[method-assign]
    for _ in range(2):
        step(*args)
    return sum(took)


def measure_calls(report: Report, times: int) -> None:
    """Add the cost of a call in addition to the generated function."""
    for leaves in LEAVES:
        arrays = [np.ones(3) for _ in range(leaves)]
        step = peers.load("xpgrad compiled python").compile(lambda arrays: -arrays[0])
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
    """Add the ratio of the peaks of the first call and an eager call, and the growth in a training loop."""
    f, args = value_and_grad(_loss), _perceptron(4096)
    xpgrad.compile(f)(*args)
    f(*args)
    first, eager = _peak(lambda: xpgrad.compile(f)(*args)), _peak(lambda: f(*args))
    _row(report, "peak of the first call / eager, P3 batch 4096", "ratio", first / eager, 1.1)
    step = training_step()
    for _ in range(steps // 10):
        step()
    wait()  # libraries compiled meanwhile remain in memory
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
    measure_making(report, 0.1 if quick else 0.5)
    measure_c(report, COMPILED)
    measure_calls(report, times)
    measure_memory(report, STEPS // 10 if quick else STEPS)


WORKLOADS = {"COMPILE": Workload("what compiled functions cost beside what they compute", finish=measure)}

if __name__ == "__main__":
    print(json.dumps(seconds_of_c(sys.argv[1])))
