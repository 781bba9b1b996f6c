"""`MemoryHook`: counts the bytes in arrays of a computation per function, on every backend."""

import functools
import weakref
from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple, TextIO

from xpgrad.backend.plugins import plugins
from xpgrad.function_hooks.report import BYTES, print_report
from xpgrad.graph.function_node import FunctionNode
from xpgrad.graph.variable import as_array
from xpgrad.watch.function_hook import FunctionHook

GIVEN, SUMS = "(given)", "(sums of gradients)"


class MemoryEvent(NamedTuple):
    """Live memory at the end of a function.

    Attributes
    ----------
    name : str
    which : "forward" or "backward"
    live_bytes : int
    """

    name: str
    which: str
    live_bytes: int


class MemoryHook(FunctionHook):
    """Counts the bytes of the arrays that functions take and return, as long as anything holds them.

    An array counts from the function that creates it until its memory has no more references in the graph, in
    Variables or in user code. An array and its views count once. It counts under the function that returned it;
    existing arrays (data and parameters) count under ``(given)``, and gradients that were added up, or
    that the sweep started from, under ``(sums of gradients)``. Arrays still count after the hook is removed.

    Not counted are arrays that live within one function only, memory that a library keeps for later, and gradients that
    the sweep adds up for a root. A lazy array, as in dask, counts with its size after computation.

    Attributes
    ----------
    history : list of MemoryEvent
        One for each computation, in the order in which they finished.
    """

    name = "MemoryHook"
    reads_only = True

    def __init__(self) -> None:
        self.history: list[MemoryEvent] = []
        self._alive: dict[int, tuple[weakref.ref[Any], int, str]] = {}
        self._ended: deque[int] = deque()  # filled by weak references, at any point of the program
        self._live = self._peak = 0
        self._records: dict[str, dict[str, int]] = {}

    @property
    def live_bytes(self) -> int:
        """Number of bytes that are alive now."""
        self._settle()
        return self._live

    @property
    def peak_bytes(self) -> int:
        """Largest number of bytes that were alive at the end of a function."""
        return self._peak

    def forward_preprocess(self, function: FunctionNode, in_data: tuple[Any, ...]) -> None:
        """Count inputs that existed before."""
        self._count(GIVEN, in_data)

    def backward_preprocess(self, function: FunctionNode, in_data: tuple[Any, ...], out_grad: tuple[Any, ...]) -> None:
        """Count gradients that no function made."""
        self._count(GIVEN, in_data)
        self._count(SUMS, out_grad)

    def computed(self, function: FunctionNode, which: str, results: tuple[Any, ...]) -> None:
        """Count the results of a function."""
        name = function._impl_name
        self._record(name)["occurrence"] += 1
        self._count(name, results)
        self.history.append(MemoryEvent(name, which, self._live))

    def _record(self, name: str) -> dict[str, int]:
        record = self._records.get(name)
        if record is None:
            record = self._records[name] = dict.fromkeys(
                ("occurrence", "allocated_bytes", "live_bytes", "bytes_at_peak"), 0
            )
        return record

    def _count(self, name: str, arrays: Iterable[Any]) -> None:
        self._settle()
        for item in arrays:
            array = as_array(item)
            backend = plugins.by_type.get(type(array))
            if backend is None:
                continue
            owner, size = backend.owner(array)
            key = id(owner)
            if key not in self._alive:
                self._alive[key] = weakref.ref(owner, functools.partial(_note, self._ended, key)), size, name
                record = self._record(name)
                record["allocated_bytes"] += size
                record["live_bytes"] += size
                self._live += size
        if self._live > self._peak:
            self._peak = self._live
            for record in self._records.values():
                record["bytes_at_peak"] = record["live_bytes"]

    def _settle(self) -> None:
        """Subtract the arrays that have ended since."""
        while self._ended:
            _, size, name = self._alive.pop(self._ended.popleft())
            self._records[name]["live_bytes"] -= size
            self._live -= size

    def summary(self) -> dict[str, dict[str, int]]:
        """Return the number of calls and the bytes of each function.

        These are the number of calls (`occurrence`), the bytes of all created arrays (`allocated_bytes`), of arrays
        that are alive (`live_bytes`), and of arrays that were alive at the peak (`bytes_at_peak`).
        """
        self._settle()
        return {name: dict(record) for name, record in self._records.items()}

    def print_report(self, unit: str = "auto", file: TextIO | None = None) -> None:
        """Print the summary as a table, and below it the sums.

        Parameters
        ----------
        unit : {"auto", "auto_foreach", "B", "KB", "MB", "GB", "TB", "PB"}
            "auto" chooses a unit for the largest number, "auto_foreach" one for each. A KB has 1024 bytes.
        file : text stream, optional
            By default the standard output.
        """
        summary = self.summary()
        keys = "allocated_bytes", "live_bytes", "bytes_at_peak"
        total = {key: sum(record[key] for record in summary.values()) for key in ("occurrence", *keys)}
        found = [*summary.items(), ("total", total)]
        rows = ((name, [record[key] for key in keys], record["occurrence"]) for name, record in found)
        print_report("MemoryHook", ["Allocated", "Live", "AtPeak"], rows, BYTES, unit, file)


def _note(ended: deque[int], key: int, _: weakref.ref[Any]) -> None:
    ended.append(key)
