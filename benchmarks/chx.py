"""CHX: P1 and P2 on chx arrays. Here `h` is xpgrad over NumPy arrays, so the ratio is the cost of a chx array."""

from types import ModuleType
from typing import Any

import numpy as np

import xpgrad
from benchmarks.chain import PAIRS, A, B, constants_xpgrad, parameters_xpgrad
from benchmarks.harness import Build, Case, Data, Run, Workload


def _sent(data: Data) -> Data:
    """Return the inputs on native:0."""
    device = xpgrad.get_device("native:0")
    return {name: device.send(array) for name, array in data.items()}


def constants_numpy(np: ModuleType, data: Data) -> Run:
    """P1 in xpgrad over NumPy arrays."""
    return constants_xpgrad(xpgrad, data)


def parameters_numpy(np: ModuleType, data: Data) -> Run:
    """P2 in xpgrad over NumPy arrays."""
    return parameters_xpgrad(xpgrad, data)


def constants_native(library: ModuleType, data: Data) -> Run:
    """P1 on Variables over native:0."""
    return constants_xpgrad(library, _sent(data))


def parameters_native(library: ModuleType, data: Data) -> Run:
    """P2 on Variables over native:0."""
    return parameters_xpgrad(library, _sent(data))


def _chain(leaves: list[Any], a: Any, b: Any, seed: Any) -> Run:
    def run() -> tuple[object, ...]:
        for leaf in leaves:
            leaf.cleargrad()
        y = leaves[0]
        for _ in range(PAIRS):
            y = y * a
            y = y + b
        y.grad = seed
        y.backward()
        return tuple(leaf.grad for leaf in leaves)

    return run


def constants_array(library: ModuleType, data: Data) -> Run:
    """P1 on arrays that carry their own graph."""
    sent = _sent(data)
    return _chain([sent["x"].require_grad()], A, B, sent["seed"])


def parameters_array(library: ModuleType, data: Data) -> Run:
    """P2 on arrays that carry their own graph."""
    sent = _sent(data)
    x, a, b = (sent[name].require_grad() for name in "xab")
    return _chain([x, a, b], a, b, sent["seed"])


def _case(name: str, size: int, contestants: dict[str, Build | str], limits: tuple[str, ...]) -> Case:
    def inputs() -> Data:
        full = {name: np.full((size,), value) for name, value in (("x", 1.0), ("a", A), ("b", B))}
        return full | {"seed": np.linspace(0.5, 1.5, size)}

    return Case(f"{name} ({size},)", inputs, contestants, limits, unit="µs/op", operations=2 * PAIRS)


CONSTANTS: dict[str, Build | str] = {
    "h": constants_numpy,
    "xpgrad": constants_native,
    "xpgrad array": constants_array,
}
PARAMETERS: dict[str, Build | str] = {
    "h": parameters_numpy,
    "xpgrad": parameters_native,
    "xpgrad array": parameters_array,
}

WORKLOADS = {
    "CHX": Workload(
        "P1 and P2 on native:0 (xpgrad: Variables over it; xpgrad array: arrays with their own graph), h over NumPy",
        tuple(_case("P1", size, CONSTANTS, ("1.3h",)) for size in (1, 64))
        + tuple(_case("P2", size, PARAMETERS, ()) for size in (1, 64)),
    ),
}
