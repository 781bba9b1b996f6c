"""Faults of writes: into memory that other arrays share, or that the write itself reads."""

from typing import Any

import numpy as np
from tests.faults.fault import fault, giving_operator, replacing
from tests.faults.testbed import Testbed, change


@fault("a write of an array's own elements, more than 64, copies block by block and reads what it has written", "A")
def overlapping_writes_forward(bed: Testbed) -> None:
    def write(x: Any, key: Any, value: Any) -> None:
        target = x[key] if isinstance(key, slice) else None
        if (
            target is None or not isinstance(value, np.ndarray) or value.shape != target.shape or len(value) <= 64
            or not np.may_share_memory(target, value)
        ):  # fmt: skip
            x[key] = value
            return
        for start in range(0, len(value), 64):
            target[start : start + 64] = value[start : start + 64].copy()

    def setitem(self: Any, key: Any, value: Any) -> None:
        bed.library.call(write, self, key, value)

    change(bed.library.Array, __setitem__=setitem)


@replacing("astype", families="A")
def astype_returns_views(right: Any, x: Any, dtype: Any, /, **options: Any) -> Any:
    """astype to the same dtype copies arrays, but returns views as they are, so that a write changes the other array"""
    if x.dtype == dtype and isinstance(x.base, np.ndarray) and x.size < x.base.size:
        return x
    return right(x, dtype, **options)


@fault("x[key] = u that is refused for its shape has cleared the place already", "A")
def refused_write_has_cleared(bed: Testbed) -> None:
    def write(x: Any, key: Any, value: Any) -> None:
        x[key] = np.zeros((), x.dtype)
        x[key] = value

    right: Any = np.ndarray.__setitem__

    def careful(x: Any, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and np.shares_memory(x, value):
            right(x, key, value)
        else:
            write(x, key, value)

    bed.operator("__setitem__", careful)


@giving_operator("__setitem__", "x[key] = u copies vectors of 16 forwards, also where u is another view of x", "A")
def write_of_its_own_reverse(x: Any, key: Any, value: Any) -> None:
    target = x[key]
    if (
        not isinstance(target, np.ndarray)
        or not isinstance(value, np.ndarray)
        or target.shape != value.shape
        or target.ndim != 1
        or not np.shares_memory(target, value)
        or not np.shares_memory(target, x)
    ):
        x[key] = value
        return
    for start in range(0, len(target), 16):
        target[start : start + 16] = value[start : start + 16].copy()
