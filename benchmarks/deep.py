"""P8: time and memory per operation of a chain of 100,000 operations on one element; memory left by 1,000,000.

Python's garbage collector repeatedly traverses the objects of a deep graph and all loaded modules, so times are also
taken in a separate process for each contestant.

Memory is the growth of the resident set while a chain is built, in a process for each contestant, without the garbage
collector, because a graph may keep C++ objects that tracemalloc does not measure.
"""

import gc
import json
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks import alone, peers
from benchmarks.harness import Build, Case, Data, Report, Row, Run, Workload, judge

DEPTH, DEEPEST = 100_000, 1_000_000
A, B = 1 + 2.0**-20, 2.0**-30  # exact in float32, so that all agree at any depth
MAY_KEEP = 0.1
"""The part of a graph's memory that the allocators may hold on to after it is freed."""

Sweep = Callable[[], Any]


def chain(y: Any, depth: int) -> Any:
    for _ in range(depth // 2):
        y = y * A
        y = y + B
    return y


def by_hand(np: ModuleType, depth: int) -> Sweep:
    """P1's formula, which keeps no arrays."""
    y = chain(np.ones(1, np.float32), depth)

    def sweep() -> Any:
        g = np.ones_like(y)
        for _ in range(depth // 2):
            g = g * A
        return g

    return sweep


def in_torch(torch: ModuleType, depth: int) -> Sweep:
    """The chain in torch eager."""
    x = torch.ones(1, requires_grad=True)
    y = chain(x, depth)

    def sweep() -> Any:
        y.backward()
        return x.grad

    return sweep


def in_autograd(autograd: ModuleType, depth: int) -> Sweep:
    """The chain in HIPS autograd."""
    one = np.ones(1, np.float32)
    vjp = autograd.make_vjp(lambda x: chain(x, depth))(one)[0]
    return lambda: vjp(one)


def in_xpgrad(xpgrad: ModuleType, depth: int) -> Sweep:
    """The chain in xpgrad."""
    x = xpgrad.Variable(np.ones(1, np.float32), requires_grad=True)
    y = chain(x, depth)

    def sweep() -> Any:
        y.backward()
        return x.grad

    return sweep


def in_advect(advect: ModuleType, depth: int) -> Sweep:
    """The chain in advect."""
    one = np.ones(1, np.float32)
    pullback = advect.vjp(lambda x: chain(x, depth))(one)[1]
    return lambda: pullback(one)


GRAPHS = {"h": by_hand, "t": in_torch, "autograd": in_autograd, "advect": in_advect, "xpgrad": in_xpgrad}
"""For each contestant, what builds a chain and returns its sweep; dropping that frees the graph."""


def _whole(name: str) -> Callable[[ModuleType, Data], Run]:
    return lambda lib, data: lambda: (GRAPHS[name](lib, DEPTH)(),)


def resident() -> int:
    """Return the bytes of this process that are resident."""
    return alone.status("VmRSS") or 0


def spent(name: str, depth: int) -> dict[str, float]:
    """Time of one chain in this process, with the collector on; the minimum of some."""
    lib, graph = peers.load(name), GRAPHS[name]
    graph(lib, 1000)()
    times = []
    for _ in range(5):
        gc.collect()
        start = time.process_time()
        graph(lib, depth)()
        times.append(time.process_time() - start)
    return {"µs": min(times) * 1e6 / depth}


def memory(name: str, depth: int) -> dict[str, float]:
    """Memory of one chain in this process; no collection happens between its creation and its end."""
    lib, graph = peers.load(name), GRAPHS[name]
    graph(lib, 1000)()
    gc.collect()
    gc.disable()
    before = resident()
    sweep = graph(lib, depth)
    built = resident() - before
    gradient = sweep()
    top = max(built, resident() - before)
    del sweep
    alone.trim()  # otherwise the C library may keep the freed memory of the graph
    kept = resident() - before
    del gradient
    return {"bytes": built / depth, "kept": max(0.0, kept / top) if top else 0.0}


PROBES = {"spent": spent, "memory": memory}


def measure_alone(report: Report, quick: bool) -> None:
    """Add the times and sizes of the graphs in separate processes, and the results of the deepest graphs."""
    for title, probe, depth, unit, key, limits in (
        (f"{DEPTH:,}, alone", "spent", DEPTH, "µs/op", "µs", ("4.5h",)),
        (f"{DEPTH:,} built", "memory", DEPTH, "B/op", "bytes", ("330",)),
        ("kept when freed", "memory", DEEPEST, "ratio", "kept", (str(MAY_KEEP),)),
    ):
        found = [
            (name, each[key])
            for name in GRAPHS
            for each in alone.probed("benchmarks.deep", [probe, name, str(depth)], name, report)
        ]
        rows = [Row(title, name, unit, value, value) for name, value in found if probe == "spent" or name != "h"]
        judge(rows, {"xpgrad": limits})
        report.rows += rows


CONTESTANTS: dict[str, Build | str] = {name: _whole(name) for name in GRAPHS} | {
    "jax": "compiling so many unrolled operations takes minutes",
    "xpgrad compiled": "a program has at most 50,000 calls without a warning; P1 is the same chain, compiled",
}

WORKLOADS = {
    "P8": Workload(
        "chain of 100,000 operations on one element, float32",
        (Case("100,000", dict, CONTESTANTS, ("4.5h", "0.85t"), "µs/op", DEPTH, 1e-6),),
        measure_alone,
    ),
}

if __name__ == "__main__":
    print(json.dumps(PROBES[sys.argv[1]](sys.argv[2], int(sys.argv[3]))))
