"""Cost against the size of the array: P4's formula, from one element to a hundred million.

`python -m benchmarks.sizes NAME CORES SECONDS LARGEST` prints the points of one contestant, measured in this process:
seconds of forward and backward, peak memory in sizes of the input, and the seconds that its first calls take longer.
"""

import gc
import json
import sys
import time
from typing import Any

import numpy as np

from benchmarks import alone, formula, harness, peers

SIZES = [round(10 ** (k / 2)) for k in range(17)]
OPERATIONS = 10  # of the formula: two products with a or x, negation, three functions, three more of two operands, sum
LONGEST_CALL = 12.0
PART_OF_MEMORY = 0.6
VISIBLE = 100_000  # elements, below which the peak is lost among pages
TWO_CORES = ("xpgrad compiled python", "xpgrad compiled c")


def measure(name: str, cores: int, seconds: float, largest: float) -> list[dict[str, float]]:
    """Return the points of a contestant, up to where a call takes too long or does not fit into memory."""
    library, clock = peers.load(name), time.process_time if cores == 1 else time.perf_counter
    build = formula.WORKLOADS["P4"].cases[0].builders()[name]
    assert not isinstance(build, str)
    rng, points = np.random.default_rng(0), list[dict[str, float]]()
    harness.warm(name, build(library, {"x": np.ones(2, np.float32)}))  # triggers lazy imports
    for size in SIZES:
        if size > largest or (points and not _fits(points[-1], size)):
            break
        data = {"x": rng.standard_normal(size, np.float32)}
        start = time.perf_counter()
        run = build(library, data)
        harness.warm(name, run)
        first = time.perf_counter() - start
        gc.collect()
        gc.freeze()  # the modules
        spent = alone.fastest(run, seconds, clock)
        point = {"size": size, "seconds": spent, "making": max(0.0, first - spent)}
        if size >= VISIBLE and (most := alone.peak(run)) is not None:
            point["peak"] = most / data["x"].nbytes
        points.append(point)
        gc.unfreeze()
    return points


def _fits(last: dict[str, float], size: float) -> bool:
    growth = size / last["size"]
    memory = (last.get("peak", 16.0) + 2) * size * 4
    return last["seconds"] * growth < LONGEST_CALL and memory < PART_OF_MEMORY * alone.available()


def curves(report: Any, quick: bool, cores: int) -> dict[str, list[dict[str, float]]]:
    """Return the points of each contestant, measured in a separate process."""
    largest, seconds = (1e5, 0.01) if quick else (1e8, 0.05)
    names = [name for name, build in formula.WORKLOADS["P4"].cases[0].builders().items() if name != "jax eager"]
    found = {}
    for name in names if cores == 1 else TWO_CORES:
        arguments = [name, str(cores), str(seconds), str(largest)]
        for points in alone.probed("benchmarks.sizes", arguments, name, report, cores):
            found[name] = points
    return found


if __name__ == "__main__":
    peers.pin(int(sys.argv[2]))
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))))
