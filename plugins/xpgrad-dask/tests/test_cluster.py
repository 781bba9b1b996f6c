"""On a cluster of two processes: gradients of programs over a table that fits in no worker's memory."""

import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

import xpgrad
import xpgrad.array_api as xp
import xpgrad.functions as F

MEMORY = 224 * 2**20
ROWS, COLUMNS, CHUNK = 700_000, 128, 5_000  # 3.1 times the memory, in chunks of 5 MB
WEIGHTS = np.linspace(-0.1, 0.1, COLUMNS)

pytestmark = pytest.mark.slow


def peak() -> int:
    status = Path("/proc/self/status")  # VmHWM starts anew in a process; getrusage inherits the peak of its parent
    if status.exists():
        return 1024 * int(status.read_text().partition("VmHWM:")[2].split()[0])
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def rows_of(number: int) -> Any:
    table = np.random.default_rng(number).random((CHUNK, COLUMNS + 1))
    table[:, -1] = table[:, -1] < 0.5
    return table


@pytest.fixture(autouse=True)
def _small_chunks() -> None:
    """Chunks of dask's usual size: here the arrays are large."""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    # A worker past its limit is killed immediately: no data is spilled to disk, and no worker pauses.
    options = {f"distributed.worker.memory.{name}": False for name in ("target", "spill", "pause")}
    with (
        dask.config.set(options),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, memory_limit=MEMORY, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def table() -> tuple[Any, Any]:
    """The table, made chunk by chunk where it is needed, as a file would be read."""

    def block(block_info: Any = None) -> Any:
        return rows_of(block_info[None]["chunk-location"][0])

    chunks = ((CHUNK,) * (ROWS // CHUNK), (COLUMNS + 1,))
    made = da.map_blocks(block, chunks=chunks, dtype=np.float64, meta=np.empty((0, 0)))
    assert made.nbytes > 3 * MEMORY
    return made[:, :-1], made[:, -1]


def least_squares(X: Any, y: Any, w: Any) -> Any:
    return xp.mean((xp.matmul(X, w) - y) ** 2)


def logistic(X: Any, y: Any, w: Any) -> Any:
    z = xp.matmul(X, w)
    return xp.mean(xp.logaddexp(z, 0.0) - y * z)


def expected() -> dict[Any, tuple[float, Any]]:
    """Loss and gradient of both models, derived by hand, in NumPy with one chunk in memory."""
    losses, gradients = np.zeros(2), np.zeros((2, COLUMNS))
    for number in range(ROWS // CHUNK):
        chunk = rows_of(number)
        X, y = chunk[:, :-1], chunk[:, -1]
        z = X @ WEIGHTS
        losses += np.sum((z - y) ** 2), np.sum(np.log1p(np.exp(z)) - y * z)
        gradients += (2 * (z - y)) @ X, (1 / (1 + np.exp(-z)) - y) @ X
    return dict(zip((least_squares, logistic), zip(losses / ROWS, gradients / ROWS, strict=True), strict=True))


def test_gradients_are_numpys_and_no_worker_outgrows_its_memory(client: Client) -> None:
    found = {}
    for model in (least_squares, logistic):
        w = xpgrad.Variable(da.from_array(WEIGHTS))
        X, y = table()
        loss = model(X, y, w)
        loss.backward()
        found[model] = client.gather(client.compute([loss.array, w.grad]))
    for model, (loss, gradient) in expected().items():
        assert found[model][0] == pytest.approx(loss, rel=1e-12)
        np.testing.assert_allclose(found[model][1], gradient, rtol=1e-10, atol=1e-14)
    peaks = client.run(peak)
    assert len(peaks) == 2
    for worker, size in peaks.items():
        print(f"{worker}: at most {size / 2**20:.0f} of {MEMORY / 2**20:.0f} MiB, table {X.nbytes / 2**20:.0f} MiB")
        assert size < MEMORY
        assert size < X.nbytes / 3


def test_workers_find_the_kernels_of_chunks(client: Client) -> None:
    x = xpgrad.Variable(da.from_array(np.arange(1.0, 17.0).reshape(1, 1, 4, 4), chunks=2))
    y = F.average_pooling_2d(xp.special.gammaln(x), 2)
    np.testing.assert_allclose(
        client.gather(client.compute(y.array)),
        F.average_pooling_2d(xp.special.gammaln(xpgrad.Variable(x.array.compute())), 2).array,
    )


def test_scatters_and_second_derivatives_run_on_the_workers(client: Client) -> None:
    rows = np.asarray([3, 1, 3, 0])
    x = xpgrad.Variable(da.from_array(np.arange(12.0).reshape(4, 3), chunks=2))
    xp.sum(x[da.from_array(rows, chunks=2)] ** 3).backward(enable_double_backprop=True)
    (ggx,) = xpgrad.grad([xp.sum(x.grad_var)], [x])
    counts = np.bincount(rows, minlength=4)[:, None]
    values = np.arange(12.0).reshape(4, 3)
    gx, second = client.gather(client.compute([x.grad, ggx.array]))
    np.testing.assert_allclose(gx, 3 * counts * values**2)
    np.testing.assert_allclose(second, 6 * counts * values)
