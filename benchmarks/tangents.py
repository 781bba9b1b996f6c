"""JVP: a function of a million numbers and its tangent, float32, in the time of the function alone (`plain`)."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

SIZE = 1_000_000
Tangent = Callable[..., tuple[Any, Any]]


def inputs() -> Data:
    """Positive numbers `x` and `y`, and their tangents `u` and `v`."""
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(0.5, 1.5, SIZE).astype(np.float32) for _ in range(2))
    u, v = (rng.standard_normal(SIZE, np.float32) for _ in range(2))
    return {"x": x, "y": y, "u": u, "v": v}


def _waves(np: Any, x: Any) -> Any:
    return np.tanh(np.sin(np.exp(x)))


def _waves_by_hand(np: Any, x: Any, u: Any) -> tuple[Any, Any]:
    e = np.exp(x)
    y = np.tanh(np.sin(e))
    return y, (1 - y * y) * np.cos(e) * e * u


def _rational(np: Any, x: Any, y: Any) -> Any:
    return (x * y + x) / y


def _rational_by_hand(np: Any, x: Any, u: Any, y: Any, v: Any = None) -> tuple[Any, Any]:
    z = (x * y + x) / y
    if v is None:
        return z, (u * y + u) / y
    return z, (u * y + x * v + u - z * v) / y


def _contestants(f: Callable[..., Any], by_hand: Tangent, along: str = "xy", constant: str = "") -> dict[str, Any]:
    """Return the contestants for the tangents of the arguments `along` at the `constant` others."""
    directions = {"x": "u", "y": "v"}

    def hand(np: ModuleType, data: Data) -> Run:
        pairs = [data[name] for x in along for name in (x, directions[x])]
        rest = [data[name] for name in constant]
        return lambda: by_hand(np, *pairs, *rest)

    def in_library(lib: Any, np: Any, asarray: Callable[[Any], Any], data: Data) -> Callable[[Any], Any]:
        """Return what calls a `jvp` of three trees: primals, tangents, constants."""
        primals, tangents, rest = (
            tuple(asarray(data[name]) for name in names)
            for names in (along, [directions[x] for x in along], constant)
        )

        def along_tangents(primals: Any, tangents: Any, rest: Any) -> Any:
            return lib.jvp(lambda *args: f(np, *args, *rest), primals, tangents)

        return lambda wrap: lambda call=wrap(along_tangents): tuple(call(primals, tangents, rest))

    def in_torch(torch: ModuleType, data: Data) -> Run:
        run: Run = in_library(torch.func, torch, torch.tensor, data)(lambda call: call)
        return run

    def in_jax(jax: ModuleType, data: Data) -> Run:
        def compiled(call: Any) -> Any:
            step = jax.jit(call)
            return lambda *args: jax.block_until_ready(step(*args))

        run: Run = in_library(jax, jax.numpy, jax.numpy.asarray, data)(compiled)
        return run

    def plain(xpgrad: ModuleType, data: Data) -> Run:
        xp, args = xpgrad.array_api, [data[name] for name in along + constant]
        return lambda: (f(xp, *args),)

    def in_xpgrad(xpgrad: ModuleType, data: Data) -> Run:
        run: Run = in_library(xpgrad.transforms, xpgrad.array_api, np.asarray, data)(lambda call: call)
        return run

    def in_program(xpgrad: ModuleType, data: Data) -> Run:
        run: Run = in_library(xpgrad.transforms, xpgrad.array_api, np.asarray, data)(xpgrad.compile)
        return run

    return {
        "h": hand,
        "plain": plain,
        "t": in_torch,
        "jax": in_jax,
        "xpgrad": in_xpgrad,
        "xpgrad compiled": in_program,
    }


def _case(name: str, contestants: dict[str, Build | str], limit: str) -> Case:
    return Case(name, inputs, contestants, (limit,), rtol=2e-5, compiled=("2.2p",), no_compiler=("2.2p",))


WORKLOADS = {
    "JVP": Workload(
        "a function of 10^6 numbers and its tangent, float32",
        (
            _case("tanh(sin(exp(x)))", _contestants(_waves, _waves_by_hand, "x"), "2.2p"),
            _case("(x*y + x)/y, one tangent", _contestants(_rational, _rational_by_hand, "x", "y"), "4p"),
            _case("(x*y + x)/y, two tangents", _contestants(_rational, _rational_by_hand, "xy"), "6p"),
        ),
    ),
}
