"""P12: scaled dot-product attention, 8 heads, 256 positions of 64 channels, float32."""

from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

SHAPE = (8, 256, 64)
SCALE = SHAPE[-1] ** -0.5


def inputs() -> Data:
    """Queries, keys, values, and the cotangent `seed` of the output."""
    rng = np.random.default_rng(0)
    return {name: rng.standard_normal(SHAPE, np.float32) for name in ("q", "k", "v", "seed")}


def by_hand(np: ModuleType, data: Data) -> Run:
    """Forward and backward in NumPy."""
    q, k, v, seed = (data[name] for name in ("q", "k", "v", "seed"))

    def run() -> tuple[object, ...]:
        z = (q @ k.swapaxes(1, 2)) * SCALE
        e = np.exp(z - z.max(axis=2, keepdims=True))
        p = e / e.sum(axis=2, keepdims=True)
        p @ v  # the output itself belongs to the work
        gv = p.swapaxes(1, 2) @ seed
        gp = seed @ v.swapaxes(1, 2)
        gz = p * (gp - (gp * p).sum(axis=2, keepdims=True)) * SCALE
        return gz @ k, gz.swapaxes(1, 2) @ q, gv

    return run


def in_torch(torch: ModuleType, data: Data, *, compiled: bool = False) -> Run:
    """The same operations in torch, eager or compiled."""
    leaves = [torch.tensor(data[name], requires_grad=True) for name in "qkv"]
    seed = torch.tensor(data["seed"])

    def attention(q: Any, k: Any, v: Any) -> Any:
        return torch.softmax((q @ k.transpose(1, 2)) * SCALE, dim=2) @ v

    forward = torch.compile(attention) if compiled else attention

    def run() -> tuple[object, ...]:
        for leaf in leaves:
            leaf.grad = None
        forward(*leaves).backward(seed)
        return tuple(leaf.grad for leaf in leaves)

    return run


def _functional(np: Any, q: Any, k: Any, v: Any) -> Any:
    z = (q @ np.swapaxes(k, 1, 2)) * SCALE
    e = np.exp(z - np.max(z, axis=2, keepdims=True))
    return (e / np.sum(e, axis=2, keepdims=True)) @ v


def in_autograd(autograd: ModuleType, data: Data) -> Run:
    """The same operations in HIPS autograd."""

    def run() -> tuple[object, ...]:
        forward = autograd.make_vjp(lambda q, k, v: _functional(autograd.numpy, q, k, v), (0, 1, 2))
        gradients: tuple[object, ...] = forward(data["q"], data["k"], data["v"])[0](data["seed"])
        return gradients

    return run


def in_advect(advect: ModuleType, data: Data, *, staged: bool) -> Run:
    """The same operations in advect."""
    arrays, seed = [data[name] for name in "qkv"], data["seed"]

    def attention(q: Any, k: Any, v: Any) -> Any:
        z = (q @ np.transpose(k, (0, 2, 1))) * SCALE  # swapaxes is not staged
        e = np.exp(z - np.max(z, axis=2, keepdims=True))
        return (e / np.sum(e, axis=2, keepdims=True)) @ v

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = advect.vjp(attention, (0, 1, 2))(*arrays)[1](seed)
        return gradients

    def run_staged() -> tuple[object, ...]:
        program(*arrays)
        gradients: tuple[object, ...] = pullback(*arrays, cotangent=seed)
        return gradients

    if not staged:
        return run
    program = advect.stage(attention, *arrays)
    pullback = advect.vjp_program(program, (0, 1, 2))
    return run_staged


def in_jax(jax: ModuleType, data: Data) -> Run:
    """The same operations in jax, compiled."""
    q, k, v, seed = (jax.numpy.asarray(data[name]) for name in ("q", "k", "v", "seed"))

    def forward_and_backward(q: Any, k: Any, v: Any) -> Any:
        y, vjp = jax.vjp(lambda q, k, v: _functional(jax.numpy, q, k, v), q, k, v)
        return y, vjp(seed)

    step = jax.jit(forward_and_backward)

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = jax.block_until_ready(step(q, k, v))[1]
        return gradients

    return run


def in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """The same operations in xpgrad."""
    F, xp = xpgrad.functions, xpgrad.array_api
    leaves = [xpgrad.Variable(data[name], requires_grad=True) for name in "qkv"]
    q, k, v = leaves

    def run() -> tuple[object, ...]:
        for leaf in leaves:
            leaf.cleargrad()
        p = F.softmax((q @ xp.matrix_transpose(k)) * SCALE, axis=2)
        y = p @ v
        y.grad = data["seed"]
        y.backward(retain_graph=False)
        return tuple(leaf.grad for leaf in leaves)

    return run


def in_one_function(xpgrad: ModuleType, data: Data) -> Run:
    """Attention by xpgrad's function, which keeps no weights."""
    leaves = [xpgrad.Variable(data[name], requires_grad=True) for name in "qkv"]

    def run() -> tuple[object, ...]:
        for leaf in leaves:
            leaf.cleargrad()
        y = xpgrad.functions.scaled_dot_product_attention(*leaves)
        y.grad = data["seed"]
        y.backward(retain_graph=False)
        return tuple(leaf.grad for leaf in leaves)

    return run


def _program(xpgrad: ModuleType, data: Data, function: Any) -> Run:
    arrays, seed = [data[name] for name in "qkv"], data["seed"]

    @xpgrad.compile  # type: ignore[untyped-decorator]  # of a module that is loaded by its name
    def step(arrays: Any, seed: Any) -> Any:
        y, pullback = xpgrad.transforms.vjp(function, *arrays)
        return y, pullback(seed)

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = step(arrays, seed)[1]
        return gradients

    return run


def in_program(xpgrad: ModuleType, data: Data) -> Run:
    """The same operations in xpgrad, compiled."""
    F, xp = xpgrad.functions, xpgrad.array_api
    return _program(xpgrad, data, lambda q, k, v: F.softmax((q @ xp.matrix_transpose(k)) * SCALE, axis=2) @ v)


def one_function_in_program(xpgrad: ModuleType, data: Data) -> Run:
    """Attention by xpgrad's function, compiled."""
    return _program(xpgrad, data, xpgrad.functions.scaled_dot_product_attention)


def in_one_torch_function(torch: ModuleType, data: Data) -> Run:
    """Attention by torch's function."""
    leaves = [torch.tensor(data[name], requires_grad=True) for name in "qkv"]
    seed = torch.tensor(data["seed"])

    def run() -> tuple[object, ...]:
        for leaf in leaves:
            leaf.grad = None
        torch.nn.functional.scaled_dot_product_attention(*leaves).backward(seed)
        return tuple(leaf.grad for leaf in leaves)

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
ONE_FUNCTION: dict[str, Build | str] = {
    "h": by_hand,
    "t": in_one_torch_function,
    "xpgrad": in_one_function,
    "xpgrad compiled": one_function_in_program,
}


def _case(name: str, contestants: dict[str, Build | str]) -> Case:
    return Case(
        name,
        inputs,
        contestants,
        ("0.85h",),
        rtol=2e-4,
        compiled=("0.7h",),
        no_compiler=("0.75h",),
        alone=True,
    )


WORKLOADS = {
    "P12": Workload(
        "attention, 8 heads, 256 x 64, float32",
        (
            _case("", CONTESTANTS),
            _case("one function", ONE_FUNCTION),
        ),
    ),
}
