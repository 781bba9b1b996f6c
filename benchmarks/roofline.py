"""Bounds beside measured times: products and bytes at the rates of the machine, and instructions of Python.

A call cannot take less than its matrix products at the rate of the largest products of NumPy, or less than it takes to
move inputs, results and kept arrays once through memory. Contestants on NumPy also execute instructions of Python, at
least at the rate of the shortest loop with a call; that rate is several times that of instructions which are executed
once, and each call of NumPy takes 0.2 µs or more on top.
"""

import functools
import gc
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

ON_NUMPY = "h", "xpgrad", "plain"
TRACED = 0.1
"""Seconds of the longest call whose instructions are counted, which takes a hundred times as long."""


class Work(NamedTuple):
    """What a call computes at least.

    `reason` says what bounds xpgrad, `products` is the number of floating-point operations in matrix products, and
    `size` the number of bytes of inputs and results; 0 where they stay in the caches.
    """

    reason: str
    products: float = 0.0
    size: float = 0.0


MLP = 2 * (2 * (784 * 128 + 128 * 64 + 64 * 10) + 128 * 64 + 64 * 10)
"""Operations for one image: the products of forward, of three weights and of two layers."""
HVP = 2 * (3 * 784 * 128 + 7 * 128 * 64 + 8 * 64 * 10)
FIRST, SECOND = 2 * 32**3 * 9 * 3 * 16, 2 * 32**3 * 9 * 16 * 32
"""Operations of one product of each convolution."""
CHAIN = "each operation is one call of NumPy on one element, which takes ten times as long as its arithmetic"
GEMM = "matrix products take most of the time, at the same rate for all contestants on NumPy"
SMALL = "recorded operations execute Python between products that take a few microseconds each"
UPDATE = "parameters, states and gradients are checked in Python, which takes as long as an update of few elements"
CACHE = "functions of numbers (exp, tanh) and passes over arrays between fused groups take the time, not memory"

WORK: Mapping[str, Work] = {
    "P1": Work(CHAIN),
    "P2": Work(CHAIN),
    "P3: batch 64": Work(SMALL, 64 * MLP),
    "P3: batch 4096": Work(GEMM, 4096 * MLP),
    "P4": Work(CACHE, size=2 * 4 * 2**22),
    "P5": Work(CACHE, size=3 * 4 * 2**22),
    "P6: one layer": Work("relu, bias and the padded copies of images take as long as the products", 2 * FIRST),
    "P6: two layers": Work(GEMM, 2 * FIRST + 3 * SECOND),
    "P7": Work("each of 200 steps records five operations, and no two steps can be computed together", 1000 * 2**17),
    "P8": Work(CHAIN),
    "P9": Work("nineteen products of a few microseconds are each computed with recorded tangents in Python", 64 * HVP),
    "P10": Work("each of 6000 operations on one element is a node of the graph, and a 0-d array of NumPy"),
    "P11": Work("each of 200 terms is read and written in a pass over memory, unless fused", size=4 * 4e6),
    "P12": Work("softmax and its gradient take the time beside the products", 6 * 2 * 8 * 256 * 256 * 64),
    "P13": Work("modules are read, and their classes and functions created, by Python"),
    "COMPILE": Work("a first call executes its function in Python with recorded calls, then all passes on each call"),
    "OPTIMIZERS": Work(UPDATE),
    "OPTIMIZERS: Adam, one matrix, 2048 x 1024": Work(UPDATE, size=7 * 4 * 2**21),
    "OPTIMIZERS: MomentumSGD, one matrix, 2048 x 1024": Work(UPDATE, size=5 * 4 * 2**21),
    "OPTIMIZERS: a step of the MLP with Adam, batch 64": Work(SMALL, 64 * MLP),
    "P6263": Work(CHAIN),
    "CHX": Work("arrays of chx and Variables execute the same Python for each recorded operation"),
    "CHECKPOINT": Work("arrays between the steps that are kept, and those of one part, remain in memory"),
    "SCAN": Work("states of the steps that are kept, and those of one part, remain in memory"),
    "JACOBIAN": Work("products of 256 x 256 matrices take most of the time", 2 * 256**3),
    "HESSIAN": Work("eleven passes over arrays of 200 x 64 x 20 numbers take most of the time"),
    "EXAMPLES": Work("products and arrays of one example are small"),
    "EXAMPLES: P3": Work("gradients for each example are written to memory", size=64 * 4 * 109_386),
    "TORCH": Work("each recorded operation executes Python around the kernels of PyTorch"),
    "EPOCH": Work("22 steps of few microseconds for each product execute Python for each recorded operation"),
    "JVP": Work("each pass reads and writes arrays that exceed the caches"),
}
"""By workload, or by workload and case."""


def work(name: str, case: str) -> Work | None:
    """Return what the case of a workload computes at least, if known."""
    return WORK.get(f"{name}: {case}") or WORK.get(name)


class Rates(NamedTuple):
    """Measured rates: operations of products and bytes a second, and seconds of an instruction of Python."""

    products: float
    memory: float
    instruction: float


@functools.cache
def rates(cores: int) -> Rates:
    """Measure the rates of this process on so many cores."""
    a = np.ones((1024, 1024), np.float32)
    parts = [np.ones(2**24 // cores, np.float32) for _ in range(2 * cores)]

    def move() -> None:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        threads = [threading.Thread(target=np.copyto, args=pair) for pair in pairs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    products = 2 * 1024**3 / _seconds(lambda: a @ a)
    return Rates(products, 2 * 4 * 2**24 / _seconds(move), _seconds(_loop) / instructions(_loop))


def _seconds(run: Callable[[], Any]) -> float:
    best = np.inf
    for _ in range(10):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return float(best)


def _loop() -> None:
    i = 0
    while i < 3000:
        i = _same(i) + 1


def _same(x: int) -> int:
    return x


def instructions(run: Callable[[], Any]) -> int:
    """Return the number of instructions of Python that a call executes in this thread."""
    count = 0

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()
    return count


def add_bounds(name: str, cores: int, runs: Mapping[str, Callable[[], Any]], scale: float, rows: Any) -> None:
    """Fill in the bounds of the rows of one case, in units of their times, and instructions of contestants on NumPy."""
    known = work(name, rows[0].case) if rows else None
    if known is None:
        return
    at = rates(cores)
    least = max(known.products / at.products, known.size / at.memory)
    for row in rows:
        if row.contestant.split()[0] in ON_NUMPY and row.minimum < TRACED * scale:
            row.instructions = instructions(runs[row.contestant])
        row.bound = (least + (row.instructions or 0) * at.instruction) * scale or None


def add_notes(name: str, report: Any) -> None:
    """Add a note for each missed limit: how far, the bound of the row, and the reason."""
    for row in report.rows:
        known = work(name, row.case)
        for limit in [limit for limit, kept in row.verdicts.items() if not kept]:
            got = f"{row.ratios[limit]:.2f}{limit[-1]}" if limit in row.ratios else f"{row.minimum:.4g} {row.unit}"
            text = f"{row.case} {row.contestant}: {got} > {limit}".strip()
            if row.bound is not None:
                text += f"; at least {row.bound:.3g} {row.unit} of {row.minimum:.3g}"
            if row.instructions:
                text += f", with {row.instructions:,} instructions of Python"
            report.notes.append(f"{text}: {known.reason}" if known else text)
