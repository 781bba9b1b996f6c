"""P11: sum of 200 terms, in which one input collects 200 contributions, float32, a million elements."""

from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

SIZE = 1_000_000
SCALES = tuple(0.5 + i / 200 for i in range(200))


def inputs() -> Data:
    """Input `x` and the cotangent `seed` of the sum."""
    rng = np.random.default_rng(0)
    return {name: rng.random(SIZE, np.float32) for name in ("x", "seed")}


def by_hand(np: ModuleType, data: Data) -> Run:
    """The sum and its gradient in NumPy; the gradient is added up in place."""
    x, seed = data["x"], data["seed"]

    def run() -> tuple[object, ...]:
        s = x * SCALES[0]
        for c in SCALES[1:]:
            s = s + x * c
        gx = seed * SCALES[-1]
        for c in reversed(SCALES[:-1]):
            gx += seed * c
        return (gx,)

    return run


def _sum(x: Any) -> Any:
    s = x * SCALES[0]
    for c in SCALES[1:]:
        s = s + x * c
    return s


def in_torch(torch: ModuleType, data: Data) -> Run:
    """The same loop in torch eager."""
    x, seed = torch.tensor(data["x"], requires_grad=True), torch.tensor(data["seed"])

    def run() -> tuple[object, ...]:
        x.grad = None
        _sum(x).backward(seed)
        return (x.grad,)

    return run


def in_autograd(autograd: ModuleType, data: Data) -> Run:
    """The same loop in HIPS autograd."""
    return lambda: (autograd.make_vjp(_sum)(data["x"])[0](data["seed"]),)


def in_jax(jax: ModuleType, data: Data, *, compiled: bool) -> Run:
    """The same loop in jax; compiled, the 200 passes over memory become few."""
    x, seed = jax.numpy.asarray(data["x"]), jax.numpy.asarray(data["seed"])

    def step(x: Any) -> Any:
        y, vjp = jax.vjp(_sum, x)
        return y, vjp(seed)

    if compiled:
        step = jax.jit(step)

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = jax.block_until_ready(step(x))[1]
        return gradients

    return run


def in_advect(advect: ModuleType, data: Data, *, staged: bool) -> Run:
    """The same loop in advect."""
    x, seed = data["x"], data["seed"]
    if staged:
        program = advect.stage(_sum, x)
        pullback = advect.vjp_program(program, 0)
        return lambda: (program(x), pullback(x, cotangent=seed))[1:]
    forward = advect.vjp(_sum)
    return lambda: (forward(x)[1](seed),)


def in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """The same loop in xpgrad."""
    x = xpgrad.Variable(data["x"], requires_grad=True)

    def run() -> tuple[object, ...]:
        x.cleargrad()
        s = _sum(x)
        s.grad = data["seed"]
        s.backward(retain_graph=False)
        return (x.grad,)

    return run


def in_program(xpgrad: ModuleType, data: Data) -> Run:
    """The same loop in xpgrad, compiled: the sum and the gradient."""

    @xpgrad.compile  # type: ignore[untyped-decorator]  # of a module that is loaded by its name
    def step(x: Any, seed: Any) -> Any:
        y, pullback = xpgrad.transforms.vjp(_sum, x)
        return y, pullback(seed)[0]

    return lambda: (step(data["x"], data["seed"])[1],)


CONTESTANTS: dict[str, Build | str] = {
    "h": by_hand,
    "t": in_torch,
    "autograd": in_autograd,
    "advect": lambda advect, data: in_advect(advect, data, staged=False),
    "advect stage": lambda advect, data: in_advect(advect, data, staged=True),
    "jax": lambda jax, data: in_jax(jax, data, compiled=True),
    "jax eager": lambda jax, data: in_jax(jax, data, compiled=False),
    "xpgrad": in_xpgrad,
    "xpgrad compiled": in_program,
}

WORKLOADS = {
    "P11": Workload(
        "200 times s = s + x*c_i, x of 1M, float32",
        (
            Case(
                "",
                inputs,
                CONTESTANTS,
                ("1.15h",),
                rtol=2e-5,
                compiled=("0.2h",),
                no_compiler=("0.5h",),
                alone=True,
            ),
        ),
    ),
}
