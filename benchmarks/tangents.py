"""JVP: a function of a million numbers and its tangent, relative to the time of the function (`plain`)."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Build, Case, Data, Run, Workload

SIZE = 1_000_000
DIRECTIONS = {"x": "u", "y": "v"}


def inputs(dtype: str) -> Data:
    """Positive numbers `x` and `y`, and their tangents `u` and `v`."""
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(0.5, 1.5, SIZE).astype(dtype) for _ in range(2))
    u, v = (rng.standard_normal(SIZE).astype(dtype) for _ in range(2))
    return {"x": x, "y": y, "u": u, "v": v}


def wave(np: Any, x: Any) -> Any:
    """Two transcendental functions; `np` is a library's NumPy."""
    return np.sin(np.exp(x))


def wave_by_hand(np: Any, x: Any, u: Any) -> tuple[Any, Any]:
    """Their value and tangent."""
    e = np.exp(x)
    return np.sin(e), np.cos(e) * e * u


def squashed(np: Any, x: Any) -> Any:
    """Three."""
    return np.tanh(np.sin(np.exp(x)))


def squashed_by_hand(np: Any, x: Any, u: Any) -> tuple[Any, Any]:
    """Their value and tangent."""
    e = np.exp(x)
    y = np.tanh(np.sin(e))
    return y, (1 - y * y) * np.cos(e) * e * u


def rational(np: Any, x: Any, y: Any) -> Any:
    """Arithmetic."""
    return (x * y + x) / y


def rational_by_hand(np: Any, x: Any, u: Any, y: Any, v: Any = None) -> tuple[Any, Any]:
    """Return the value and the tangent of (x*y + x)/y; `v`, the tangent of `y`, may be None."""
    z = (x * y + x) / y
    if v is None:
        return z, (u * y + u) / y
    return z, (u * y + x * v + u - z * v) / y


@dataclass(frozen=True)
class Problem:
    """A function, and its hand-written form with a tangent after each of the arguments `along`; other arguments are
    constant."""

    f: Callable[..., Any]
    by_hand: Callable[..., tuple[Any, Any]]
    along: str
    constant: str = ""

    def trees(self, data: Data, asarray: Callable[[Any], Any]) -> tuple[tuple[Any, ...], ...]:
        """Return primals, tangents, and the arguments that are constant."""
        directions = [DIRECTIONS[name] for name in self.along]
        return tuple(tuple(asarray(data[name]) for name in names) for names in (self.along, directions, self.constant))

    def derivative(self, jvp: Callable[..., Any], np: Any) -> Callable[..., Any]:
        """Return the function of these trees that calls a library's `jvp`."""
        return lambda primals, tangents, rest: jvp(lambda *args: self.f(np, *args, *rest), primals, tangents)

    def in_numpy(self, np: ModuleType, data: Data) -> Run:
        """By hand."""
        primals, tangents, rest = self.trees(data, np.asarray)
        pairs = [x for pair in zip(primals, tangents, strict=True) for x in pair]
        return lambda: self.by_hand(np, *pairs, *rest)

    def plain(self, xpgrad: ModuleType, data: Data) -> Run:
        """Only the function, in xpgrad."""
        primals, _, rest = self.trees(data, np.asarray)
        return lambda: (self.f(xpgrad.array_api, *primals, *rest),)

    def in_torch(self, torch: ModuleType, data: Data) -> Run:
        """By torch.func in torch eager."""
        trees, step = self.trees(data, torch.tensor), self.derivative(torch.func.jvp, torch)
        return lambda: tuple(step(*trees))

    def in_jax(self, jax: ModuleType, data: Data) -> Run:
        """By `jvp` in jax, compiled."""
        trees, step = self.trees(data, jax.numpy.asarray), jax.jit(self.derivative(jax.jvp, jax.numpy))
        return lambda: tuple(jax.block_until_ready(step(*trees)))

    def in_xpgrad(self, xpgrad: ModuleType, data: Data) -> Run:
        """By `jvp` in xpgrad."""
        trees, step = self.trees(data, np.asarray), self.derivative(xpgrad.transforms.jvp, xpgrad.array_api)
        return lambda: tuple(step(*trees))

    def in_program(self, xpgrad: ModuleType, data: Data) -> Run:
        """The same, compiled."""
        trees = self.trees(data, np.asarray)
        step = xpgrad.compile(self.derivative(xpgrad.transforms.jvp, xpgrad.array_api))
        return lambda: tuple(step(*trees))

    def case(self, name: str, limit: str, dtype: str) -> Case:
        """Return the case with all contestants."""
        contestants: dict[str, Build | str] = {
            "h": self.in_numpy,
            "plain": self.plain,
            "t": self.in_torch,
            "jax": self.in_jax,
            "xpgrad": self.in_xpgrad,
            "xpgrad compiled": self.in_program,
        }
        return Case(
            f"{name}, {dtype}",
            lambda: inputs(dtype),
            contestants,
            (limit,),
            rtol=2e-5,
            compiled=("2.2p",),
            no_compiler=("2.2p",),
        )


WORKLOADS = {
    "JVP": Workload(
        "a function of 10^6 numbers and its tangent",
        (
            Problem(wave, wave_by_hand, "x").case("sin(exp(x))", "2.2p", "float64"),
            Problem(squashed, squashed_by_hand, "x").case("tanh(sin(exp(x)))", "2.2p", "float32"),
            Problem(rational, rational_by_hand, "x", "y").case("(x*y + x)/y, one tangent", "4p", "float32"),
            Problem(rational, rational_by_hand, "xy").case("(x*y + x)/y, two tangents", "6p", "float32"),
        ),
    ),
}
