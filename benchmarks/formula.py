"""P4: `sum(tanh(x*a + b) * exp(-x*x) + sigmoid(x))` of four million elements: time, and peak memory."""

from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

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


def in_torch(torch: ModuleType, data: Data, *, compiled: bool = False) -> Run:
    """The formula in torch, eager or compiled."""
    x = torch.tensor(data["x"], requires_grad=True)

    def formula(x: Any) -> Any:
        return (torch.tanh(x * A + B) * torch.exp(-x * x) + torch.sigmoid(x)).sum()

    forward = torch.compile(formula) if compiled else formula

    def run() -> tuple[object, ...]:
        x.grad = None
        forward(x).backward()
        return (x.grad,)

    return run


def _without_sigmoid(np: Any, x: Any) -> Any:
    return np.sum(np.tanh(x * A + B) * np.exp(-x * x) + 1 / (1 + np.exp(-x)))


def in_autograd(autograd: ModuleType, data: Data) -> Run:
    """The formula in HIPS autograd, which has no sigmoid."""
    gradient = autograd.grad(lambda x: _without_sigmoid(autograd.numpy, x))
    return lambda: (gradient(data["x"]),)


def in_advect(advect: ModuleType, data: Data, *, staged: bool) -> Run:
    """The formula in advect, which has no sigmoid either."""

    def formula(x: Any) -> Any:
        return _without_sigmoid(np, x)

    step = advect.value_and_grad(advect.stage(formula, data["x"]) if staged else formula)
    return lambda: (step(data["x"])[1],)


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
    "torch.compile": lambda torch, data: in_torch(torch, data, compiled=True),
    "autograd": in_autograd,
    "advect": lambda advect, data: in_advect(advect, data, staged=False),
    "advect stage": lambda advect, data: in_advect(advect, data, staged=True),
    "jax": lambda jax, data: in_jax(jax, data, compiled=True),
    "jax eager": lambda jax, data: in_jax(jax, data, compiled=False),
    "xpgrad": in_xpgrad,
    "xpgrad compiled": in_program,
}

WORKLOADS = {
    "P4": Workload(
        "sum(tanh(x*a + b) * exp(-x*x) + sigmoid(x)), x of 4M, float32",
        (
            Case(
                "",
                inputs,
                CONTESTANTS,
                ("1h",),
                rtol=1e-5,
                compiled=("0.22h",),
                no_compiler=("0.55h",),
                two_cores={"xpgrad compiled c": ("0.13h",), "xpgrad compiled python": ("0.35h",)},
                alone=True,
                # six arrays, and blocks that stay in the cache
                peak={"xpgrad": ("6.1",), "xpgrad compiled c": ("1.1",), "xpgrad compiled python": ("1.3",)},
            ),
        ),
    ),
}
