"""P1 and P2: a thousand operations on tiny arrays, where only overhead counts."""

from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

PAIRS = 500
A, B = 1.0000001, 1e-9


def constants_by_hand(np: ModuleType, data: Data) -> Run:
    """P1 in NumPy: no array is kept, and backward computes one product per multiplication."""
    x, seed = data["x"], data["seed"]

    def run() -> tuple[object, ...]:
        y = x
        for _ in range(PAIRS):
            y = y * A
            y = y + B
        g = seed
        for _ in range(PAIRS):
            g = g * A
        return (g,)

    return run


def parameters_by_hand(np: ModuleType, data: Data) -> Run:
    """P2 in NumPy: the inputs of the multiplications are kept."""
    x, a, b, seed = data["x"], data["a"], data["b"], data["seed"]

    def run() -> tuple[object, ...]:
        y, kept = x, []
        for _ in range(PAIRS):
            kept.append(y)
            y = y * a
            y = y + b
        g, ga, gb = seed, 0.0, 0.0
        for _ in range(PAIRS):
            gb = gb + g
            ga = ga + g * kept.pop()
            g = g * a
        return g, ga, gb

    return run


def constants_torch(torch: ModuleType, data: Data) -> Run:
    """P1 in torch eager."""
    x, seed = torch.tensor(data["x"], requires_grad=True), torch.tensor(data["seed"])

    def run() -> tuple[object, ...]:
        x.grad = None
        y = x
        for _ in range(PAIRS):
            y = y * A
            y = y + B
        y.backward(seed)
        return (x.grad,)

    return run


def parameters_torch(torch: ModuleType, data: Data) -> Run:
    """P2 in torch eager."""
    x, a, b = (torch.tensor(data[name], requires_grad=True) for name in "xab")
    seed = torch.tensor(data["seed"])

    def run() -> tuple[object, ...]:
        x.grad = a.grad = b.grad = None
        y = x
        for _ in range(PAIRS):
            y = y * a
            y = y + b
        y.backward(seed)
        return x.grad, a.grad, b.grad

    return run


def _chain(y: Any, a: Any = A, b: Any = B) -> Any:
    for _ in range(PAIRS):
        y = y * a
        y = y + b
    return y


def constants_autograd(autograd: ModuleType, data: Data) -> Run:
    """P1 in HIPS autograd."""
    return lambda: (autograd.make_vjp(_chain)(data["x"])[0](data["seed"]),)


def parameters_autograd(autograd: ModuleType, data: Data) -> Run:
    """P2 in HIPS autograd."""
    inputs = tuple(data[name] for name in "xab")
    return lambda: autograd.make_vjp(_chain, (0, 1, 2))(*inputs)[0](data["seed"])


def in_jax(jax: ModuleType, data: Data, names: str) -> Run:
    """Either chain in jax, compiled: no overhead for an operation, but a second of compiling for each new chain."""
    inputs, seed = [jax.numpy.asarray(data[name]) for name in names], jax.numpy.asarray(data["seed"])
    step = jax.jit(lambda *inputs: jax.vjp(_chain, *inputs)[1](seed))

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = jax.block_until_ready(step(*inputs))
        return gradients

    return run


def constants_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """P1 in xpgrad."""
    x, seed = xpgrad.Variable(data["x"], requires_grad=True), data["seed"]

    def run() -> tuple[object, ...]:
        x.cleargrad()
        y = x
        for _ in range(PAIRS):
            y = y * A
            y = y + B
        y.grad = seed
        y.backward()
        return (x.grad,)

    return run


def parameters_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """P2 in xpgrad."""
    x, a, b = (xpgrad.Variable(data[name], requires_grad=True) for name in "xab")
    seed = data["seed"]

    def run() -> tuple[object, ...]:
        for leaf in (x, a, b):
            leaf.cleargrad()
        y = x
        for _ in range(PAIRS):
            y = y * a
            y = y + b
        y.grad = seed
        y.backward()
        return x.grad, a.grad, b.grad

    return run


def in_program(xpgrad: ModuleType, data: Data, names: str) -> Run:
    """Either chain in xpgrad, compiled: its value, which is not used here, and its gradients."""
    inputs, seed = [data[name] for name in names], data["seed"]

    @xpgrad.compile  # type: ignore[untyped-decorator]  # of a module that is loaded by its name
    def step(inputs: Any, seed: Any) -> Any:
        y, pullback = xpgrad.transforms.vjp(_chain, *inputs)
        return y, pullback(seed)

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = step(inputs, seed)[1]
        return gradients

    return run


def in_advect(advect: ModuleType, data: Data, names: str, *, staged: bool) -> Run:
    """Either chain in advect; staged, its forward and backward programs."""
    inputs, seed, wanted = [data[name] for name in names], data["seed"], tuple(range(len(names)))
    if staged:
        chain = advect.stage(_chain, *inputs)
        pullback = advect.vjp_program(chain, wanted)
        return lambda: (chain(*inputs), pullback(*inputs, cotangent=seed))[1]
    forward = advect.vjp(_chain, wanted)
    return lambda: tuple(forward(*inputs)[1](seed))


def _case(
    size: int,
    contestants: dict[str, Build | str],
    limits: tuple[str, ...],
    compiled: str,
    no_compiler: str,
) -> Case:
    def inputs() -> Data:
        full = {name: np.full((size,), value) for name, value in (("x", 1.0), ("a", A), ("b", B))}
        return full | {"seed": np.linspace(0.5, 1.5, size)}

    return Case(
        f"({size},)",
        inputs,
        contestants,
        limits,
        unit="µs/op",
        operations=2 * PAIRS,
        compiled=(compiled,),
        no_compiler=(no_compiler,),
    )


CONSTANTS: dict[str, Build | str] = {
    "h": constants_by_hand,
    "t": constants_torch,
    "autograd": constants_autograd,
    "advect": lambda advect, data: in_advect(advect, data, "x", staged=False),
    "advect stage": lambda advect, data: in_advect(advect, data, "x", staged=True),
    "jax": lambda jax, data: in_jax(jax, data, "x"),
    "xpgrad": constants_xpgrad,
    "xpgrad compiled": lambda xpgrad, data: in_program(xpgrad, data, "x"),
}
PARAMETERS: dict[str, Build | str] = {
    "h": parameters_by_hand,
    "t": parameters_torch,
    "autograd": parameters_autograd,
    "advect": lambda advect, data: in_advect(advect, data, "xab", staged=False),
    "advect stage": lambda advect, data: in_advect(advect, data, "xab", staged=True),
    "jax": lambda jax, data: in_jax(jax, data, "xab"),
    "xpgrad": parameters_xpgrad,
    "xpgrad compiled": lambda xpgrad, data: in_program(xpgrad, data, "xab"),
}

WORKLOADS = {
    "P1": Workload(
        "chain of 1000 operations y = y*a; y = y+b, float64, a and b Python floats",
        tuple(_case(size, CONSTANTS, ("3.2h", "0.6t"), "0.1h", "0.95h") for size in (1, 64)),
    ),
    "P2": Workload(
        "the same chain, a and b differentiated",
        tuple(_case(size, PARAMETERS, ("3.5h", "0.65t"), "0.15h", "1.0h") for size in (1, 64)),
    ),
}
