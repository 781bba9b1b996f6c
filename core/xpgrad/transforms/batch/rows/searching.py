"""Searching, sorting and set functions."""

from collections.abc import Callable
from typing import Any, Never

from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.table import row
from xpgrad.types import Array


@row("argmax", "argmin")
def position(
    b: Batching, function: Callable[..., Any], x: Any, /, *, axis: int | None = None, keepdims: bool = False
) -> Any:
    """Return positions of extrema; without `axis` in flattened batch elements."""
    if axis is not None:
        return b.restored(function(x.values, axis=b.axis(axis, x.ndim), keepdims=keepdims))
    found = b.made(b.base.restore(function(b.flat(x), axis=1, keepdims=False)))
    return b.made(b.reshaped(found, (1,) * x.ndim)) if keepdims else found


@row("sort", "argsort")
def along_axis(b: Batching, function: Callable[..., Any], x: Any, /, *, axis: int = -1, **options: Any) -> Any:
    """Return a function along one axis of batch elements, the last by default: also Fourier transforms."""
    return b.restored(function(x.values, axis=b.axis(axis, x.ndim), **options))


@row("nonzero", "argwhere", "flatnonzero")
def nonzero(b: Batching, function: Callable[..., Any], x: Any, /) -> Never:
    """Raise: batch elements have different numbers of elements that are not zero."""
    raise b.refused(
        "nonzero has a result of another length for each batch element", "use xp.where with a mask, or xp.count_nonzero"
    )


@row("unique_all", "unique_counts", "unique_inverse", "unique_values")
def unique(b: Batching, function: Callable[..., Any], x: Any, /) -> Never:
    """Raise: batch elements have different numbers of unique values."""
    raise b.refused(
        "unique values are of another number for each batch element",
        "sort them and compare neighbours, or call it outside of the function",
    )


@row("searchsorted")
def searchsorted(
    b: Batching, function: Callable[..., Any], x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None
) -> Any:
    """Return places of numbers in sorted batch elements."""
    if not x1.batched and not (type(sorter) is b.kind and sorter.batched):
        return b.restored(function(x1.values, x2.values, side=side, sorter=b.opened(sorter)))
    if x1.ndim != 1 or side not in ("left", "right"):
        raise ValueError(f"searchsorted: expected a vector and side='left' or 'right', got {x1!r} and {side!r}")
    if sorter is not None:
        x1 = b.backend.xp.take_along_axis(x1, sorter, axis=0)
    if type(x2) is not b.kind:
        x2 = b.same(b.base.asarray(x2, dtype=x1.dtype, device=b.base.handle_of(x1.values)))
    wanted = b.made(b.front(x2))
    found = places(b, b.front(x1), b.flat(wanted), side == "right")
    empty = [b.base.namespace.zeros((0,), dtype=x.dtype, device=b.base.handle_of(x.values)) for x in (x1, wanted)]
    dtype = b.base.restore(function(*empty, side=side, sorter=None)).dtype  # which differs between libraries
    return b.made(b.base.namespace.astype(b.reshaped(b.made(found), x2.shape), dtype, copy=False))


def places(b: Batching, lines: Array, wanted: Array, right: bool) -> Array:
    """Return the numbers of elements of each sorted line, (B, M), before each of the wanted numbers, (B, N).

    By bisection, for all numbers in parallel. NaN is behind all numbers.
    """
    xp, number = b.xp, lines.shape[1]
    low = xp.zeros(wanted.shape, dtype=b.counted(1, b.made(lines)).dtype, device=b.base.handle_of(wanted))
    if not number:
        return low
    high = low + number
    floating = b.base.is_kind(lines.dtype, "real floating")
    for _ in range(number.bit_length()):
        middle = (low + high) // 2
        searching = low < high
        found = xp.take_along_axis(lines, xp.where(searching, middle, xp.zeros_like(middle)), axis=1)
        before = found <= wanted if right else found < wanted
        if floating and b.base.is_kind(wanted.dtype, "real floating"):
            unknown = xp.isnan(wanted)
            before = before | (unknown if right else unknown & ~xp.isnan(found))
        low = xp.where(searching & before, middle + 1, low)
        high = xp.where(searching & ~before, middle, high)
    return low


@row("isin")
def isin(b: Batching, function: Callable[..., Any], x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Return whether elements of `x1` occur in `x2`, within the same batch element."""
    if type(x2) is not b.kind or not x2.batched:
        found = b.base.restore(function(x1.values, b.opened(x2)))
    else:
        found = _equal_any(b, x1, x2)
    return b.made(b.xp.logical_not(found) if invert else found)


def _equal_any(b: Batching, x1: Any, x2: BatchArray) -> Array:
    """Return whether elements of `x1`, which may be a scalar, equal any element of `x2` in the same batch element."""
    among = b.flat(x2)
    if type(x1) is not b.kind:
        return b.base.restore(b.xp.any(b.base.restore(b.xp.equal(among, x1)), axis=1, keepdims=False))
    shape = x1.shape
    elements = b.made(b.front(x1))
    column = b.reshaped(elements, (elements.size, 1))
    line = b.reshaped(b.made(among), (1, x2.size))
    found = b.base.restore(b.xp.any(b.base.restore(b.xp.equal(column, line)), axis=2, keepdims=False))
    return b.reshaped(b.made(found), shape)
