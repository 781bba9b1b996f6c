"""P5: layer normalization, softmax and a weighted sum on (4096, 1024), float32."""

from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

SHAPE = (4096, 1024)
EPS = 1e-5
NAMES = ("x", "gamma", "beta")


def inputs() -> Data:
    """Rows `x`, one `gamma` and `beta` for each column, and the `weights` of the sum."""
    rng = np.random.default_rng(0)
    return {
        "x": rng.standard_normal(SHAPE, np.float32),
        "gamma": rng.standard_normal(SHAPE[1], np.float32),
        "beta": rng.standard_normal(SHAPE[1], np.float32),
        "weights": rng.standard_normal(SHAPE, np.float32),
    }


def by_hand(np: ModuleType, data: Data) -> Run:
    """Forward and backward in NumPy."""
    x, gamma, beta, weights = (data[name] for name in (*NAMES, "weights"))

    def run() -> tuple[object, ...]:
        centred = x - x.mean(axis=1, keepdims=True)
        inverse = 1 / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + EPS)
        normal = centred * inverse
        z = normal * gamma + beta
        e = np.exp(z - z.max(axis=1, keepdims=True))
        p = e / e.sum(axis=1, keepdims=True)
        (p * weights).sum()  # the value itself belongs to the work
        g = p * (weights - (weights * p).sum(axis=1, keepdims=True))
        ggamma, gbeta = (g * normal).sum(axis=0), g.sum(axis=0)
        g = g * gamma
        along = normal * (g * normal).mean(axis=1, keepdims=True)
        return (g - g.mean(axis=1, keepdims=True) - along) * inverse, ggamma, gbeta

    return run


def in_torch(torch: ModuleType, data: Data, *, compiled: bool = False) -> Run:
    """The same operations in torch, eager or compiled."""
    leaves = [torch.tensor(data[name], requires_grad=True) for name in NAMES]
    weights = torch.tensor(data["weights"])

    def loss(x: Any, gamma: Any, beta: Any) -> Any:
        z = torch.nn.functional.layer_norm(x, SHAPE[1:], gamma, beta, EPS)
        return (torch.softmax(z, dim=1) * weights).sum()

    forward = torch.compile(loss) if compiled else loss

    def run() -> tuple[object, ...]:
        for leaf in leaves:
            leaf.grad = None
        forward(*leaves).backward()
        return tuple(leaf.grad for leaf in leaves)

    return run


def _functional(np: Any, leaves: Any, weights: Any) -> Any:
    x, gamma, beta = leaves
    centred = x - np.mean(x, axis=1, keepdims=True)
    z = centred / np.sqrt(np.mean(centred * centred, axis=1, keepdims=True) + EPS) * gamma + beta
    e = np.exp(z - np.max(z, axis=1, keepdims=True))
    return np.sum(e / np.sum(e, axis=1, keepdims=True) * weights)


def in_autograd(autograd: ModuleType, data: Data) -> Run:
    """The same operations in HIPS autograd."""
    step = autograd.grad(lambda leaves: _functional(autograd.numpy, leaves, data["weights"]))
    leaves = tuple(data[name] for name in NAMES)

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = step(leaves)
        return gradients

    return run


def in_advect(advect: ModuleType, data: Data, *, staged: bool) -> Run:
    """The same operations in advect."""
    leaves = tuple(data[name] for name in NAMES)

    def loss(leaves: Any) -> Any:
        return _functional(np, leaves, data["weights"])

    step = advect.value_and_grad(advect.stage(loss, leaves) if staged else loss)

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = step(leaves)[1]
        return gradients

    return run


def in_jax(jax: ModuleType, data: Data) -> Run:
    """The same operations in jax, compiled."""
    x, gamma, beta, weights = (jax.numpy.asarray(data[name]) for name in (*NAMES, "weights"))
    step = jax.jit(jax.value_and_grad(lambda *leaves: _functional(jax.numpy, leaves, weights), (0, 1, 2)))

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = jax.block_until_ready(step(x, gamma, beta))[1]
        return gradients

    return run


def in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """The same operations in xpgrad."""
    F, xp = xpgrad.functions, xpgrad.array_api
    leaves = [xpgrad.Variable(data[name], requires_grad=True) for name in NAMES]
    x, gamma, beta = leaves

    def run() -> tuple[object, ...]:
        for leaf in leaves:
            leaf.cleargrad()
        p = F.softmax(F.layer_normalization(x, gamma, beta, eps=EPS), axis=1)
        xp.sum(p * data["weights"]).backward(retain_graph=False)
        return tuple(leaf.grad for leaf in leaves)

    return run


def in_program(xpgrad: ModuleType, data: Data) -> Run:
    """The same operations in xpgrad, compiled."""
    F, xp = xpgrad.functions, xpgrad.array_api
    arrays = tuple(data[name] for name in (*NAMES, "weights"))

    def loss(x: Any, gamma: Any, beta: Any, weights: Any) -> Any:
        return xp.sum(F.softmax(F.layer_normalization(x, gamma, beta, eps=EPS), axis=1) * weights)

    step = xpgrad.compile(xpgrad.transforms.value_and_grad(loss, (0, 1, 2)))

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = step(*arrays)[1]
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

WORKLOADS = {
    "P5": Workload(
        "layer_norm, softmax, weighted sum, (4096, 1024), float32",
        (
            Case(
                "",
                inputs,
                CONTESTANTS,
                ("0.55h",),
                rtol=2e-4,
                compiled=("0.3h",),
                no_compiler=("0.5h",),
                alone=True,
            ),
        ),
    ),
}
