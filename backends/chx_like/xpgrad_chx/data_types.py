"""The standard's functions of dtypes and shapes: NumPy's functions applied to dtypes and shapes of chx arrays."""

from typing import Any

import numpy as np

from xpgrad.plugin import FloatLimits
from xpgrad.types import Dtype, Shape
from xpgrad_chx.memory import Memory

isdtype = np.isdtype
bool_ = np.bool
all_dtypes = (np.bool, np.int8, np.int16, np.int32, np.int64, np.uint8, np.float16, np.float32, np.float64)
"""The dtypes of ChainerX. Arrays may have the others of the standard, too."""


def _known(x: Any) -> Any:
    return x.dtype if isinstance(x, Memory) else x


def can_cast(from_: Any, to: Dtype, /) -> bool:
    """Return whether a dtype, or the dtype of an array, promotes to another."""
    return bool(np.can_cast(_known(from_), to))


def finfo(type: Any, /) -> Any:
    """Return the limits of a floating-point dtype, or of the dtype of an array, as Python floats."""
    return FloatLimits(np.finfo(_known(type)))


def iinfo(type: Any, /) -> Any:
    """Return the limits of an integer dtype, or of the dtype of an array."""
    return np.iinfo(_known(type))


def result_type(*arrays_and_dtypes: Any) -> Dtype:
    """Return the dtype that these promote to."""
    return np.result_type(*map(_known, arrays_and_dtypes))


def broadcast_shapes(*shapes: Shape) -> Shape:
    """Return the broadcast shape of `shapes`."""
    return tuple(np.broadcast_shapes(*shapes))
