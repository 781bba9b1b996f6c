"""Lengths of axes around the thresholds at which libraries take another path."""

from collections.abc import Iterable

import numpy as np

POWERS = 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536
"""Lengths of vectors, unrolled loops, blocks, tiles and buffers."""
SMALL = 0, 1, 2, 3, 5, 6, 7
QUICK = 8, 16, 32, 64, 128, 256, 1024, 4096
"""Powers for which the quick profile takes all three lengths; for other powers it takes one length."""
COARSE = 8, 16, 32, 64, 128, 256, 1024, 4096, 16384, 65536
"""The powers around which checks that take long take one length."""
LARGE = 8192
"""Length from which the quick profile takes one length around a threshold, depending on seed and function."""
BETWEEN = 0.35
"""Share of the gaps between powers in which the quick profile takes a length, depending on the seed."""
LARGEST = 1_048_577
LONG = 515, 1030, 2055, 4099, 8194
"""Lengths of an axis with an incomplete last block."""
BATCHES = 7, 9, 17, 33, 65
"""Numbers of images or rows that fill no group of 8."""
DISTINCT = 70_001
"""More elements than 16 bits can number."""


def lengths(
    rng: np.random.Generator,
    *,
    most: int = LARGEST,
    quick: bool = False,
    thresholds: Iterable[int] = (),
    few: bool = False,
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
    few : bool
        One length around each of some powers, those around thresholds, and the largest one in one of eight calls.
    """
    found: set[int]
    if few:
        found = {0, 1, 2, int(rng.choice([3, 5, 6, 7])), *(power + int(rng.integers(-1, 2)) for power in COARSE)}
        found |= {t + k for t in thresholds for k in ((-1, 0, 1) if not quick else (0, 1))}
        found |= {LARGEST} if not quick or rng.integers(8) == 0 else set()
        return sorted(n for n in found if 0 <= n <= most)
    found = set(SMALL)
    for power in POWERS:
        around = [power - 1, power, power + 1]
        found |= set(around) if power in QUICK or not quick else {int(rng.choice(around))}
        if not quick or (power < LARGE and rng.random() < BETWEEN):
            found.add(int(rng.integers(power, 2 * power)))
    found.add(int(rng.choice(QUICK[:6])) + int(rng.choice([2, 3, 5, 6])))  # the remainders of blocks of 4 and of 8
    for threshold in thresholds:
        all_around = {threshold - 1, threshold, threshold + 1, 2 * threshold + 1}
        found |= all_around if not quick or threshold < LARGE else set()
    if quick and (large := [threshold for threshold in thresholds if threshold >= LARGE]):
        found.add(int(rng.choice(large)) + int(rng.integers(2)))
    if not quick:
        found |= {100_003, 262_145, LARGEST}
    else:
        found |= {POWERS[-1] + 1, *([LARGEST] if rng.integers(3) == 0 else [])}
    return sorted(n for n in found if 0 <= n <= most)


def largest_factor(n: int) -> int:
    """Return the largest prime factor, or 1."""
    factor, largest = 2, 1
    while n > 1:
        if factor * factor > n:
            return max(largest, n)
        if n % factor == 0:
            n, largest = n // factor, factor
        else:
            factor += 1
    return largest
