"""Marks for profilers and counts of CuPy's memory pool, for `CUDAProfileHook` and `CupyMemoryProfileHook`.

No machine with a GPU has run this module yet.
"""

from typing import Any

import cupy

from xpgrad.plugin import BackendUnavailable


def check_ranges() -> None:
    """Raise if this CuPy has no NVTX."""
    if not hasattr(cupy.cuda, "nvtx") or not getattr(cupy.cuda, "nvtx_enabled", True):
        raise BackendUnavailable("cupy: this CuPy was built without NVTX; install a wheel of CuPy's own")


def start_range(title: str) -> None:
    """Start a range of NVTX."""
    cupy.cuda.nvtx.RangePush(title)


def end_range() -> None:
    """End the range that was started last."""
    cupy.cuda.nvtx.RangePop()


class ByteMeter(cupy.cuda.MemoryHook):  # type: ignore[misc]  # CuPy has no types
    """Counts bytes while it is active.

    Attributes
    ----------
    used : int
        Bytes that were taken from CuPy's pool.
    acquired : int
        Bytes that the pool took from the GPU.
    """

    name = "xpgrad"

    def __init__(self) -> None:
        self.used = self.acquired = 0

    def malloc_postprocess(self, **sizes: Any) -> None:
        """Count the bytes taken from the pool."""
        self.used += sizes["mem_size"]

    def alloc_postprocess(self, **sizes: Any) -> None:
        """Count the bytes that the pool took from the GPU."""
        self.acquired += sizes["mem_size"]
