"""Regression on a table larger than a worker's memory: gradients of a program over dask arrays, on a cluster.

Least squares and logistic regression by gradient descent. The table never exists as a whole: a chunk is generated (in
practice: read) by the worker that needs it, used for the loss and the gradient, and discarded. xpgrad creates no tasks;
the program and its backward pass are array code, and dask runs what it recorded on two processes whose memory is
limited. NumPy, chunk by chunk and with the derivatives by hand, checks the numbers.

    python examples/out_of_core.py --rows 2000000 --memory 300MiB
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask.utils import format_bytes, parse_bytes
from distributed import Client, LocalCluster, progress

import xpgrad
import xpgrad.array_api as xp

SIZE = {"rows": 700_000, "columns": 128, "chunk": 10_000, "steps": 1, "memory": "224MiB"}
QUICK = {"rows": 60_000, "columns": 16, "chunk": 5_000, "steps": 2, "memory": "256MiB"}
MODELS = "least squares", "logistic"


class Result(NamedTuple):
    """Results of one model."""

    model: str
    size: int  # bytes of the table
    limit: int  # memory limit of a worker in bytes
    peaks: list[int]  # peak memory of each worker in bytes
    losses: list[float]
    difference: float  # largest difference between the last gradient and NumPy's gradient
    seconds: float


def rows_of(number: int, rows: int, columns: int) -> Any:
    """Return one chunk of the table: features, and in the last column the target, from 0 to 1."""
    table = np.random.default_rng(number).random((rows, columns + 1)) - 0.5
    table[:, -1] = table[:, :-1] @ np.linspace(-1, 1, columns) + 0.1 * table[:, -1] > 0
    return table


def table_of(rows: int, columns: int, chunk: int) -> Any:
    """The table as a dask array of chunks of whole rows."""

    def block(block_info: Any = None) -> Any:
        here = block_info[None]
        return rows_of(here["chunk-location"][0], here["chunk-shape"][0], columns)

    chunks = da.core.normalize_chunks((chunk, -1), (rows, columns + 1), dtype=np.float64)
    return da.map_blocks(block, chunks=chunks, dtype=np.float64, meta=np.empty((0, 0)))


def loss_of(model: str, X: Any, y: Any, w: Any) -> Any:
    """Return the loss, for arrays of any library and Variables."""
    z = xp.matmul(X, w)
    if model == "least squares":
        return xp.mean((z - y) ** 2)
    return xp.mean(xp.logaddexp(z, 0.0) - y * z)


def gradient_by_hand(model: str, w: Any, rows: int, columns: int, chunk: int) -> Any:
    """Return the gradient computed by NumPy, with one chunk in memory at a time."""
    total = np.zeros(columns)
    for number, start in enumerate(range(0, rows, chunk)):
        table = rows_of(number, min(chunk, rows - start), columns)
        z = table[:, :-1] @ w
        residual = 2 * (z - table[:, -1]) if model == "least squares" else 1 / (1 + np.exp(-z)) - table[:, -1]
        total += table[:, :-1].T @ residual
    return total / rows


def peak() -> int:
    """Return the peak memory of this process in bytes."""
    status = Path("/proc/self/status")  # of this process only; getrusage inherits its parent's peak
    if status.exists():
        return 1024 * int(status.read_text().partition("VmHWM:")[2].split()[0])
    if sys.platform == "win32":
        return 0  # unknown
    import resource  # not on Windows

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def run(model: str, client: Client, rows: int, columns: int, chunk: int, steps: int, memory: str, bar: bool) -> Result:
    """Fit `model` by gradient descent, each step one pass over the table."""
    table = table_of(rows, columns, chunk)
    X, y = table[:, :-1], table[:, -1]
    weights, losses, began = np.zeros(columns), [], time.perf_counter()
    for _ in range(steps):
        before = weights
        w = xpgrad.Variable(da.from_array(before))
        loss = loss_of(model, X, y, w)
        loss.backward()  # builds the graph of the backward pass without computing it
        futures = client.compute([loss.array, w.grad])
        if bar:
            progress(futures, notebook=False)
            print()
        value, gradient = client.gather(futures)
        losses.append(float(value))
        weights = before - (2.0 if model == "least squares" else 4.0) * gradient
    seconds = time.perf_counter() - began
    expected = gradient_by_hand(model, before, rows, columns, chunk)
    difference = float(np.max(np.abs(gradient - expected)) / np.max(np.abs(expected)))
    peaks = list(client.run(peak).values())
    return Result(model, table.nbytes, parse_bytes(memory), peaks, losses, difference, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=SIZE["rows"])
    parser.add_argument("--columns", type=int, default=SIZE["columns"])
    parser.add_argument("--chunk", type=int, default=SIZE["chunk"], help="rows in a chunk")
    parser.add_argument("--steps", type=int, default=SIZE["steps"])
    parser.add_argument("--memory", default=SIZE["memory"], help="limit for each of the two workers")
    parser.add_argument("--quick", action="store_true", help="a small table, no bar")
    options = vars(parser.parse_args())
    quick = options.pop("quick")
    size = QUICK if quick else options
    # A worker that exceeds its limit is killed immediately, without spilling to disk or pausing.
    dask.config.set({f"distributed.worker.memory.{name}": False for name in ("target", "spill", "pause")})
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, memory_limit=size["memory"], dashboard_address=":0"
    )
    with cluster, Client(cluster) as client:
        results = [run(model, client, **size, bar=not quick) for model in MODELS]
    print(f"{'':14}{'table':>11}{'limit':>12}{'peak memory of workers':>28}{'from NumPy':>13}{'time':>9}")
    for result in results:
        peaks = ", ".join(map(format_bytes, result.peaks))
        print(
            f"{result.model:14}{format_bytes(result.size):>11}{format_bytes(result.limit):>12}{peaks:>28}"
            f"{result.difference:13.1e}{result.seconds:7.1f} s"
        )
        print(f"{'':14}loss {' -> '.join(f'{loss:.4f}' for loss in result.losses)}")


if __name__ == "__main__":
    main()
