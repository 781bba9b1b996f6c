"""Inputs of the calls, and descriptions of libraries."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

RNG = np.random.default_rng(7)


def spread(*shape: int, low: float = 0.3, high: float = 1.8) -> Any:
    """Return distinct, unsorted numbers that are not round."""
    count = int(np.prod(shape))
    places = RNG.permutation(count) + RNG.uniform(0.2, 0.8, count)
    return (low + (high - low) * places / count).reshape(shape)


S = spread(3, 3) + np.eye(3)
INPUTS: dict[str, Any] = {
    "x": spread(7),
    "y": spread(7) * 1.3,
    "z": spread(7) + 0.1,
    "t": np.sort(spread(7)),  # a grid
    "u": spread(7, low=0.05, high=0.95),  # probabilities
    "q": spread(40) - 0.8,  # a sample
    "r": np.asarray(0.7),
    "p": spread(3),
    "a": spread(4, 3) - 0.7,
    "b": spread(4, 3) + 0.1,
    "w": spread(12, 3) - 0.8,  # a table
    "m": spread(6, 6),  # an image
    "s": S,
    "k": S @ S.T + np.eye(3),  # positive definite
    "c": spread(6) - 1j * spread(6),
    "n": np.asarray([0, 1, 0, 1, 1, 0, 1]),  # labels
}


@dataclass(frozen=True)
class Library:
    """A library, the modules whose names its calls use, and the calls."""

    name: str
    calls: str
    modules: tuple[str, ...]
    whole: bool = False  # the tables show calls with their arguments
    short: dict[str, str] = field(default_factory=dict)  # names for expressions
    symmetric: tuple[str, ...] = ("k",)
    prepare: Callable[[dict[str, Any]], None] | None = None
