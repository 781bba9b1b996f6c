"""P9: a Hessian-vector product of P3's loss, batch 64, forward over reverse where the library has it."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload
from benchmarks.mlp import NAMES, functional_loss
from benchmarks.mlp import inputs as mlp_inputs


def inputs() -> Data:
    """P3's inputs, and under "v" a direction for each parameter."""
    data = mlp_inputs(64)
    rng = np.random.default_rng(1)
    return {**data, "v": [rng.standard_normal(data[name].shape, np.float32) for name in NAMES]}


def by_hand(np: ModuleType, data: Data) -> Run:
    """Pearlmutter's R-operator (Neural Computation 6, 1994) in NumPy: a directional derivative of P3's step.

    relu has no second derivative, so its mask only gates; the gradients are not returned.
    """
    x, t = data["x"], data["t"]
    w1, b1, w2, b2, w3, b3 = (data[name] for name in NAMES)
    v1, c1, v2, c2, v3, c3 = data["v"]
    rows = np.arange(len(t))

    def run() -> tuple[object, ...]:
        h1 = np.maximum(x @ w1.T + b1, 0)
        m1 = h1 > 0
        r1 = (x @ v1.T + c1) * m1
        h2 = np.maximum(h1 @ w2.T + b2, 0)
        m2 = h2 > 0
        r2 = (r1 @ w2.T + h1 @ v2.T + c2) * m2
        z = h2 @ w3.T + b3
        rz = r2 @ w3.T + h2 @ v3.T + c3
        e = np.exp(z - z.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        rg = p * (rz - (p * rz).sum(axis=1, keepdims=True)) / np.float32(len(t))
        p[rows, t] -= 1
        g = p / np.float32(len(t))
        rw3, rb3 = rg.T @ h2 + g.T @ r2, rg.sum(axis=0)
        rg = (rg @ w3 + g @ v3) * m2
        g = (g @ w3) * m2
        rw2, rb2 = rg.T @ h1 + g.T @ r1, rg.sum(axis=0)
        rg = (rg @ w2 + g @ v2) * m1
        return rg.T @ x, rg.sum(axis=0), rw2, rb2, rw3, rb3

    return run


def in_torch(torch: ModuleType, data: Data) -> Run:
    """Reverse over reverse in torch eager."""
    F = torch.nn.functional
    x, t = torch.tensor(data["x"]), torch.tensor(data["t"])
    leaves = [torch.tensor(data[name], requires_grad=True) for name in NAMES]
    v = [torch.tensor(direction) for direction in data["v"]]
    w1, b1, w2, b2, w3, b3 = leaves

    def run() -> tuple[object, ...]:
        h = F.relu(F.linear(x, w1, b1))
        h = F.relu(F.linear(h, w2, b2))
        loss = F.cross_entropy(F.linear(h, w3, b3), t)
        gradients = torch.autograd.grad(loss, leaves, create_graph=True)
        product: tuple[object, ...] = torch.autograd.grad(gradients, leaves, grad_outputs=v)
        return product

    return run


def _loss(lib: ModuleType, data: Data) -> Callable[[Any], Any]:
    return lambda parameters: functional_loss(lib.numpy, data["x"], data["t"], parameters)


def in_autograd(autograd: ModuleType, data: Data) -> Run:
    """Reverse over reverse in HIPS autograd."""
    gradient = autograd.grad(_loss(autograd, data))
    parameters = tuple(data[name] for name in NAMES)

    def run() -> tuple[object, ...]:
        product: tuple[object, ...] = autograd.make_vjp(gradient)(parameters)[0](tuple(data["v"]))
        return product

    return run


def in_jax(jax: ModuleType, data: Data) -> Run:
    """Forward over reverse in jax, compiled."""
    gradient = jax.grad(_loss(jax, {**data, "t": jax.numpy.asarray(data["t"])}))
    parameters = tuple(jax.numpy.asarray(data[name]) for name in NAMES)
    v = tuple(jax.numpy.asarray(direction) for direction in data["v"])
    step = jax.jit(lambda parameters, v: jax.jvp(gradient, (parameters,), (v,))[1])

    def run() -> tuple[object, ...]:
        product: tuple[object, ...] = jax.block_until_ready(step(parameters, v))
        return product

    return run


def _perceptron(F: ModuleType, parameters: Any, x: Any, t: Any) -> Any:
    w1, b1, w2, b2, w3, b3 = parameters
    h = F.relu(F.linear(x, w1, b1))
    h = F.relu(F.linear(h, w2, b2))
    return F.softmax_cross_entropy(F.linear(h, w3, b3), t)


def in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """Forward over reverse in xpgrad."""
    hvp, x, t = xpgrad.transforms.hvp, data["x"], data["t"]
    parameters, v = tuple(data[name] for name in NAMES), tuple(data["v"])

    def loss(parameters: Any) -> Any:
        return _perceptron(xpgrad.functions, parameters, x, t)

    def run() -> tuple[object, ...]:
        product: tuple[object, ...] = hvp(loss, (parameters,), (v,))[0]
        return product

    return run


def in_program(xpgrad: ModuleType, data: Data) -> Run:
    """The same in xpgrad, compiled."""
    x, t, v, parameters = data["x"], data["t"], tuple(data["v"]), tuple(data[name] for name in NAMES)

    @xpgrad.compile  # type: ignore[untyped-decorator]  # of a module that is loaded by its name
    def step(parameters: Any, v: Any, x: Any, t: Any) -> Any:
        def loss(parameters: Any) -> Any:
            return _perceptron(xpgrad.functions, parameters, x, t)

        return xpgrad.transforms.hvp(loss, (parameters,), (v,))[0]

    def run() -> tuple[object, ...]:
        product: tuple[object, ...] = step(parameters, v, x, t)
        return product

    return run


CONTESTANTS: dict[str, Build | str] = {
    "h": by_hand,
    "t": in_torch,
    "autograd": in_autograd,
    "jax": in_jax,
    "xpgrad": in_xpgrad,
    "xpgrad compiled": in_program,
}


WORKLOADS = {
    "P9": Workload(
        "Hessian-vector product of P3, batch 64",
        (
            Case(
                "",
                inputs,
                CONTESTANTS,
                ("1.4h",),
                rtol=2e-4,
                compiled=("1.05h",),
                no_compiler=("1.1h",),
                alone=True,
            ),
        ),
    ),
}
