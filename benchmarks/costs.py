"""Growth of single costs, each measured for several values of one quantity.

`python -m benchmarks.costs NAME [--quick]` prints the points of one cost, measured in this process.
"""

import gc
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import alone, checkpoint, deep, peers

SECONDS = 0.2


@dataclass(frozen=True)
class Cost:
    """A cost: its title and unit, the varied quantity and its values, and the measuring function."""

    title: str
    unit: str
    against: str
    numbers: Sequence[int]
    measure: Callable[[int], float]


def _time(run: Callable[[], Any]) -> float:
    return alone.fastest(run, SECONDS, time.process_time)


def _xpgrad() -> Any:
    return peers.load("xpgrad")


def _forward_and_backward(depth: int) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        y, pullback = _xpgrad().transforms.vjp(lambda x: deep.chain(x, depth), x)
        return y, pullback(np.ones(1, np.float32))

    return step


def tracing(depth: int) -> float:
    """Return the microseconds of the first call of a compiled chain for each operation."""
    f, one = _forward_and_backward(depth), np.ones(1, np.float32)
    return _time(lambda: _xpgrad().compile(f)(one)) / depth * 1e6


def making(depth: int) -> float:
    """Return the microseconds of passes, source and bytecode for each operation."""
    one = np.ones(1, np.float32)
    step = _xpgrad().compile(_forward_and_backward(depth))
    for _ in range(2):
        step(one)
    _, runner = step._trace_of((one,), {})
    found = _time(runner.prepare) / depth * 1e6
    peers.settle()
    return found


def hit(leaves: int) -> float:
    """Return the microseconds of a call of a program with negligible computation."""
    arrays = [np.ones(3) for _ in range(leaves)]
    step = peers.load("xpgrad compiled python").compile(lambda arrays: -arrays[0])
    for _ in range(3):
        step(arrays)
    return _time(lambda: step(arrays)) * 1e6


def kinds(count: int) -> float:
    """Return the microseconds of calls with arrays of as many shapes in turn, each."""
    step = peers.load("xpgrad compiled python").compile(lambda x: -x)
    arrays = [np.ones(size) for size in range(1, count + 1)]
    for x in arrays:
        for _ in range(3):
            step(x)
    return _time(lambda: [step(x) for x in arrays]) / count * 1e6


def gathers(count: int, size: int = 1_000_000) -> float:
    """Return the microseconds of each of some gathers of one element, and of their gradients."""
    x = _xpgrad().Variable(np.ones(size), requires_grad=True)

    def run() -> None:
        x.cleargrad()
        total = x[0]
        for i in range(1, count):
            total = total + x[i * (size // count)]
        total.backward()

    return _time(run) / count * 1e6


def gathers_by_size(size: int) -> float:
    """Return the microseconds of each of a thousand gathers from an array of that size."""
    return gathers(1000, size)


def uses(count: int) -> float:
    """Return the microseconds of each use of one array of ten thousand elements, whose cotangents are added up."""
    x = _xpgrad().Variable(np.ones(10_000), requires_grad=True)

    def run() -> None:
        x.cleargrad()
        total = x * 2.0
        for _ in range(count - 1):
            total = total + x * 2.0
        total.sum().backward()

    return _time(run) / count * 1e6


def wide(count: int) -> float:
    """Return the microseconds of each input of a sum over so many Variables of one element."""
    leaves = [_xpgrad().Variable(np.ones(1), requires_grad=True) for _ in range(count)]

    def run() -> None:
        total = leaves[0] * 2.0
        for x in leaves[1:]:
            total = total + x * 2.0
        for x in leaves:
            x.cleargrad()
        total.backward()

    return _time(run) / count * 1e6


def plain_memory(steps: int) -> float:
    """Return the peak memory of a recurrence of so many steps, in MiB."""
    return _peak(lambda: checkpoint.run(None, steps))


def checkpointed_memory(steps: int) -> float:
    """Return the peak memory of the recurrence in segments of the square root of its steps, in MiB."""
    return _peak(lambda: checkpoint.run(round(steps**0.5), steps))


def checkpointed_time(steps: int) -> float:
    """Return the ratio of the times of the checkpointed and the plain recurrence."""
    return _time(lambda: checkpoint.run(round(steps**0.5), steps)) / _time(lambda: checkpoint.run(None, steps))


def _peak(run: Callable[[], Any]) -> float:
    run()
    return (alone.peak(run) or 0) / 2**20


COSTS = {
    "tracing": Cost("first call of a compiled chain", "µs/op", "operations", (100, 1000, 10_000), tracing),
    "making": Cost("passes, source and bytecode", "µs/op", "operations", (100, 1000, 10_000), making),
    "hit": Cost("call of a program", "µs", "leaves of its arguments", (1, 10, 100, 1000), hit),
    "kinds": Cost("call of a program, shapes in turn", "µs", "shapes", (1, 4, 16, 32), kinds),
    "gathers": Cost("gather of one element of a million", "µs", "gathers", (100, 1000, 10_000), gathers),
    "gathers_by_size": Cost("each of 1000 gathers", "µs", "elements", (10_000, 100_000, 1_000_000), gathers_by_size),
    "uses": Cost("use of one array of 10,000 elements", "µs", "uses", (10, 100, 1000), uses),
    "wide": Cost("Variable that is used once", "µs", "Variables", (10, 100, 1000, 10_000), wide),
    "plain_memory": Cost("peak memory of a recurrence", "MiB", "steps", (64, 256, 1024), plain_memory),
    "checkpointed_memory": Cost("the same, checkpoints at √n", "MiB", "steps", (64, 256, 1024), checkpointed_memory),
    "checkpointed_time": Cost("time relative to the plain recurrence", "", "steps", (64, 256), checkpointed_time),
}


def curves(report: Any, quick: bool) -> dict[str, list[list[float]]]:
    """Return the points of each cost, each measured in a separate process."""
    found = {}
    for name in COSTS:
        arguments = [name, "--quick"] if quick else [name]
        for points in alone.probed("benchmarks.costs", arguments, name, report):
            found[name] = points
    return found


def points(name: str, quick: bool) -> list[tuple[int, float]]:
    """Return the points of one cost, only the first two if `quick`."""
    cost, found = COSTS[name], []
    for number in cost.numbers[:2] if quick else cost.numbers:
        found.append((number, cost.measure(number)))
        gc.collect()
    return found


if __name__ == "__main__":
    print(json.dumps(points(sys.argv[1], "--quick" in sys.argv)))
