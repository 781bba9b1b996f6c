"""P4: `sum(tanh(x*a + b) * exp(-x*x) + sigmoid(x))` of four million elements: time, and peak memory.

The peak is what tracemalloc sees above the input, in a process for each contestant: NumPy reports its arrays to it.
Those of other libraries lie where it cannot see, so they take no part in that.
"""

import gc
import json
import subprocess
import sys
import tracemalloc
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.harness import Build, Case, Data, Report, Row, Run, Workload, judge

SIZE = 2**22
A, B = 1.5, 0.25


def inputs() -> Data:
    """Input `x`."""
    return {"x": np.random.default_rng(0).standard_normal(SIZE, np.float32)}


def by_hand(np: ModuleType, data: Data) -> Run:
    """The formula and its gradient in NumPy, an operation at a time."""
    x = data["x"]

    def run() -> tuple[object, ...]:
        t, e, s = np.tanh(x * A + B), np.exp(-x * x), 1 / (1 + np.exp(-x))
        np.sum(t * e + s)
        return ((1 - t * t) * e * A - 2 * x * e * t + s * (1 - s),)

    return run


def in_torch(torch: ModuleType, data: Data) -> Run:
    """The formula in torch eager."""
    x = torch.tensor(data["x"], requires_grad=True)

    def run() -> tuple[object, ...]:
        x.grad = None
        (torch.tanh(x * A + B) * torch.exp(-x * x) + torch.sigmoid(x)).sum().backward()
        return (x.grad,)

    return run


def in_autograd(autograd: ModuleType, data: Data) -> Run:
    """The formula in HIPS autograd, which has no sigmoid."""
    np = autograd.numpy
    gradient = autograd.grad(lambda x: np.sum(np.tanh(x * A + B) * np.exp(-x * x) + 1 / (1 + np.exp(-x))))
    return lambda: (gradient(data["x"]),)


def in_jax(jax: ModuleType, data: Data, *, compiled: bool) -> Run:
    """The formula in jax."""
    jnp, x = jax.numpy, jax.numpy.asarray(data["x"])
    step = jax.value_and_grad(lambda x: jnp.sum(jnp.tanh(x * A + B) * jnp.exp(-x * x) + jax.nn.sigmoid(x)))
    if compiled:
        step = jax.jit(step)
    return lambda: (jax.block_until_ready(step(x))[1],)


def in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """The formula in xpgrad."""
    xp, sigmoid = xpgrad.array_api, xpgrad.functions.sigmoid
    x = xpgrad.Variable(data["x"], requires_grad=True)

    def run() -> tuple[object, ...]:
        x.cleargrad()
        xp.sum(xp.tanh(x * A + B) * xp.exp(-x * x) + sigmoid(x)).backward(retain_graph=False)
        return (x.grad,)

    return run


def in_program(xpgrad: ModuleType, data: Data) -> Run:
    """The formula in xpgrad, compiled."""
    xp, sigmoid = xpgrad.array_api, xpgrad.functions.sigmoid

    def formula(x: Any) -> Any:
        return xp.sum(xp.tanh(x * A + B) * xp.exp(-x * x) + sigmoid(x))

    step = xpgrad.compile(xpgrad.transforms.value_and_grad(formula))
    return lambda: (step(data["x"])[1],)


CONTESTANTS: dict[str, Build | str] = {
    "h": by_hand,
    "t": in_torch,
    "autograd": in_autograd,
    "jax": lambda jax, data: in_jax(jax, data, compiled=True),
    "jax eager": lambda jax, data: in_jax(jax, data, compiled=False),
    "xpgrad": in_xpgrad,
    "xpgrad compiled": in_program,
}
ON_NUMPY: dict[str, Build] = {"h": by_hand, "autograd": in_autograd, "xpgrad": in_xpgrad, "xpgrad compiled": in_program}


def probe(name: str) -> float:
    """Peak memory of one call in this process, in sizes of the input."""
    data = inputs()
    run = ON_NUMPY[name](peers.load(name), data)
    for _ in range(3):
        run()
    gc.collect()
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak / data["x"].nbytes)


def measure_memory(report: Report, quick: bool) -> None:
    """Add the peaks of those that compute with NumPy."""
    rows = [Row("peak", name, "x.nbytes", each, each) for name in ON_NUMPY for each in _probed(name, report)]
    judge(rows, ("6.1",), ("3",))  # six arrays, and blocks that stay in the cache
    report.rows += rows


def _probed(name: str, report: Report) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.formula", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return [json.loads(done.stdout.splitlines()[-1])]
    last = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    report.notes.append(f"{name} {'skipped' if 'ModuleNotFoundError' in last else 'FAILED'}: {last}")
    report.failed |= "skipped" not in report.notes[-1]
    return []


WORKLOADS = {
    "P4": Workload(
        "sum(tanh(x*a + b) * exp(-x*x) + sigmoid(x)), x of 4M, float32",
        (Case("", inputs, CONTESTANTS, ("1h",), rtol=1e-5, compiled=("0.75h",)),),
        measure_memory,
    ),
}

if __name__ == "__main__":
    print(json.dumps(probe(sys.argv[1])))
