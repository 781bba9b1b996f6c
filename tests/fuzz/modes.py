"""Random functions by all modes of differentiation, in batches and compiled: one derivative."""

from typing import Any

import numpy as np
from tests.fuzz.batched import SHAPES
from tests.fuzz.programs import Program, ours

from xpgrad import Device
from xpgrad import array_api as xp
from xpgrad.testing.arrays import placed
from xpgrad_conformance.table.one_derivative import disagreements

SPECIAL = 0.3
"""Share of programs at whole numbers from -1 to 1, where elements are equal, 0, or ends of a domain."""
COMPILED = 0.2
"""Share of programs that are also compiled."""
RTOL = 1e-7


def modes(rng: np.random.Generator, device: Device) -> str | None:
    """A function by all modes: None if all give the same derivatives, or none of them any."""
    shapes = [SHAPES[i] for i in rng.integers(0, len(SHAPES), 2)]
    program = Program(rng, shapes, most=7)
    special = bool(rng.random() < SPECIAL)
    hosts, directions = ([rng.normal(size=shape) for shape in shapes] for _ in range(2))
    xs = [placed(np.round(x) if special else x, device) for x in hosts]
    ts = [placed(t, device) for t in directions]
    executors = (None,) if rng.random() < COMPILED else ()

    def made(values: Any) -> Any:
        return placed(np.asarray(values), device)

    def loss(*given: Any) -> Any:
        return program.loss(xp, list(given), made, ours(made))

    for text in disagreements(loss, xs, ts, RTOL, defined=False, executors=executors):
        return f"{program}{' at whole numbers' if special else ''}: {text}"
    return None
