"""Manipulation functions that take more arguments in ChainerX than in the standard."""

import operator
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from xpgrad_chx.array import ndarray
from xpgrad_chx.errors import DtypeError
from xpgrad_chx.evaluation import KINDS, assign, call

__all__ = ["copyto", "squeeze", "tile"]


Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]


def copyto(dst: ndarray, src: Any, casting: Casting = "same_kind", where: Any = True) -> None:
    """Write `src`, which broadcasts, into `dst`, where `where` is true.

    Parameters
    ----------
    dst : array
        In no graph, while one is recorded.
    src : array or scalar
    casting : {"same_kind", "safe", "no", "equiv", "unsafe"}
        Rule for casts to the dtype of `dst`, as in NumPy.
    where : bool or array of bool

    Raises
    ------
    DtypeError
        `casting` forbids the cast.
    ChainerxError
        `dst` or `src` is in a graph.
    """
    if isinstance(src, ndarray):
        if not np.can_cast(src.dtype, dst.dtype, casting):
            raise DtypeError(f"copyto: {src.dtype} cannot be cast to {dst.dtype} with casting={casting!r}")
        if KINDS.index(src.dtype.kind) > KINDS.index(dst.dtype.kind):
            src = src.astype(dst.dtype)
    if where is not True:
        src = call("where", (where, src, dst), {}) if isinstance(where, ndarray) else src if where else dst
    assign(operator.setitem, "copyto", dst, ..., src)


def squeeze(x: ndarray, /, axis: int | tuple[int, ...] | None = None) -> ndarray:
    """Return the array without the axes `axis`, by default all axes of length 1."""
    return x.squeeze(axis)  # type: ignore[no-any-return]  # of this class


def tile(x: ndarray, repetitions: int | Sequence[int], /) -> ndarray:
    """Return the array repeated `repetitions` times along each axis, aligned to the last axis."""
    times = (repetitions,) if isinstance(repetitions, int) else tuple(repetitions)
    return call("tile", (x, times), {})  # type: ignore[no-any-return]  # of this class
