"""`TimerHook`: how long every function takes; `PrintHook` prints the arrays of functions as they run."""

import sys
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TextIO

from xpgrad.backend.plugins import plugins
from xpgrad.function_hooks.report import SECONDS, Around, Arrays, ended, in_unit, print_report, suitable
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import constant_variable
from xpgrad.watch.function_hook import FunctionHook

MAX_LIVE_ROWS = 30


class TimerHook(Around):
    """Measures how long every function takes, forward and backward.

    Asynchronous devices are synchronized before and after each function, so that times include the work; the
    program is slower than without the hook.

    Parameters
    ----------
    live : bool
        Show the table in the terminal while the hook is active, the slowest function first; this needs `rich`.

    Attributes
    ----------
    call_history : list of (str, float)
        Names of functions and seconds, in the order in which the functions finished.
    """

    name = "TimerHook"
    reads_only = True

    def __init__(self, live: bool = False) -> None:
        self._shown: AbstractContextManager[Any] | None = None
        self._live = live
        self.call_history: list[tuple[str, float]] = []
        self._total = 0.0
        self._running: list[tuple[int, float]] = []

    def added(self, function: FunctionNode | None) -> None:
        """Discard functions that were started before, but not finished because of an error; show the live table."""
        self._running.clear()
        if self._live and function is None:
            self._shown = self.live()
            self._shown.__enter__()

    def deleted(self, function: FunctionNode | None) -> None:
        """Keep the final state of the live table."""
        shown = self._shown
        if shown is not None and function is None:
            self._shown = None
            shown.__exit__(None, None, None)

    def _start(self, function: FunctionNode, which: str, arrays: Arrays) -> None:
        _wait(arrays)
        self._running.append((id(function), time.perf_counter()))

    def _stop(self, function: FunctionNode, arrays: Arrays) -> None:
        _wait(arrays)
        self._ended(function, function._impl_name)

    def _ended(self, computed: Any, name: str) -> None:
        """Note the time of a computation under a name."""
        stopped, started = time.perf_counter(), ended(self._running, computed)
        if started is not None:
            self.call_history.append((name, stopped - started))
            self._total += stopped - started if not self._running else 0.0

    def total_time(self) -> float:
        """Return the total time of all functions in seconds; only the outermost of nested functions counts."""
        return self._total

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return the seconds (`elapsed_time`) and the number of calls (`occurrence`) for each function name."""
        return _added({}, self.call_history)

    @contextmanager
    def live(self, refresh_per_second: float = 4.0, console: Any = None) -> Iterator[None]:
        """Return a context in which a table in the terminal shows the measurements so far.

        Parameters
        ----------
        refresh_per_second : float
        console : rich.console.Console, optional
            By default the standard output.
        """
        from rich.live import Live  # some 50 ms

        totals: dict[str, dict[str, Any]] = {}
        seen = 0

        def table() -> Any:  # called by the thread of Live, which adds what is new to the totals
            nonlocal seen
            new = self.call_history[seen:]
            seen += len(new)
            return _table(_added(totals, new))

        with Live(get_renderable=table, refresh_per_second=refresh_per_second, console=console):
            yield

    def print_report(self, unit: str = "auto", file: TextIO | None = None) -> None:
        """Print the summary as a table.

        Parameters
        ----------
        unit : {"auto", "auto_foreach", "sec", "ms", "us", "ns"}
            "auto" chooses a unit for the longest time, "auto_foreach" one for each line.
        file : text stream, optional
            By default the standard output.
        """
        rows = ((name, [record["elapsed_time"]], record["occurrence"]) for name, record in self.summary().items())
        print_report("TimerHook", ["ElapsedTime"], rows, SECONDS, unit, file)


def _added(totals: dict[str, dict[str, Any]], history: Iterable[tuple[str, float]]) -> dict[str, dict[str, Any]]:
    for name, seconds in history:
        record = totals.setdefault(name, {"elapsed_time": 0.0, "occurrence": 0})
        record["elapsed_time"] += seconds
        record["occurrence"] += 1
    return totals


def _table(totals: dict[str, dict[str, Any]]) -> Any:
    """Return a table of `rich`, the slowest function first."""
    from rich.table import Table

    whole = sum(record["elapsed_time"] for record in totals.values())
    unit = suitable(whole, SECONDS)
    table = Table(title=f"TimerHook: {in_unit(whole, unit, SECONDS, ' ')}")
    table.add_column("function")
    for title in ("time", "share", "calls", "per call"):
        table.add_column(title, justify="right")
    for name, record in sorted(totals.items(), key=lambda item: -item[1]["elapsed_time"])[:MAX_LIVE_ROWS]:
        seconds, count = record["elapsed_time"], record["occurrence"]
        each = seconds / count
        texts = (in_unit(seconds, unit, SECONDS, " "), in_unit(each, suitable(each, SECONDS), SECONDS, " "))
        table.add_row(name, texts[0], f"{seconds / whole if whole else 0.0:.0%}", f"{count:,}", texts[1])
    if len(totals) > MAX_LIVE_ROWS:
        table.add_row(f"and {len(totals) - MAX_LIVE_ROWS} more", "", "", "", "")
    return table


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
        Text printed after each line.
    file : text stream, optional
        By default the standard output.
    flush : bool
    """

    name = "PrintHook"
    reads_only = True

    def __init__(self, sep: Any = None, end: str = "\n", file: TextIO | None = None, flush: bool = True) -> None:
        if sep is not None:
            warnings.warn("PrintHook: sep has no effect and is deprecated", DeprecationWarning, stacklevel=3)
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
