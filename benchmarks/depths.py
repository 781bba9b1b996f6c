"""Cost against depth: P8's chain on one element, from ten operations to ten million.

`python -m benchmarks.depths NAME DEPTH` prints one point, measured in this process and divided by the number of
operations: the seconds of recording, the sweep and freeing the graph, and its bytes, or the seconds of a compiled chain
and of its first calls.
"""

import gc
import json
import sys
import time
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks import alone, deep, harness, peers

DEPTHS = [10**k for k in range(1, 8)]
LONGEST = 150.0
PART_OF_MEMORY = 0.6
VISIBLE = 10_000  # operations, below which a graph is lost among pages
PROGRAMS = {
    "xpgrad compiled python": 10_000,
    "xpgrad compiled c": 10_000,
    "jax": 1_000,  # unrolled; more takes minutes to compile
    "advect stage": 10_000,
}
"""The deepest chain of each contestant that makes a program."""


def graph(name: str, depth: int) -> dict[str, float]:
    """Return the minima of some chains of that depth, one if it is deep."""
    library, build = peers.load(name), deep.GRAPHS[name]
    build(library, 1000)()
    best: dict[str, float] = {}
    gc.collect()
    for _ in range(max(1, min(1000, 200_000 // depth))):
        before, start = alone.status("VmRSS"), time.process_time()
        sweep = build(library, depth)
        built, after = time.process_time(), alone.status("VmRSS")
        resumed = time.process_time()
        gradient = sweep()
        swept = time.process_time()
        del sweep
        freed = time.process_time()
        del gradient
        took = {"recording": built - start, "sweep": swept - resumed, "freeing": freed - swept}
        took["seconds"] = sum(took.values())
        if before is not None and after is not None and depth >= VISIBLE and "bytes" not in best:
            best["bytes"] = (after - before) / depth
        best |= {key: min(value / depth, best.get(key, value / depth)) for key, value in took.items()}
    return best | {"size": depth}


def program(name: str, depth: int) -> dict[str, float]:
    """Return the times of a call of a compiled chain of this depth, and of its first calls."""
    library = peers.load(name)
    start = time.perf_counter()
    run = _compiled(name, library, depth)
    harness.warm(name, run)
    first = time.perf_counter() - start
    gc.collect()
    gc.freeze()
    spent = alone.fastest(run, 0.1, time.process_time)
    return {"size": depth, "seconds": spent / depth, "making": max(0.0, first - spent) / depth}


def _compiled(name: str, library: ModuleType, depth: int) -> Any:
    one = np.ones(1, np.float32)

    def chain(x: Any) -> Any:
        return deep.chain(x, depth)

    if name == "jax":
        step = library.jit(lambda x: library.vjp(chain, x)[1](library.numpy.ones(1, np.float32)))
        x = library.numpy.asarray(one)
        return lambda: library.block_until_ready(step(x))
    if name == "advect stage":
        staged = library.stage(chain, one)
        pullback = library.vjp_program(staged)
        return lambda: (staged(one), pullback(one, cotangent=one))

    def forward_and_backward(x: Any) -> Any:
        y, pullback = library.transforms.vjp(chain, x)
        return y, pullback(one)

    compiled = library.compile(forward_and_backward)
    return lambda: compiled(one)


def curves(report: Any, quick: bool) -> dict[str, list[dict[str, float]]]:
    """Return the points of each contestant, up to where a chain takes too long or does not fit into memory."""
    found: dict[str, list[dict[str, float]]] = {}
    for name in (*deep.GRAPHS, *PROGRAMS):
        points: list[dict[str, float]] = []
        for depth in DEPTHS:
            if depth > min(PROGRAMS.get(name, DEPTHS[-1]), 10_000 if quick else DEPTHS[-1]):
                break
            if points and not _fits(points[-1], depth):
                report.notes.append(f"{name}: a chain of {depth:,} operations would take too long, or too much memory")
                break
            points += (each := alone.probed("benchmarks.depths", [name, str(depth)], name, report))
            if not each:
                break
        if points:
            found[name] = points
    return found


def _fits(last: dict[str, float], depth: int) -> bool:
    seconds = (last["seconds"] + last.get("making", 0.0)) * depth
    return seconds < LONGEST and last.get("bytes", 0.0) * depth < PART_OF_MEMORY * alone.available()


if __name__ == "__main__":
    measured = program if sys.argv[1] in PROGRAMS else graph
    print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
