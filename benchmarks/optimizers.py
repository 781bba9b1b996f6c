"""Optimizers: only the update of all parameters of a model, and a whole training step with Adam."""

from collections.abc import Callable, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks import mlp
from benchmarks.harness import Build, Case, Data, Run, Workload

SHAPES: dict[str, list[tuple[int, ...]]] = {
    "MLP 784-128-64-10": [(128, 784), (128,), (64, 128), (64,), (10, 64), (10,)],
    "convnet": [(16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (64, 32, 3, 3), (64,), (10, 1024), (10,)],
    "one matrix, 2048 x 1024": [(2048, 1024)],
}
RATE = 1e-9
"""Of whole steps, so that every one of them computes nearly the same: contestants take different numbers of them."""


def inputs(shapes: Sequence[tuple[int, ...]]) -> Data:
    """Parameters, and their gradients, which stay the same."""
    rng = np.random.default_rng(0)
    arrays = [[rng.standard_normal(shape, np.float32) for shape in shapes] for _ in range(2)]
    return {"parameters": arrays[0], "gradients": arrays[1]}


def adam(np: ModuleType, ws: Sequence[Any], alpha: float = 0.001) -> Callable[[Sequence[Any]], None]:
    """Adam in NumPy, in preallocated memory."""
    states = [tuple(np.zeros_like(w) for _ in range(3)) for w in ws]
    t = 0

    def update(gs: Sequence[Any]) -> None:
        nonlocal t
        t += 1
        rate = alpha * (1 - 0.999**t) ** 0.5 / (1 - 0.9**t)
        for w, g, (m, v, x) in zip(ws, gs, states, strict=True):
            m *= 0.9
            np.multiply(g, 0.1, out=x)
            m += x
            v *= 0.999
            np.multiply(g, g, out=x)
            x *= 0.001
            v += x
            np.sqrt(v, out=x)
            x += 1e-8
            np.divide(m, x, out=x)
            x *= rate
            w -= x

    return update


def momentum(np: ModuleType, ws: Sequence[Any]) -> Callable[[Sequence[Any]], None]:
    """Momentum in NumPy, in preallocated memory."""
    states = [tuple(np.zeros_like(w) for _ in range(2)) for w in ws]

    def update(gs: Sequence[Any]) -> None:
        for w, g, (v, x) in zip(ws, gs, states, strict=True):
            v *= 0.9
            np.multiply(g, 0.01, out=x)
            v -= x
            w += v

    return update


def by_hand(make: Callable[..., Any], np: ModuleType, data: Data) -> Run:
    """An update in NumPy."""
    ws = [w.copy() for w in data["parameters"]]
    update = make(np, ws)

    def run() -> Sequence[object]:
        update(data["gradients"])
        return ws

    return run


def in_torch(name: str, torch: ModuleType, data: Data) -> Run:
    """An update in torch."""
    ws = [torch.nn.Parameter(torch.tensor(w)) for w in data["parameters"]]
    for w, g in zip(ws, data["gradients"], strict=True):
        w.grad = torch.tensor(g)
    optimizer = torch.optim.Adam(ws) if name == "Adam" else torch.optim.SGD(ws, 0.01, 0.9)

    def run() -> Sequence[object]:
        optimizer.step()
        return [w.detach() for w in ws]

    return run


def model_of(xpgrad: ModuleType, arrays: Sequence[Any]) -> Any:
    """Return a link with these parameters: p0, p1, ..."""
    model = xpgrad.Link()
    with model.init_scope():
        for i, array in enumerate(arrays):
            setattr(model, f"p{i}", xpgrad.Parameter(array.copy()))
    return model


def in_xpgrad(name: str, xpgrad: ModuleType, data: Data) -> Run:
    """An update in xpgrad."""
    model = model_of(xpgrad, data["parameters"])
    optimizer = getattr(xpgrad.optimizers, name)().setup(model)
    params = [getattr(model, f"p{i}") for i in range(len(data["parameters"]))]
    for param, g in zip(params, data["gradients"], strict=True):
        param.grad = g

    def run() -> Sequence[object]:
        optimizer.update()
        return [param.array for param in params]

    return run


def step_by_hand(np: ModuleType, data: Data) -> Run:
    """A step in NumPy: it has no use for the loss itself."""
    gradients, update = mlp.by_hand(np, data), adam(np, [data[name].copy() for name in mlp.NAMES], RATE)

    def run() -> Sequence[object]:
        gs = gradients()
        update(gs)
        return [gs[0]]

    return run


def step_in_torch(torch: ModuleType, data: Data) -> Run:
    """A step in torch, eager."""
    F = torch.nn.functional
    x, t = torch.tensor(data["x"]), torch.tensor(data["t"])
    ws = [torch.nn.Parameter(torch.tensor(data[name])) for name in mlp.NAMES]
    optimizer = torch.optim.Adam(ws, RATE)

    def run() -> Sequence[object]:
        optimizer.zero_grad()
        h = F.relu(F.linear(x, ws[0], ws[1]))
        h = F.relu(F.linear(h, ws[2], ws[3]))
        F.cross_entropy(F.linear(h, ws[4], ws[5]), t).backward()
        optimizer.step()
        return [ws[0].grad]

    return run


def step_in_xpgrad(xpgrad: ModuleType, data: Data, *, compiled: bool) -> Run:
    """A step in xpgrad; compiled steps clear the gradients, and return Adam's average of the gradients."""
    F, x, t = xpgrad.functions, data["x"], data["t"]
    model = model_of(xpgrad, [data[name] for name in mlp.NAMES])
    optimizer = xpgrad.optimizers.Adam(RATE).setup(model)

    def loss(x: Any, t: Any) -> Any:
        h = F.relu(F.linear(x, model.p0, model.p1))
        h = F.relu(F.linear(h, model.p2, model.p3))
        return F.softmax_cross_entropy(F.linear(h, model.p4, model.p5), t)

    step = optimizer.compile(loss, **xpgrad.compile.keywords) if compiled else partial(optimizer.update, loss)

    def run() -> Sequence[object]:
        step(x, t)
        rule = model.p0.update_rule
        return [rule.state["m"] / np.float32(1 - 0.9**rule.t)]

    return run


def _update(title: str, name: str, limits: tuple[str, ...]) -> Case:
    contestants: dict[str, Build | str] = {
        "h": partial(by_hand, adam if name == "Adam" else momentum),
        "t": partial(in_torch, name),
        "xpgrad": partial(in_xpgrad, name),
    }
    return Case(f"{name}, {title}", partial(inputs, SHAPES[title]), contestants, limits, unit="µs", rtol=1e-4)


WORKLOADS = {
    "OPTIMIZERS": Workload(
        "updates of parameters in place, and training steps with Adam, float32",
        (
            *(_update(title, name, ("1.3h",)) for title in SHAPES for name in ("Adam", "MomentumSGD")),
            Case(
                "a step of the MLP with Adam, batch 64",
                partial(mlp.inputs, 64),
                {
                    "h": step_by_hand,
                    "t": step_in_torch,
                    "xpgrad": partial(step_in_xpgrad, compiled=False),
                    "xpgrad compiled": partial(step_in_xpgrad, compiled=True),
                },
                ("1.3h",),
                rtol=1e-3,
            ),
        ),
    )
}
