"""Hooks for NVIDIA GPUs: `CUDAProfileHook` for profilers, and `CupyMemoryProfileHook` for the memory of CuPy."""

from typing import Any, TextIO

from xpgrad.backend.plugins import plugins
from xpgrad.function_hooks.report import BYTES, Around, Arrays, ended, print_report
from xpgrad.graph.function_node import FunctionNode


class CUDAProfileHook(Around):
    """Marks every function as a range of NVTX, ``LABEL.forward`` or ``LABEL.backward``, for NVIDIA's profilers.

    Raises
    ------
    BackendUnavailable
        There is no GPU that CuPy can use, or its CuPy has no NVTX. It is a RuntimeError.
    """

    name = "CUDAProfileHook"
    reads_only = True

    def __init__(self) -> None:
        self._profiler = plugins.backend_of_prefix("gpu").profiler()
        self._profiler.check_ranges()
        self._depth = 0

    def deleted(self, function: FunctionNode | None) -> None:
        """End the ranges of functions that have raised."""
        while self._depth:
            self._stop(None, ())

    def _start(self, function: FunctionNode, which: str, arrays: Arrays) -> None:
        self._depth += 1
        self._profiler.start_range(f"{function.label}.{which}")

    def _stop(self, function: FunctionNode | None, arrays: Arrays) -> None:
        if self._depth:
            self._depth -= 1
            self._profiler.end_range()


class CupyMemoryProfileHook(Around):
    """Counts the bytes that each function takes from CuPy's memory pool, and the pool from the GPU.

    Memory that a function frees is not subtracted. `MemoryHook` reports live memory, for every library.

    Attributes
    ----------
    call_history : list of (str, int, int, int)
        Names of functions, used and acquired bytes, and the number of functions around it, in the order in which the
        functions finished.

    Raises
    ------
    BackendUnavailable
        There is no GPU that CuPy can use. It is a RuntimeError.
    """

    name = "CupyMemoryProfileHook"
    reads_only = True

    def __init__(self) -> None:
        self._meter = plugins.backend_of_prefix("gpu").profiler().Meter()
        self.call_history: list[tuple[str, int, int, int]] = []
        self._running: list[tuple[int, Any]] = []

    def added(self, function: FunctionNode | None) -> None:
        """Start counting."""
        self._running.clear()
        self._meter.__enter__()

    def deleted(self, function: FunctionNode | None) -> None:
        """Stop counting."""
        self._meter.__exit__(None, None, None)

    def _start(self, function: FunctionNode, which: str, arrays: Arrays) -> None:
        self._running.append((id(function), (self._meter.used, self._meter.acquired)))

    def _stop(self, function: FunctionNode, arrays: Arrays) -> None:
        if (before := ended(self._running, function)) is not None:
            taken = self._meter.used - before[0], self._meter.acquired - before[1]
            self.call_history.append((function._impl_name, *taken, len(self._running)))

    def total_used_bytes(self) -> int:
        """Return the bytes that all functions took from the pool; only the outermost of nested functions counts."""
        return sum(used for _, used, _, depth in self.call_history if not depth)

    def total_acquired_bytes(self) -> int:
        """Return the bytes that the pool took from the GPU during all functions."""
        return sum(acquired for _, _, acquired, depth in self.call_history if not depth)

    def summary(self) -> dict[str, dict[str, int]]:
        """Return `used_bytes`, `acquired_bytes` and the number of calls (`occurrence`) for each function name."""
        found: dict[str, dict[str, int]] = {}
        for name, *bytes_, _ in self.call_history:
            record = found.setdefault(name, {"used_bytes": 0, "acquired_bytes": 0, "occurrence": 0})
            for key, more in zip(record, (*bytes_, 1), strict=True):
                record[key] += more
        return found

    def print_report(self, unit: str = "auto", file: TextIO | None = None) -> None:
        """Print the summary as a table.

        Parameters
        ----------
        unit : {"auto", "auto_foreach", "B", "KB", "MB", "GB", "TB", "PB"}
            "auto" chooses a unit for the largest number, "auto_foreach" one for each. A KB has 1024 bytes.
        file : text stream, optional
            By default the standard output.
        """
        rows = (
            (name, [record["used_bytes"], record["acquired_bytes"]], record["occurrence"])
            for name, record in self.summary().items()
        )
        print_report("CupyMemoryProfileHook", ["UsedBytes", "AcquiredBytes"], rows, BYTES, unit, file)
