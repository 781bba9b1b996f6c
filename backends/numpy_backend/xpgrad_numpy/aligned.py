"""New memory at the boundaries of cache lines, where NumPy's loops write twice as fast as at other addresses.

NumPy's own arrays begin at any multiple of 16 bytes. A loop of 64-byte vectors then touches two lines with each.
"""

import functools
import math
from collections.abc import Callable

import numpy as np

from xpgrad.types import Array, Dtype, Shape

LINE = 64


def aligned(shape: Shape, dtype: Dtype) -> Array:
    """Return a new array in C order at the beginning of a line; its elements are not initialised."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + LINE, np.uint8)
    start = -memory.ctypes.data % LINE
    return memory[start : start + size].view(dtype).reshape(shape)


def scratch(dtype: Dtype, blocks: int) -> Callable[..., Array | None]:
    """Return a function that returns an aligned array of a shape, the same array each time, for a loop over blocks.

    For one block it returns its second argument, by default None: NumPy's functions then make an array themselves.
    """
    if blocks == 1:
        return _second
    made = functools.cache(lambda shape: aligned(shape, dtype))
    return lambda shape, _=None: made(shape)


def _second(shape: Shape, array: Array | None = None) -> Array | None:
    """Return `array`."""
    return array
