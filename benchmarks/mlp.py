"""P3: a step of a three-layer perceptron, 784-128-64-10, relu, softmax cross entropy, float32."""

from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

SIZES = (784, 128, 64, 10)
NAMES = ("w1", "b1", "w2", "b2", "w3", "b3")


def inputs(batch: int) -> Data:
    """Images `x`, labels `t`, and weights of shape (out, in) with their biases."""
    rng = np.random.default_rng(0)
    data = {"x": rng.random((batch, SIZES[0]), np.float32), "t": rng.integers(0, SIZES[-1], batch)}
    for i, (fan_in, fan_out) in enumerate(pairwise(SIZES), 1):
        data[f"w{i}"] = rng.standard_normal((fan_out, fan_in), np.float32) / np.float32(fan_in**0.5)
        data[f"b{i}"] = rng.standard_normal(fan_out, np.float32) / 10
    return data


def by_hand(np: ModuleType, data: Data) -> Run:
    """The step in NumPy."""
    x, t = data["x"], data["t"]
    w1, b1, w2, b2, w3, b3 = (data[name] for name in NAMES)
    rows = np.arange(len(t))

    def run() -> tuple[object, ...]:
        h1 = np.maximum(x @ w1.T + b1, 0)
        h2 = np.maximum(h1 @ w2.T + b2, 0)
        z = h2 @ w3.T + b3
        z = z - z.max(axis=1, keepdims=True)
        e = np.exp(z)
        s = e.sum(axis=1, keepdims=True)
        (np.log(s[:, 0]) - z[rows, t]).mean()  # the loss itself belongs to the step
        g = e / s
        g[rows, t] -= 1
        g /= len(t)
        gw3, gb3 = g.T @ h2, g.sum(axis=0)
        g = (g @ w3) * (h2 > 0)
        gw2, gb2 = g.T @ h1, g.sum(axis=0)
        g = (g @ w2) * (h1 > 0)
        return g.T @ x, g.sum(axis=0), gw2, gb2, gw3, gb3

    return run


def in_torch(torch: ModuleType, data: Data, *, compiled: bool = False) -> Run:
    """The step in torch, eager or compiled."""
    F = torch.nn.functional
    x, t = torch.tensor(data["x"]), torch.tensor(data["t"])
    leaves = [torch.tensor(data[name], requires_grad=True) for name in NAMES]

    def loss(w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any) -> Any:
        h = F.relu(F.linear(x, w1, b1))
        h = F.relu(F.linear(h, w2, b2))
        return F.cross_entropy(F.linear(h, w3, b3), t)

    forward = torch.compile(loss) if compiled else loss

    def run() -> tuple[object, ...]:
        for leaf in leaves:
            leaf.grad = None
        forward(*leaves).backward()
        return tuple(leaf.grad for leaf in leaves)

    return run


def functional_loss(np: Any, x: Any, t: Any, parameters: Any, one_hot: Any = None) -> Any:
    """The loss for libraries that differentiate functions; `np` is their NumPy. `one_hot` labels replace an index."""
    w1, b1, w2, b2, w3, b3 = parameters
    h = np.maximum(x @ w1.T + b1, 0)
    h = np.maximum(h @ w2.T + b2, 0)
    z = h @ w3.T + b3
    z = z - np.max(z, axis=1, keepdims=True)
    chosen = z[np.arange(len(t)), t] if one_hot is None else np.sum(z * one_hot, axis=1)
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - chosen)


def in_autograd(autograd: ModuleType, data: Data) -> Run:
    """The step in HIPS autograd."""
    step = autograd.value_and_grad(lambda parameters: functional_loss(autograd.numpy, data["x"], data["t"], parameters))
    parameters = tuple(data[name] for name in NAMES)

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = step(parameters)[1]
        return gradients

    return run


def in_advect(advect: ModuleType, data: Data, *, staged: bool) -> Run:
    """The step in advect, which stages no index by arrays."""
    parameters, one_hot = tuple(data[name] for name in NAMES), np.eye(SIZES[-1], dtype=np.float32)[data["t"]]

    def loss(parameters: Any) -> Any:
        return functional_loss(np, data["x"], data["t"], parameters, one_hot)

    step = advect.value_and_grad(advect.stage(loss, parameters) if staged else loss)
    return lambda: step(parameters)[1]


def in_jax(jax: ModuleType, data: Data) -> Run:
    """The step in jax, compiled."""
    x, t = jax.numpy.asarray(data["x"]), jax.numpy.asarray(data["t"])
    parameters = tuple(jax.numpy.asarray(data[name]) for name in NAMES)
    step = jax.jit(jax.value_and_grad(lambda parameters: functional_loss(jax.numpy, x, t, parameters)))

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = jax.block_until_ready(step(parameters))[1]
        return gradients

    return run


def in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """The step in xpgrad."""
    F = xpgrad.functions
    x, t = data["x"], data["t"]
    leaves = [xpgrad.Variable(data[name], requires_grad=True) for name in NAMES]
    w1, b1, w2, b2, w3, b3 = leaves

    def run() -> tuple[object, ...]:
        for leaf in leaves:
            leaf.cleargrad()
        h = F.relu(F.linear(x, w1, b1))
        h = F.relu(F.linear(h, w2, b2))
        F.softmax_cross_entropy(F.linear(h, w3, b3), t).backward(retain_graph=False)
        return tuple(leaf.grad for leaf in leaves)

    return run


def in_program(xpgrad: ModuleType, data: Data) -> Run:
    """The step in xpgrad, compiled."""
    F = xpgrad.functions
    x, t, parameters = data["x"], data["t"], tuple(data[name] for name in NAMES)

    def loss(parameters: Any, x: Any, t: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = parameters
        h = F.relu(F.linear(x, w1, b1))
        h = F.relu(F.linear(h, w2, b2))
        return F.softmax_cross_entropy(F.linear(h, w3, b3), t)

    step = xpgrad.compile(xpgrad.transforms.value_and_grad(loss))

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = step(parameters, x, t)[1]
        return gradients

    return run


CONTESTANTS: dict[str, Build | str] = {
    "h": by_hand,
    "t": in_torch,
    "torch.compile": lambda torch, data: in_torch(torch, data, compiled=True),
    "autograd": in_autograd,
    "advect": lambda advect, data: in_advect(advect, data, staged=False),
    "advect stage": lambda advect, data: in_advect(advect, data, staged=True),
    "jax": in_jax,
    "xpgrad": in_xpgrad,
    "xpgrad compiled": in_program,
}


def _case(batch: int, limit: str, compiled: str, no_compiler: str) -> Case:
    return Case(
        f"batch {batch}",
        lambda: inputs(batch),
        CONTESTANTS,
        (limit,),
        rtol=2e-4,
        compiled=(compiled,),
        no_compiler=(no_compiler,),
        alone=True,
    )


WORKLOADS = {
    "P3": Workload(
        "MLP 784-128-64-10, softmax cross entropy, float32",
        (
            _case(64, "1.1h", "0.9h", "0.98h"),
            _case(4096, "1.0h", "0.95h", "0.98h"),
        ),
    ),
}
