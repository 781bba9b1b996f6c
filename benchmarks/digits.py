"""EPOCH: an epoch of a convolutional net on digits: 22 steps of 64 scans of 8 x 8, float32, SGD with momentum.

Conv 1 -> 16, conv 16 -> 32, both 3 x 3 with relu, a maximum over 2 x 2, linear 512 -> 64 -> 10, softmax cross entropy.
Each call begins with the same parameters.
"""

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

STEPS, BATCH, RATE, MOMENTUM = 22, 64, 0.05, 0.9
SHAPES = {
    "conv1": (16, 1, 3, 3),
    "conv2": (32, 16, 3, 3),
    "l1": (64, 512),
    "l2": (10, 64),
}


def inputs() -> Data:
    """Images `x` (steps, batch, 1, 8, 8), labels `t`, and weights and biases in `parameters`."""
    rng = np.random.default_rng(0)
    parameters = {}
    for name, shape in SHAPES.items():
        fan_in = int(np.prod(shape[1:]))
        parameters[f"{name}.weight"] = rng.standard_normal(shape, np.float32) / np.float32(fan_in**0.5)
        parameters[f"{name}.bias"] = np.zeros(shape[0], np.float32)
    t = rng.integers(0, 10, (STEPS, BATCH))
    pictures = rng.random((10, 1, 8, 8), np.float32)  # an image for each label; noise is added
    x = pictures[t] + rng.random((STEPS, BATCH, 1, 8, 8), np.float32) / 2
    return {"x": x, "t": t, "parameters": parameters}


def in_torch(torch: ModuleType, data: Data, *, compiled: bool = False) -> Run:
    """The epoch in torch, eager, or with forward and backward compiled."""
    F, nn = torch.nn.functional, torch.nn

    class Net(nn.Module):  # type: ignore[misc, name-defined]  # torch is loaded late
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)
            self.l1, self.l2 = nn.Linear(512, 64), nn.Linear(64, 10)

        def forward(self, x: Any) -> Any:
            h = F.max_pool2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
            return self.l2(F.relu(self.l1(torch.flatten(h, 1))))

    model, x, t = Net(), torch.tensor(data["x"]), torch.tensor(data["t"])
    start = {name: torch.tensor(a) for name, a in data["parameters"].items()}
    loss = lambda x, t: F.cross_entropy(model(x), t)  # noqa: E731 - compiled or not
    loss = torch.compile(loss) if compiled else loss

    def run() -> Sequence[object]:
        model.load_state_dict(start)
        optimizer = torch.optim.SGD(model.parameters(), RATE, MOMENTUM)
        for i in range(STEPS):
            optimizer.zero_grad()
            loss(x[i], t[i]).backward()
            optimizer.step()
        return [p.detach().numpy().copy() for p in model.parameters()]

    return run


def _net(xpgrad: ModuleType) -> Any:
    F, L = xpgrad.functions, xpgrad.links

    class Net(xpgrad.Chain):  # type: ignore[misc, name-defined]  # xpgrad is an argument
        def __init__(self) -> None:
            super().__init__()
            with self.init_scope():
                self.conv1, self.conv2 = L.Convolution2D(1, 16, 3, pad=1), L.Convolution2D(16, 32, 3, pad=1)
                self.l1, self.l2 = L.Linear(512, 64), L.Linear(64, 10)

        def forward(self, x: Any) -> Any:
            h = F.max_pooling_2d(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
            return self.l2(F.relu(self.l1(h)))

    return Net()


def _places(model: Any) -> dict[str, Any]:
    """The parameters by torch's names, in torch's order."""
    names = {"weight": "W", "bias": "b"}
    return {f"{layer}.{name}": getattr(getattr(model, layer), own) for layer in SHAPES for name, own in names.items()}


def in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """The epoch in xpgrad."""
    F, model, x, t = xpgrad.functions, _net(xpgrad), data["x"], data["t"]
    places = _places(model)

    def run() -> Sequence[object]:
        for name, place in places.items():
            place.array[...] = data["parameters"][name]
        optimizer = xpgrad.optimizers.MomentumSGD(RATE, MOMENTUM).setup(model)
        for i in range(STEPS):
            model.cleargrads()
            F.softmax_cross_entropy(model(x[i]), t[i]).backward(retain_graph=False)
            optimizer.update()
        return [place.array.copy() for place in places.values()]

    return run


def in_program(xpgrad: ModuleType, data: Data) -> Run:
    """The epoch in xpgrad, a step compiled."""
    F, model, x, t = xpgrad.functions, _net(xpgrad), data["x"], data["t"]
    places = _places(model)
    optimizer = xpgrad.optimizers.MomentumSGD(RATE, MOMENTUM).setup(model)
    options = xpgrad.compile.keywords  # the executor set by benchmarks.peers
    step = optimizer.compile(lambda x, t: F.softmax_cross_entropy(model(x), t), **options)

    def run() -> Sequence[object]:
        for name, place in places.items():
            place.array = data["parameters"][name].copy()
            if place.update_rule.state is not None:
                place.update_rule.state["v"] *= 0
        for i in range(STEPS):
            step(x[i], t[i])
        return [np.array(place.array) for place in places.values()]

    return run


CONTESTANTS: dict[str, Build | str] = {
    "t": in_torch,
    "torch.compile": lambda torch, data: in_torch(torch, data, compiled=True),
    "xpgrad": in_xpgrad,
    "xpgrad compiled": in_program,
}

WORKLOADS = {
    "EPOCH": Workload(
        "an epoch of a convolutional net on digits, 22 steps of 64 scans, float32, SGD with momentum",
        (
            Case(
                "",
                inputs,
                CONTESTANTS,
                ("1.3t",),
                rtol=2e-3,
                compiled=("1k",),
                alone=True,
                peak={"xpgrad": ("1t",), "xpgrad compiled c": ("1t",)},
            ),
        ),
    ),
}
