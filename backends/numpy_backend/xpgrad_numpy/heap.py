"""How much freed memory the C library keeps for the next arrays."""

import numpy as np

KEPT_FROM = 33_000_000  # bytes; glibc adapts to freed blocks of up to 32 MiB


def keep_freed_memory() -> None:
    """Let glibc keep freed memory of up to 64 MiB, as it does once a large array has been freed.

    glibc gives free memory at the end of the heap back to the system from twice the size of the largest block on that
    was mapped by itself and freed, 256 KiB at first. A step of training that uses a few MB then asks the system for all
    of them again, and each page costs a fault: a fifth of the time of a small convolutional net. Here such a block is
    mapped and freed, but never touched. Elsewhere it has no effect.
    """
    try:
        np.empty(KEPT_FROM, np.uint8)
    except MemoryError:  # the process may not map as much: then the heap stays as it is
        pass
