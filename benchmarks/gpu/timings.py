"""Workloads at the size of a GPU, beside their peers: ``python -m benchmarks.gpu.timings P4``.

It prints a line of JSON for each contestant: milliseconds for a call (minimum and median, by events of the device),
the memory at its peak, and the error of its results against the program by hand, or the traceback of a failure.
"""

import argparse
import gc
import importlib
import json
import time
import traceback
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

import numpy as np

from benchmarks.gpu.machine import devices
from benchmarks.harness import Case, Run
from benchmarks.worker import MODULES, workload

SIZES: dict[str, dict[str, Any]] = {
    "P4": {"SIZE": 2**26},
    "P5": {"SHAPE": (16_384, 4096)},
    "P6": {"IMAGES": 256, "SIZE": 64, "CHANNELS": (3, 64, 128)},
    "P11": {"SIZE": 2**25},
    "P12": {"SHAPE": (64, 1024, 64)},
}
"""Constants of a workload's module for a GPU; other workloads are measured at their own size, which launches bound."""
NAMES = "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10", "P11", "P12"
TURN, STEADY, CALLS = 3.0, 0.1, 30


class Clock:
    """Times of calls, by the host's clock after the device has finished."""

    def __init__(self, library: str, pretend: bool) -> None:
        self.library = "host" if pretend and library != "jax" else library
        self.module: Any = importlib.import_module(library) if self.library != "host" else None

    def seconds(self, run: Run) -> float:
        """Return how long the device took for one call."""
        gc.collect()
        if self.library in ("cupy", "torch"):
            event = self.module.cuda.Event if self.library == "cupy" else self._event
            first, last = event(), event()
            first.record()
            run()
            last.record()
            last.synchronize()
            apart = self.module.cuda.get_elapsed_time if self.library == "cupy" else type(first).elapsed_time
            return float(apart(first, last)) / 1e3
        start = time.perf_counter()
        results = run()
        if self.library == "jax":
            self.module.block_until_ready([getattr(each, "array", each) for each in results])
        return time.perf_counter() - start

    def _event(self) -> Any:
        return self.module.cuda.Event(enable_timing=True)

    def peak(self, run: Run) -> int | None:
        """Return the bytes of the device that were in use at the peak of a call, where the library counts them."""
        if self.library == "cupy":
            pool = self.module.get_default_memory_pool()
            pool.free_all_blocks()
            run()
            return int(pool.total_bytes())
        if self.library == "torch":
            self.module.cuda.reset_peak_memory_stats()
            run()
            return int(self.module.cuda.max_memory_allocated())
        return None


def contestants(case: Case, found: dict[str, str]) -> Iterator[tuple[str, str, Callable[[], Run]]]:
    """Yield a name, the library whose clock counts, and a function that builds the contestant."""
    import xpgrad

    for name, build in case.builders().items():
        if isinstance(build, str):
            continue
        root = name.split()[0].split(".")[0]
        if root == "h" and "cupy" in found:
            yield "CuPy by hand", "cupy", lambda build=build: build(_module("cupy", found), _on(found["cupy"], case))
        elif root in ("t", "torch") and "torch" in found:
            yield (
                name.replace("t", "torch", 1) if name == "t" else name,
                "torch",
                lambda build=build: build(_module("torch", found), case.inputs()),
            )
        elif root == "jax" and "jax" in found:
            yield name, "jax", lambda build=build: build(_module("jax", found), case.inputs())
        elif root == "xpgrad" and not name.endswith(" c"):
            for library, specifier in found.items():
                title = f"{name.removesuffix(' python')} on {specifier}"
                yield title, library, lambda build=build, at=specifier: build(xpgrad, _on(at, case))


def _module(library: str, found: dict[str, str]) -> Any:
    module = importlib.import_module("numpy" if found[library] == "@numpy" else library)
    if library == "torch" and "cuda" in found["torch"]:
        module.set_default_device("cuda")
    return module


def _on(specifier: str, case: Case) -> Any:
    """Return the inputs of a case on a device."""
    import xpgrad

    device = xpgrad.get_device(specifier)

    def sent(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [sent(each) for each in value]
        return device.send(value) if isinstance(value, np.ndarray) else value

    return {name: sent(value) for name, value in case.inputs().items()}


def measure(run: Run, clock: Clock, seconds: float) -> dict[str, float]:
    """Return minimum and median of calls, after calls until three in a row take about the same time."""
    end, last = time.perf_counter() + seconds, [clock.seconds(run)]
    while len(last) < 3 or max(last[-3:]) > (1 + STEADY) * min(last[-3:]):
        last.append(clock.seconds(run))
        if time.perf_counter() > end:
            break
    end, times = time.perf_counter() + seconds, [clock.seconds(run)]
    while len(times) < CALLS and time.perf_counter() < end:
        times.append(clock.seconds(run))
    return {"minimum": min(times) * 1e3, "median": median(times) * 1e3, "calls": len(times)}


def error_of(results: Any, expected: Any) -> float:
    """Return the largest difference of gradients, relative to the largest element of each."""
    import xpgrad

    host, errors = xpgrad.get_device("@numpy"), [0.0]
    for result, wanted in zip(results, expected, strict=True):
        one, two = (np.asarray(host.send(getattr(each, "array", each)), float) for each in (result, wanted))
        errors.append(float(np.max(np.abs(one - two), initial=0.0) / np.max(np.abs(two), initial=1e-300)))
    return max(errors)


def main() -> None:
    """Measure the workloads named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=NAMES, default=NAMES)
    parser.add_argument("--pretend", action="store_true", help="on the host, in its sizes, each for a moment")
    options = parser.parse_args()
    found = devices(options.pretend)
    for name in options.names:
        module = importlib.import_module(f"benchmarks.{MODULES[name]}")
        vars(module).update({} if options.pretend else SIZES.get(name, {}))
        case, expected = workload(name).cases[-1], None
        for title, library, build in contestants(case, found):
            row: dict[str, Any] = {"name": name, "contestant": title}
            try:
                clock, run = Clock(library, options.pretend), build()
                results = run()
                expected = results if expected is None else expected
                row |= {"error": error_of(results, expected)}
                del results
                row |= measure(run, clock, 0.1 if options.pretend else TURN) | {"peak": clock.peak(run)}
            except Exception:
                row["failure"] = traceback.format_exc()
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
