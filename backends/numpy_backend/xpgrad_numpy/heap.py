"""How much freed memory the C library keeps for the next arrays."""

import numpy as np

KEPT_FROM = 33_000_000  # bytes; glibc adapts to freed blocks of up to 32 MiB


def keep_freed_memory() -> None:
    """Let glibc keep freed memory of up to 64 MiB, as after the release of a large array.

    glibc returns free memory at the end of the heap to the system from twice the size of the largest block that was
    mapped separately and freed, 256 KiB at first. A training step that uses a few MB then requests all of these
    again, and each page costs a fault: a fifth of the time of a small convolutional net. Here such a block is
    mapped and freed, but never touched. On other C libraries this has no effect.
    """
    try:
        np.empty(KEPT_FROM, np.uint8)
    except MemoryError:  # the process may not map as much: the heap remains unchanged
        pass
