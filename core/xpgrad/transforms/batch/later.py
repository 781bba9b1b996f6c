"""`Later`: values that are computed when they are needed."""

from collections.abc import Callable
from typing import NamedTuple

from xpgrad.types import Array, Shape


class Later(NamedTuple):
    """Deferred values, because possibly only their sum over the batch elements is needed.

    Attributes
    ----------
    shape : tuple of int
        Shape with the hidden axis.
    like : array
        The library's array of the same dtype and device.
    values : callable
        Returns the library's array.
    total : callable
        Returns its sum over the batch elements, for less than the values take.
    """

    shape: Shape
    like: Array
    values: Callable[[], Array]
    total: Callable[[], Array]
