"""JACOBIAN: 256 x 256, two-layer net. HESSIAN: squared error of a net with 200 parameters. Both in float64."""

from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

WIDTH = 256
EXAMPLES, FEATURES, UNITS = 64, 8, 20
PARAMETERS = (FEATURES + 2) * UNITS


def layers() -> Data:
    """The input `x` of a net and the weights of its two layers."""
    rng = np.random.default_rng(0)
    w1, w2 = (rng.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5 for _ in range(2))
    return {"x": rng.standard_normal(WIDTH), "w1": w1, "w2": w2}


def net(np: Any, x: Any, w1: Any, w2: Any) -> Any:
    """The output of two layers; `np` is a library's NumPy."""
    return np.tanh(np.tanh(x @ w1) @ w2)


def jacobian_by_hand(np: ModuleType, data: Data) -> Run:
    """The chain rule in NumPy: one product of matrices."""
    x, w1, w2 = (data[name] for name in ("x", "w1", "w2"))

    def run() -> tuple[object, ...]:
        h = np.tanh(x @ w1)
        y = np.tanh(h @ w2)
        return ((w2.T * (1 - h * h)) @ w1.T * (1 - y * y)[:, None],)

    return run


def jacobian_in_torch(torch: ModuleType, data: Data) -> Run:
    """By torch.func in torch eager."""
    x, w1, w2 = (torch.tensor(data[name]) for name in ("x", "w1", "w2"))
    f = torch.func.jacrev(lambda x: net(torch, x, w1, w2))
    return lambda: (f(x),)


def jacobian_in_jax(jax: ModuleType, data: Data) -> Run:
    """By `jacrev`, compiled."""
    x, w1, w2 = (jax.numpy.asarray(data[name]) for name in ("x", "w1", "w2"))
    f = jax.jit(jax.jacrev(lambda x, w1, w2: net(jax.numpy, x, w1, w2)))
    return lambda: (jax.block_until_ready(f(x, w1, w2)),)


def jacobian_in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """By `jacobian`."""
    xp, x, w1, w2 = xpgrad.array_api, *(data[name] for name in ("x", "w1", "w2"))
    f = xpgrad.transforms.jacobian(lambda x: net(xp, x, w1, w2))
    return lambda: (f(x),)


def jacobian_in_program(xpgrad: ModuleType, data: Data) -> Run:
    """By `jacobian`, compiled."""
    xp, x, w1, w2 = xpgrad.array_api, *(data[name] for name in ("x", "w1", "w2"))
    f = xpgrad.compile(xpgrad.transforms.jacobian(lambda x, w1, w2: net(xp, x, w1, w2)))
    return lambda: (f(x, w1, w2),)


def regression() -> Data:
    """The `parameters` of a net in one vector, and examples `x` and `t`."""
    rng = np.random.default_rng(0)
    return {
        "parameters": rng.standard_normal(PARAMETERS) / FEATURES**0.5,
        "x": rng.standard_normal((EXAMPLES, FEATURES)),
        "t": rng.standard_normal(EXAMPLES),
    }


def error(np: Any, parameters: Any, x: Any, t: Any) -> Any:
    """The mean squared error of a net with one hidden layer; `np` is a library's NumPy."""
    w = np.reshape(parameters[: FEATURES * UNITS], (FEATURES, UNITS))
    b, v = parameters[FEATURES * UNITS : -UNITS], parameters[-UNITS:]
    r = np.tanh(x @ w + b) @ v - t
    return np.mean(r * r)


def hessian_by_hand(np: ModuleType, data: Data) -> Run:
    """Products of first derivatives of the net, and its second ones, which stay within a unit."""
    parameters, x, t = data["parameters"], data["x"], data["t"]
    x1 = np.concatenate([x, np.ones((EXAMPLES, 1))], axis=1)  # the bias is the weight of a one
    inner, units = (FEATURES + 1) * UNITS, np.arange(UNITS)

    def run() -> tuple[object, ...]:
        w, v = parameters[:inner].reshape(FEATURES + 1, UNITS), parameters[inner:]
        h = np.tanh(x1 @ w)
        r = (h @ v - t) * (2 / EXAMPLES)
        d = 1 - h * h
        first = np.concatenate([(x1[:, :, None] * (d * v)[:, None, :]).reshape(EXAMPLES, inner), h], axis=1)
        found = (first.T @ first) * (2 / EXAMPLES)
        curved = ((x1[:, :, None] * (r[:, None] * h * d * (-2 * v))[:, None, :]).reshape(EXAMPLES, inner)).T @ x1
        blocks = found[:inner, :inner].reshape(FEATURES + 1, UNITS, FEATURES + 1, UNITS)
        blocks[:, units, :, units] += curved.reshape(FEATURES + 1, UNITS, FEATURES + 1).transpose(1, 0, 2)
        mixed = x1.T @ (d * r[:, None])
        found[:inner, inner:].reshape(FEATURES + 1, UNITS, UNITS)[:, units, units] += mixed
        found[inner:, :inner].reshape(UNITS, FEATURES + 1, UNITS)[units, :, units] += mixed.T
        return (found,)

    return run


def hessian_in_torch(torch: ModuleType, data: Data) -> Run:
    """By torch.func in torch eager."""
    parameters, x, t = (torch.tensor(data[name]) for name in ("parameters", "x", "t"))
    f = torch.func.hessian(lambda parameters: error(torch, parameters, x, t))
    return lambda: (f(parameters),)


def hessian_in_jax(jax: ModuleType, data: Data) -> Run:
    """By `hessian`, compiled."""
    parameters, x, t = (jax.numpy.asarray(data[name]) for name in ("parameters", "x", "t"))
    f = jax.jit(jax.hessian(lambda parameters, x, t: error(jax.numpy, parameters, x, t)))
    return lambda: (jax.block_until_ready(f(parameters, x, t)),)


def hessian_in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """By `hessian`."""
    xp, parameters, x, t = xpgrad.array_api, *(data[name] for name in ("parameters", "x", "t"))
    f = xpgrad.transforms.hessian(lambda parameters: error(xp, parameters, x, t))
    return lambda: (f(parameters),)


def hessian_in_program(xpgrad: ModuleType, data: Data) -> Run:
    """By `hessian`, compiled."""
    xp, parameters, x, t = xpgrad.array_api, *(data[name] for name in ("parameters", "x", "t"))
    f = xpgrad.compile(xpgrad.transforms.hessian(lambda parameters, x, t: error(xp, parameters, x, t)))
    return lambda: (f(parameters, x, t),)


JACOBIAN: dict[str, Build | str] = {
    "h": jacobian_by_hand,
    "t": jacobian_in_torch,
    "jax": jacobian_in_jax,
    "xpgrad": jacobian_in_xpgrad,
    "xpgrad compiled": jacobian_in_program,
}
HESSIAN: dict[str, Build | str] = {
    "h": hessian_by_hand,
    "t": hessian_in_torch,
    "jax": hessian_in_jax,
    "xpgrad": hessian_in_xpgrad,
    "xpgrad compiled": hessian_in_program,
}

WORKLOADS = {
    "JACOBIAN": Workload(
        "Jacobian, 256 x 256, of tanh(tanh(x @ w1) @ w2), float64",
        (Case("", layers, JACOBIAN, ("2.5j",), compiled=("1.3j",), no_compiler=("1.3j",)),),
    ),
    "HESSIAN": Workload(
        "Hessian of the squared error of a tanh net with 200 parameters, batch 64, float64",
        (Case("", regression, HESSIAN, ("3j",), compiled=("1.5j",), no_compiler=("1.5j",)),),
    ),
}
