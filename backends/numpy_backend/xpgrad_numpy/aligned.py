"""New memory at the boundaries of cache lines, where NumPy's loops write twice as fast as elsewhere.

NumPy's own arrays begin at any multiple of 16 bytes. A loop of 64-byte vectors then touches two lines with each.
"""

import functools
import math
from collections.abc import Callable

import numpy as np

from xpgrad.types import Array, Dtype, Shape

LINE = 64
LARGE = 2**15  # elements; a loop over fewer is not worth what it costs to prepare it


def aligned(shape: Shape, dtype: Dtype) -> Array:
    """Return a new array in C order at the beginning of a line; its elements are not initialised."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size].view(dtype).reshape(shape)


def scratch(dtype: Dtype, size: int) -> Callable[[Shape], Array | None]:
    """Return a function that returns such an array of a shape, the same one each time, for loops over `size` elements.

    For few elements it returns None: NumPy then makes its own array in a fraction of the time.
    """
    return functools.cache(lambda shape: aligned(shape, dtype)) if size >= LARGE else _none


def _none(shape: Shape) -> None:
    """Return None."""
