"""Finite differences of a function of one real number, and random directions."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

STEP = 3e-4  # for the five-point formula in float64: rounding gives 1e-12, truncation 1e-14 of the fifth derivative


def derivative(f: Callable[[float], float], step: float = STEP) -> float:
    """Return the derivative of `f` at 0 by the central five-point formula, whose error is of order ``step**4``."""
    near, far = f(step) - f(-step), f(2 * step) - f(-2 * step)
    return (8 * near - far) / (12 * step)


def random_values(shape: tuple[int, ...], complex_: bool, rng: np.random.Generator) -> Any:
    """Return float64 or complex128 values of either sign with magnitudes from 0.5 to 1.5."""
    sign = rng.choice((-1.0, 1.0), shape)
    values = sign * rng.uniform(0.5, 1.5, shape)
    return np.asarray(values + 1j * random_values(shape, False, rng) if complex_ else values)


def unit_directions(arrays: Sequence[Any], rng: np.random.Generator) -> list[Any]:
    """Return one random direction through the space of all host `arrays`, with length 1 and no component near 0."""
    directions = [random_values(a.shape, np.iscomplexobj(a), rng) for a in arrays]
    length = np.sqrt(sum(np.sum(np.abs(d) ** 2) for d in directions))
    return [d / length for d in directions] if length else directions
