"""Input values without ties, so that finite differences do not cross kinks."""

from typing import Any

import numpy as np

from xpgrad.types import Shape


def fractions(shape: Shape, position: int, rng: np.random.Generator) -> Any:
    """Return shuffled fractional parts of consecutive multiples of the square root of 2, from number `position`.

    The smallest distance between n of them is about 1 / (3 n). Each is moved by a tenth of 1 / n at most, because sums
    of multiples of one number are often equal.
    """
    count = int(np.prod(shape, dtype=int))
    parts = rng.permutation((np.arange(position, position + count) * np.sqrt(2.0)) % 1.0)
    moved = 0.1 / max(count, 1)
    return ((1 - moved) * parts + moved * rng.random(count)).reshape(shape)


def spread(shape: Shape, low: float, high: float, position: int, rng: np.random.Generator) -> Any:
    """Return `fractions` scaled to a range, away from its ends."""
    return np.asarray(low + (high - low) * (0.01 + 0.98 * fractions(shape, position, rng)))
