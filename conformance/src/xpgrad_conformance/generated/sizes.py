"""Lengths of axes around the thresholds at which libraries take another path."""

from collections.abc import Iterable

import numpy as np

POWERS = 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536
"""Lengths of vectors, unrolled loops, blocks, tiles and buffers."""
SMALL = 0, 1, 2, 3, 5, 6, 7
QUICK = 8, 16, 32, 64, 128, 256, 1024, 4096, 65536
"""The powers around which the quick profile takes all three lengths; around each other one it takes one of them."""
LARGEST = 1_048_577


def lengths(
    rng: np.random.Generator, *, most: int = LARGEST, quick: bool = False, thresholds: Iterable[int] = ()
) -> list[int]:
    """Return lengths in ascending order: small ones, those around thresholds, and one between each two powers of 2.

    Parameters
    ----------
    rng : numpy.random.Generator
        Decides about the lengths between.
    most : int
        The largest length.
    quick : bool
        Fewer of them.
    thresholds : iterable of int
        Lengths at which the backend says that it takes another path.
    """
    found = set(SMALL)
    for power in POWERS:
        around = [power - 1, power, power + 1]
        found |= set(around) if power in QUICK or not quick else {int(rng.choice(around))}
        found.add(int(rng.integers(power, 2 * power)))
    for threshold in thresholds:
        found |= {threshold - 1, threshold, threshold + 1, 2 * threshold + 1}
    found |= {LARGEST, *([] if quick else [100_003, 262_145])}
    return sorted(n for n in found if 0 <= n <= most)
