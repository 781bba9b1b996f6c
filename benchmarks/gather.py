"""P10: two thousand single elements gathered from one array; time must not grow with the array."""

from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Report, Row, Run, Workload

COUNT, STRIDE = 2000, 50
SIZES = {"100k": 100_000, "1M": 1_000_000}


def by_hand(np: ModuleType, data: Data) -> Run:
    """The sum of squares and its gradient in NumPy, element by element."""
    x = data["x"]

    def run() -> tuple[object, ...]:
        s, kept = 0.0, []
        for i in range(COUNT):
            v = x[STRIDE * i]
            s = s + v * v
            kept.append(v)
        gx = np.zeros_like(x)
        for i in range(COUNT):
            gx[STRIDE * i] += 2 * kept[i]
        return (gx,)

    return run


def _sum(x: Any) -> Any:
    s = 0.0
    for i in range(COUNT):
        s = s + x[STRIDE * i] ** 2
    return s


def in_torch(torch: ModuleType, data: Data) -> Run:
    """The same loop in torch eager, whose backward makes a full array for each gather."""
    x = torch.tensor(data["x"], requires_grad=True)

    def run() -> tuple[object, ...]:
        x.grad = None
        _sum(x).backward()
        return (x.grad,)

    return run


def in_autograd(autograd: ModuleType, data: Data) -> Run:
    """The same loop in HIPS autograd."""
    gradient = autograd.grad(_sum)
    return lambda: (gradient(data["x"]),)


def in_advect(advect: ModuleType, data: Data, *, staged: bool) -> Run:
    """The same loop in advect."""
    step = advect.value_and_grad(advect.stage(_sum, data["x"]) if staged else _sum)
    return lambda: (step(data["x"])[1],)


def in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """The same loop in xpgrad."""
    x = xpgrad.Variable(data["x"], requires_grad=True)

    def run() -> tuple[object, ...]:
        x.cleargrad()
        _sum(x).backward()
        return (x.grad,)

    return run


def in_program(xpgrad: ModuleType, data: Data) -> Run:
    """The same loop in xpgrad, compiled."""
    step = xpgrad.compile(xpgrad.transforms.value_and_grad(_sum))
    return lambda: (step(data["x"])[1],)


CONTESTANTS: dict[str, Build | str] = {
    "h": by_hand,
    "t": in_torch,
    "autograd": in_autograd,
    "advect": lambda advect, data: in_advect(advect, data, staged=False),
    "advect stage": lambda advect, data: in_advect(advect, data, staged=True),
    "jax": "compiling two thousand unrolled gathers takes some twenty seconds",
    "xpgrad": in_xpgrad,
    "xpgrad compiled": in_program,
}


def compare_sizes(report: Report, quick: bool) -> None:
    """Add the ratio of the two sizes for each contestant."""
    minima = {(row.case, row.contestant): row.minimum for row in report.rows}
    small, large = SIZES
    for name in dict.fromkeys(row.contestant for row in report.rows):
        if (small, name) in minima and (large, name) in minima:
            ratio = minima[large, name] / minima[small, name]
            # In C little remains but the zeros of the gradient.
            verdicts = {"1.25": ratio <= 1.25} if name.startswith("xpgrad") and not name.endswith(" c") else {}
            report.rows.append(Row(f"{large} / {small}", name, "ratio", ratio, ratio, verdicts=verdicts))


def _case(name: str, size: int, limit: str) -> Case:
    def inputs() -> Data:
        return {"x": np.random.default_rng(0).standard_normal(size, np.float32)}

    return Case(name, inputs, CONTESTANTS, (limit,), rtol=1e-6, compiled=("1.5h",), no_compiler=("3h",))


WORKLOADS = {
    # The limits are the 5 ms of the reference machine, where `h` takes 0.55 and 0.60 ms.
    "P10": Workload(
        "sum over 2000 i of x[50*i]**2, float32",
        (_case("100k", SIZES["100k"], "18h"), _case("1M", SIZES["1M"], "18h")),
        compare_sizes,
    ),
}
