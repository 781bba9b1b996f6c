"""EXAMPLES: the gradients of each example's loss, for P3 and for a small convolutional net, batch 64, float32."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks import mlp
from benchmarks.harness import Build, Case, Data, Run, Workload
from benchmarks.mlp import NAMES

BATCH = 64
SIZE, CHANNELS, CLASSES = 16, (3, 8, 16), 10


def perceptron() -> Data:
    """P3's inputs, its `parameters` in a tuple."""
    data = mlp.inputs(BATCH)
    return {"x": data["x"], "t": data["t"], "parameters": tuple(data[name] for name in NAMES)}


def images() -> Data:
    """Images `x`, labels `t` and the `parameters` of two convolutions and a linear layer."""
    rng = np.random.default_rng(0)
    parameters = []
    for fan_in, out in ((CHANNELS[0], CHANNELS[1]), (CHANNELS[1], CHANNELS[2])):
        parameters += [rng.standard_normal((out, fan_in, 3, 3), np.float32) / np.float32(3 * fan_in**0.5)]
        parameters += [rng.standard_normal(out, np.float32) / 10]
    features = CHANNELS[2] * (SIZE // 4) ** 2
    parameters += [rng.standard_normal((CLASSES, features), np.float32) / np.float32(features**0.5)]
    parameters += [rng.standard_normal(CLASSES, np.float32) / 10]
    return {
        "x": rng.standard_normal((BATCH, CHANNELS[0], SIZE, SIZE), np.float32),
        "t": rng.integers(0, CLASSES, BATCH),
        "parameters": tuple(parameters),
    }


def by_hand(np: ModuleType, data: Data) -> Run:
    """P3's step in NumPy, with an outer product for each example."""
    x, t, (w1, b1, w2, b2, w3, b3) = data["x"], data["t"], data["parameters"]
    rows = np.arange(len(t))

    def run() -> tuple[object, ...]:
        h1 = np.maximum(x @ w1.T + b1, 0)
        h2 = np.maximum(h1 @ w2.T + b2, 0)
        z = h2 @ w3.T + b3
        e = np.exp(z - z.max(axis=1, keepdims=True))
        g3 = e / e.sum(axis=1, keepdims=True)
        g3[rows, t] -= 1
        g2 = (g3 @ w3) * (h2 > 0)
        g1 = (g2 @ w2) * (h1 > 0)
        return (
            g1[:, :, None] * x[:, None, :], g1,
            g2[:, :, None] * h1[:, None, :], g2,
            g3[:, :, None] * h2[:, None, :], g3,
        )  # fmt: skip

    return run


def _perceptron_in_torch(torch: ModuleType, parameters: Any, x: Any, t: Any) -> Any:
    F = torch.nn.functional
    w1, b1, w2, b2, w3, b3 = parameters
    h = F.relu(F.linear(x, w1, b1))
    h = F.relu(F.linear(h, w2, b2))
    return F.cross_entropy(F.linear(h, w3, b3), t)


def _convnet_in_torch(torch: ModuleType, parameters: Any, x: Any, t: Any) -> Any:
    F = torch.nn.functional
    w1, b1, w2, b2, w3, b3 = parameters
    h = F.max_pool2d(F.relu(F.conv2d(x[None], w1, b1, padding=1)), 2)
    h = F.max_pool2d(F.relu(F.conv2d(h, w2, b2, padding=1)), 2)
    return F.cross_entropy(F.linear(h.reshape(-1), w3, b3), t)


def in_torch(loss: Callable[..., Any]) -> Build:
    """By torch.func in torch eager."""

    def build(torch: ModuleType, data: Data) -> Run:
        parameters = tuple(torch.tensor(p) for p in data["parameters"])
        x, t = torch.tensor(data["x"]), torch.tensor(data["t"])
        step = torch.func.vmap(torch.func.grad(lambda *args: loss(torch, *args)), (None, 0, 0))

        def run() -> tuple[object, ...]:
            gradients: tuple[object, ...] = step(parameters, x, t)
            return gradients

        return run

    return build


def _perceptron_in_jax(jax: ModuleType, parameters: Any, x: Any, t: Any) -> Any:
    np = jax.numpy
    w1, b1, w2, b2, w3, b3 = parameters
    h = np.maximum(w1 @ x + b1, 0)
    h = np.maximum(w2 @ h + b2, 0)
    return -jax.nn.log_softmax(w3 @ h + b3)[t]


def _convnet_in_jax(jax: ModuleType, parameters: Any, x: Any, t: Any) -> Any:
    np, lax = jax.numpy, jax.lax
    w1, b1, w2, b2, w3, b3 = parameters
    h = x[None]
    for w, b in ((w1, b1), (w2, b2)):
        h = np.maximum(lax.conv(h, w, (1, 1), "SAME") + b[:, None, None], 0)
        h = lax.reduce_window(h, -np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return -jax.nn.log_softmax(w3 @ np.reshape(h, (-1,)) + b3)[t]


def in_jax(loss: Callable[..., Any]) -> Build:
    """By `vmap` of `grad` in jax, compiled."""

    def build(jax: ModuleType, data: Data) -> Run:
        parameters, x, t = jax.tree.map(jax.numpy.asarray, (data["parameters"], data["x"], data["t"]))
        step = jax.jit(jax.vmap(jax.grad(lambda *args: loss(jax, *args)), (None, 0, 0)))

        def run() -> tuple[object, ...]:
            gradients: tuple[object, ...] = jax.block_until_ready(step(parameters, x, t))
            return gradients

        return run

    return build


def _perceptron(xpgrad: ModuleType, parameters: Any, x: Any, t: Any) -> Any:
    F = xpgrad.functions
    w1, b1, w2, b2, w3, b3 = parameters
    h = F.relu(F.linear(x[None], w1, b1))
    h = F.relu(F.linear(h, w2, b2))
    return F.softmax_cross_entropy(F.linear(h, w3, b3), t[None])


def _convnet(xpgrad: ModuleType, parameters: Any, x: Any, t: Any) -> Any:
    F = xpgrad.functions
    w1, b1, w2, b2, w3, b3 = parameters
    h = F.max_pooling_2d(F.relu(F.convolution_2d(x[None], w1, b1, pad=1)), 2)
    h = F.max_pooling_2d(F.relu(F.convolution_2d(h, w2, b2, pad=1)), 2)
    return F.softmax_cross_entropy(F.linear(h, w3, b3), t[None])


def in_xpgrad(loss: Callable[..., Any], *, compiled: bool = False) -> Build:
    """By `per_example` in xpgrad, eager or compiled."""

    def build(xpgrad: ModuleType, data: Data) -> Run:
        step = xpgrad.transforms.per_example(lambda *args: loss(xpgrad, *args))
        if compiled:
            step = xpgrad.compile(step)

        def run() -> tuple[object, ...]:
            gradients: tuple[object, ...] = step(data["parameters"], data["x"], data["t"])
            return gradients

        return run

    return build


PERCEPTRON: dict[str, Build | str] = {
    "h": by_hand,
    "t": in_torch(_perceptron_in_torch),
    "jax": in_jax(_perceptron_in_jax),
    "xpgrad": in_xpgrad(_perceptron),
    "xpgrad compiled": in_xpgrad(_perceptron, compiled=True),
}
CONVNET: dict[str, Build | str] = {
    "t": in_torch(_convnet_in_torch),
    "jax": in_jax(_convnet_in_jax),
    "xpgrad": in_xpgrad(_convnet),
    "xpgrad compiled": in_xpgrad(_convnet, compiled=True),
}


def _case(name: str, inputs: Callable[[], Data], contestants: dict[str, Build | str]) -> Case:
    return Case(name, inputs, contestants, ("1.5t",), rtol=2e-4, compiled=("1t",), no_compiler=("1t",))


WORKLOADS = {
    "EXAMPLES": Workload(
        "gradients for each of 64 examples, float32",
        (
            _case("P3", perceptron, PERCEPTRON),
            _case("two convolutions, 3 -> 8 -> 16 channels, (3, 16, 16)", images, CONVNET),
        ),
    ),
}
