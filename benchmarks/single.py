"""One contestant of one case in this process: `python -m benchmarks.single P4 0 xpgrad 1` prints its time and peak."""

import json
import sys
import time

from benchmarks import alone, harness, peers, worker

FUNCTIONAL = peers.COMPILED, "jax"
"""Contestants that keep no gradients from one call to the next, but would compile again."""


def probe(name: str, number: int, contestant: str, seconds: float) -> dict[str, float]:
    """Return the seconds and the peak memory of one call in this process."""
    case = worker.workload(name).cases[number]
    build, library, data = case.builders()[contestant], peers.load(contestant), case.inputs()
    run = build(library, data)
    harness.warm(contestant, run)
    found = {"seconds": alone.fastest(run, seconds, time.process_time)}
    if not contestant.startswith(FUNCTIONAL):
        del run  # and the gradients that its leaves have from the last call
        run = build(library, data)
    if (most := alone.peak(run)) is not None:
        found["peak"] = most
    return found


if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4]))))
