"""How much freed memory the C library keeps for the next arrays."""

import ctypes
import os

MAX_IN_HEAP = 2**25  # bytes of an array; glibc maps larger ones separately
KEPT = 2**27  # bytes
SETTINGS = "GLIBC_TUNABLES", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_"
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # parameters of mallopt


def keep_freed_memory() -> None:
    """Let glibc keep freed memory of up to 128 MiB, unless the environment has settings of its own.

    glibc returns free memory at the end of the heap to the system from 128 KiB at first, and later from twice the size
    of the largest block that was mapped separately and freed. A training step that uses more then requests all of it
    again, and each page costs a fault: a third of the time of a formula on arrays of 16 MB. On other C libraries this
    has no effect.
    """
    if any(name in os.environ for name in SETTINGS) or os.name != "posix":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, MAX_IN_HEAP)
        mallopt(M_TRIM_THRESHOLD, KEPT)
