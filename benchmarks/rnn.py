"""P7: a tanh recurrent network, 200 steps, batch 16, 64 inputs and 64 hidden units, float32."""

from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

STEPS, BATCH, HIDDEN = 200, 16, 64


def inputs() -> Data:
    """Sequence `x`, state `h`, weights `u` (in, out) and `w` (hidden, out), bias `b`, cotangent `seed`.

    The matrix `w` is orthogonal, and the remaining arrays are small. With random numbers instead, the cotangents are
    subnormal after 170 steps, and products of subnormal numbers take most of the time of every contestant.
    """
    rng = np.random.default_rng(0)
    shapes = {"x": (STEPS, BATCH, HIDDEN), "h": (BATCH, HIDDEN), "seed": (BATCH, HIDDEN)}
    shapes |= {"u": (HIDDEN, HIDDEN), "w": (HIDDEN, HIDDEN), "b": (HIDDEN,)}
    data = {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    data |= {name: data[name] / np.float32(HIDDEN**0.5) for name in ("x", "h", "u", "b")}
    return data | {"w": np.linalg.qr(data["w"])[0]}


def by_hand(np: ModuleType, data: Data) -> Run:
    """Forward and backpropagation through time in NumPy."""
    h0, u, w, b, seed = (data[name] for name in ("h", "u", "w", "b", "seed"))
    x = list(data["x"])

    def run() -> tuple[object, ...]:
        states = [h0]
        for x_t in x:
            states.append(np.tanh(x_t @ u + states[-1] @ w + b))
        g, gu, gw, gb = seed, np.zeros_like(u), np.zeros_like(w), np.zeros_like(b)
        h = states.pop()
        for x_t in reversed(x):
            g = g * (1 - h * h)
            h = states.pop()
            gu += x_t.T @ g
            gw += h.T @ g
            gb += g.sum(axis=0)
            g = g @ w.T
        return gu, gw, gb

    return run


def in_torch(torch: ModuleType, data: Data) -> Run:
    """The same loop in torch eager."""
    h0, seed = torch.tensor(data["h"]), torch.tensor(data["seed"])
    leaves = [torch.tensor(data[name], requires_grad=True) for name in "uwb"]
    x = list(torch.tensor(data["x"]))
    u, w, b = leaves

    def run() -> tuple[object, ...]:
        for leaf in leaves:
            leaf.grad = None
        h = h0
        for x_t in x:
            h = torch.tanh(x_t @ u + h @ w + b)
        h.backward(seed)
        return tuple(leaf.grad for leaf in leaves)

    return run


def in_autograd(autograd: ModuleType, data: Data) -> Run:
    """The same loop in HIPS autograd."""
    x = list(data["x"])

    def last_state(u: Any, w: Any, b: Any) -> Any:
        h = data["h"]
        for x_t in x:
            h = autograd.numpy.tanh(x_t @ u + h @ w + b)
        return h

    def run() -> tuple[object, ...]:
        vjp = autograd.make_vjp(last_state, (0, 1, 2))(data["u"], data["w"], data["b"])[0]
        gradients: tuple[object, ...] = vjp(data["seed"])
        return gradients

    return run


def in_advect(advect: ModuleType, data: Data, *, staged: bool) -> Run:
    """The same loop in advect."""
    x, leaves = list(data["x"]), tuple(data[name] for name in "uwb")

    def last_state(u: Any, w: Any, b: Any) -> Any:
        h = data["h"]
        for x_t in x:
            h = np.tanh(x_t @ u + h @ w + b)
        return h

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = advect.vjp(last_state, (0, 1, 2))(*leaves)[1](data["seed"])
        return gradients

    def run_staged() -> tuple[object, ...]:
        program(*leaves)
        gradients: tuple[object, ...] = pullback(*leaves, cotangent=data["seed"])
        return gradients

    if not staged:
        return run
    program = advect.stage(last_state, *leaves)
    pullback = advect.vjp_program(program, (0, 1, 2))
    return run_staged


def in_jax(jax: ModuleType, data: Data) -> Run:
    """The loop as a scan in jax, compiled."""
    arrays = {name: jax.numpy.asarray(array) for name, array in data.items()}
    x, h0, seed = arrays["x"], arrays["h"], arrays["seed"]

    def last_state(u: Any, w: Any, b: Any) -> Any:
        return jax.lax.scan(lambda h, x_t: (jax.numpy.tanh(x_t @ u + h @ w + b), None), h0, x)[0]

    step = jax.jit(lambda *leaves: jax.vjp(last_state, *leaves)[1](seed))

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = jax.block_until_ready(step(arrays["u"], arrays["w"], arrays["b"]))
        return gradients

    return run


def in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
    """The same loop in xpgrad."""
    tanh, h0 = xpgrad.array_api.tanh, data["h"]
    leaves = [xpgrad.Variable(data[name], requires_grad=True) for name in "uwb"]
    x = list(data["x"])
    u, w, b = leaves

    def run() -> tuple[object, ...]:
        for leaf in leaves:
            leaf.cleargrad()
        h = h0
        for x_t in x:
            h = tanh(x_t @ u + h @ w + b)
        h.grad = data["seed"]
        h.backward()
        return tuple(leaf.grad for leaf in leaves)

    return run


def in_program(xpgrad: ModuleType, data: Data) -> Run:
    """The same loop in xpgrad, compiled: its last state and the gradients."""
    tanh, vjp = xpgrad.array_api.tanh, xpgrad.transforms.vjp
    x, h0, seed, leaves = data["x"], data["h"], data["seed"], tuple(data[name] for name in "uwb")

    @xpgrad.compile  # type: ignore[untyped-decorator]  # of a module that is loaded by its name
    def step(leaves: Any, x: Any, h0: Any, seed: Any) -> Any:
        def last_state(u: Any, w: Any, b: Any) -> Any:
            h = h0
            for t in range(STEPS):
                h = tanh(x[t] @ u + h @ w + b)
            return h

        h, pullback = vjp(last_state, *leaves)
        return h, pullback(seed)

    def run() -> tuple[object, ...]:
        gradients: tuple[object, ...] = step(leaves, x, h0, seed)[1]
        return gradients

    return run


CONTESTANTS: dict[str, Build | str] = {
    "h": by_hand,
    "t": in_torch,
    "autograd": in_autograd,
    "advect": lambda advect, data: in_advect(advect, data, staged=False),
    "advect stage": lambda advect, data: in_advect(advect, data, staged=True),
    "jax": in_jax,
    "xpgrad": in_xpgrad,
    "xpgrad compiled": in_program,
}

WORKLOADS = {
    "P7": Workload(
        "tanh RNN, 200 steps, batch 16, hidden 64, float32",
        (
            Case(
                "",
                inputs,
                CONTESTANTS,
                ("1.4h", "0.67t"),
                rtol=2e-4,
                compiled=("0.65h",),
                no_compiler=("0.8h",),
                alone=True,
            ),
        ),
    ),
}
