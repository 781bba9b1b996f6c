"""P6263: the chain of Chainer's issue 6263, whose backward had become three times slower from v1 to v6."""

from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

ADDS = 1000


def whole_by_hand(np: ModuleType, data: Data) -> Run:
    """Forward only, because the gradient is the seed."""

    def run() -> tuple[object, ...]:
        y = data["x"]
        for _ in range(ADDS):
            y = y + 1
        return (data["seed"].copy(),)

    return run


def whole_torch(torch: ModuleType, data: Data) -> Run:
    """Forward, backward and freeing in torch eager."""
    x, seed = torch.tensor(data["x"], requires_grad=True), torch.tensor(data["seed"])

    def run() -> tuple[object, ...]:
        x.grad = None
        y = x
        for _ in range(ADDS):
            y = y + 1
        y.backward(seed)
        return (x.grad,)

    return run


def sweep_torch(torch: ModuleType, data: Data) -> Run:
    """Backward only, repeatedly through one graph, in eager torch."""
    x, seed = torch.tensor(data["x"], requires_grad=True), torch.tensor(data["seed"])
    y = x
    for _ in range(ADDS):
        y = y + 1

    def run() -> tuple[object, ...]:
        x.grad = None
        y.backward(seed, retain_graph=True)
        return (x.grad,)

    return run


def _chain(y: Any) -> Any:
    for _ in range(ADDS):
        y = y + 1
    return y


def whole_autograd(autograd: ModuleType, data: Data) -> Run:
    """Forward, backward and freeing in HIPS autograd."""
    return lambda: (autograd.make_vjp(_chain)(data["x"])[0](data["seed"]),)


def sweep_autograd(autograd: ModuleType, data: Data) -> Run:
    """Backward only, in HIPS autograd."""
    vjp = autograd.make_vjp(_chain)(data["x"])[0]
    return lambda: (vjp(data["seed"]),)


def whole_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """Forward, backward and freeing in xpgrad."""
    x, seed = xpgrad.Variable(data["x"], requires_grad=True), data["seed"]

    def run() -> tuple[object, ...]:
        x.cleargrad()
        y = x
        for _ in range(ADDS):
            y = y + 1
        y.grad = seed
        y.backward()
        return (x.grad,)

    return run


def sweep_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """Backward only, in xpgrad."""
    x, seed = xpgrad.Variable(data["x"], requires_grad=True), data["seed"]
    y = x
    for _ in range(ADDS):
        y = y + 1

    def run() -> tuple[object, ...]:
        x.cleargrad()
        y.grad = seed
        y.backward()
        return (x.grad,)

    return run


def _case(name: str, contestants: dict[str, Build | str], limits: tuple[str, ...]) -> Case:
    def inputs() -> Data:
        return {"x": np.array([1, 2], np.float32), "seed": np.ones(2, np.float32)}

    return Case(name, inputs, contestants, limits, unit="µs/op", operations=ADDS, rtol=1e-6)


WORKLOADS = {
    "P6263": Workload(
        "chain of 1000 adds h = h + 1, float32, shape (2,) (github.com/chainer/chainer/issues/6263)",
        (
            _case(
                "forward, backward, free",
                {"h": whole_by_hand, "t": whole_torch, "autograd": whole_autograd, "xpgrad": whole_xpgrad},
                ("0.6t",),
            ),
            _case(
                "backward",
                {
                    "h": "the backward of an addition is nothing",
                    "t": sweep_torch,
                    "autograd": sweep_autograd,
                    "xpgrad": sweep_xpgrad,
                },
                ("1t",),
            ),
        ),
    ),
}
