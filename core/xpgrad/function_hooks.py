"""Function hooks that measure time and print arrays (``xpgrad.function_hooks``)."""

import sys
import time
import warnings
from typing import Any, TextIO

from xpgrad.backend.plugins import plugins
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import constant_variable
from xpgrad.watch.function_hook import FunctionHook

__all__ = ["PrintHook", "TimerHook"]

UNITS = {"sec": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


class TimerHook(FunctionHook):
    """Measures how long every function takes, forward and backward.

    Asynchronous devices are synchronized before and after each function, so that the times are those of the work; the
    program is slower than without the hook.

    Attributes
    ----------
    call_history : list of (str, float)
        Names of functions and seconds, in the order in which the functions finished.
    """

    name = "TimerHook"
    reads_only = True

    def __init__(self) -> None:
        self.call_history: list[tuple[str, float]] = []
        self._total = 0.0
        self._running: list[tuple[int, float]] = []  # ids: a reference would keep the graph alive

    def added(self, function: FunctionNode | None) -> None:
        """Discard functions that were started before, but not finished because of an error."""
        self._running.clear()

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Any, ...]) -> None:
        """Start the clock."""
        self._start(function, in_data)

    def backward_preprocess(self, function: FunctionNode, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]) -> None:
        """Start the clock."""
        self._start(function, in_data + out_grad)

    def forward_postprocess(self, function: FunctionNode, in_data: tuple[Any, ...]) -> None:
        """Stop the clock."""
        self._stop(function, in_data)

    def backward_postprocess(self, function: FunctionNode, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]) -> None:
        """Stop the clock."""
        self._stop(function, in_data + out_grad)

    def _start(self, function: FunctionNode, arrays: tuple[Any, ...]) -> None:
        _wait(arrays)
        self._running.append((id(function), time.perf_counter()))

    def _stop(self, function: FunctionNode, arrays: tuple[Any, ...]) -> None:
        _wait(arrays)
        stopped = time.perf_counter()
        while self._running:
            started_by, started = self._running.pop()
            if started_by == id(function):  # those above it on the stack have raised
                self.call_history.append((function._impl_name, stopped - started))
                self._total += stopped - started if not self._running else 0.0
                return

    def total_time(self) -> float:
        """Return the total time of all functions in seconds; of nested functions, only the outermost counts."""
        return self._total

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return the seconds (`elapsed_time`) and the number of calls (`occurrence`) of each function, by name."""
        found: dict[str, dict[str, Any]] = {}
        for name, seconds in self.call_history:
            record = found.setdefault(name, {"elapsed_time": 0.0, "occurrence": 0})
            record["elapsed_time"] += seconds
            record["occurrence"] += 1
        return found

    def print_report(self, unit: str = "auto", file: TextIO | None = None) -> None:
        """Print the summary as a table.

        Parameters
        ----------
        unit : {"auto", "auto_foreach", "sec", "ms", "us", "ns"}
            "auto" chooses a unit for the longest time, "auto_foreach" one for each line.
        file : text stream, optional
            By default the standard output.
        """
        if unit not in UNITS and unit not in ("auto", "auto_foreach"):
            known = ", ".join(("auto", "auto_foreach", *UNITS))
            raise ValueError(f"TimerHook.print_report: unit must be {known}; got {unit!r}")
        summary = self.summary()
        if unit == "auto":
            unit = _suitable(max((record["elapsed_time"] for record in summary.values()), default=0.0))
        rows = [("FunctionName", "ElapsedTime", "Occurrence")]
        for name, record in summary.items():
            own = _suitable(record["elapsed_time"]) if unit == "auto_foreach" else unit
            rows.append((name, f"{record['elapsed_time'] * UNITS[own]:.2f}{own}", str(record["occurrence"])))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        stream = file or sys.stdout
        for row in rows:
            print("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)), file=stream)


def _suitable(seconds: float) -> str:
    return next((unit for unit, factor in UNITS.items() if seconds * factor >= 1), "ns" if seconds else "sec")


def _wait(arrays: tuple[Any, ...]) -> None:
    for array in arrays:
        if array is not None:
            plugins.backend_of(array).device_of(array).synchronize()
            return


class PrintHook(FunctionHook):
    """Prints the inputs of every function, and in the backward pass the gradients of its outputs.

    Parameters
    ----------
    sep : None
        Deprecated; it has no effect.
    end : str
        What follows each text.
    file : text stream, optional
        By default the standard output.
    flush : bool
    """

    name = "PrintHook"
    reads_only = True

    def __init__(self, sep: Any = None, end: str = "\n", file: TextIO | None = None, flush: bool = True) -> None:
        if sep is not None:
            warnings.warn("PrintHook: sep has no effect and is deprecated", DeprecationWarning, stacklevel=2)
        self.sep, self.end, self.file, self.flush = sep, end, file, flush

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Any, ...]) -> None:
        """Print the function's label and its inputs."""
        self._print(f"function\t{function.label}")
        self._print_all("input data", in_data)

    def backward_preprocess(self, function: FunctionNode, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]) -> None:
        """Print the function's label, the inputs that were kept, and the gradients of the outputs."""
        self.forward_preprocess(function, in_data)
        self._print_all("output gradient", out_grad)

    def _print_all(self, title: str, arrays: tuple[Any, ...]) -> None:
        self._print(title)
        for array in arrays:
            self._print("(removed)" if array is None else constant_variable(array).debug_print())

    def _print(self, text: str) -> None:
        print(text, end=self.end, file=self.file or sys.stdout, flush=self.flush)
