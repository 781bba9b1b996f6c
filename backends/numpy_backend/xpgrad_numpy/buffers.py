"""The size of the buffers of NumPy's loops, for arrays of rows.

If several rows fit into a buffer, NumPy copies an operand that is broadcast into it, row by row, which takes as long as
the loop. With buffers of one row NumPy reads the operand in place.
"""

import math
from types import TracebackType

import numpy as np

from xpgrad.types import Array

USUAL = 8192
LARGE = 2**15  # elements of an array; for smaller ones the copies take no longer than the two calls
NARROWEST = 256  # elements of a row; for shorter ones the calls of the inner loop take longer than the copies
UNIT = 16  # buffers are multiples of that


class Buffers:
    """A context in which this thread's buffers hold one row.

    Parameters
    ----------
    width : int
        Number of elements of a row.
    """

    __slots__ = ("_before", "_size")

    def __init__(self, width: int) -> None:
        self._size = min(width // UNIT * UNIT, USUAL) if width >= NARROWEST else None
        self._before: int | None = None

    def __enter__(self) -> None:
        if self._size is not None:
            self._before = np.setbufsize(self._size)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._before is not None:
            np.setbufsize(self._before)


UNCHANGED = Buffers(0)


def on_rows(x: Array, axes: int | tuple[int, ...] | None) -> Buffers:
    """Return a context for loops over `x` and its sums along `axes`, which broadcast with `x`.

    Arrays that are not contiguous are copied into buffers, whose size then decides on the order of additions.
    """
    if x.size < LARGE or axes is None or not x.flags.c_contiguous:
        return UNCHANGED
    summed = {a % x.ndim for a in ((axes,) if isinstance(axes, int) else axes)}
    inner = x.ndim - 1 in summed
    row = next((i + 1 for i in reversed(range(x.ndim)) if (i in summed) is not inner), 0)
    return Buffers(math.prod(x.shape[row:]))
