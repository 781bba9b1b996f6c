"""Manipulation functions: shapes and axes are those of members, behind the hidden axis."""

from collections.abc import Callable
from typing import Any

from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.table import row
from xpgrad.types import Shape


@row("reshape")
def reshape(b: Batching, function: Callable[..., Any], x: Any, /, shape: Shape, **options: Any) -> Any:
    """Return members of another shape."""
    return b.made(function(x.values, (x.values.shape[0], *shape), **options))


@row("broadcast_to")
def broadcast_to(b: Batching, function: Callable[..., Any], x: Any, /, shape: Shape) -> Any:
    """Return members broadcast to a shape."""
    return b.made(function(b.aligned(x, len(shape)), (b.size, *shape)))


@row("permute_dims")
def permute_dims(b: Batching, function: Callable[..., Any], x: Any, /, axes: tuple[int, ...]) -> Any:
    """Return members with their axes permuted."""
    return b.made(function(x.values, (0, *b.axes(axes, x.ndim))))


@row("expand_dims")
def expand_dims(b: Batching, function: Callable[..., Any], x: Any, /, *, axis: Any = 0) -> Any:
    """Return members with new axes of length 1."""
    several = isinstance(axis, (tuple, list))
    axes = b.axes(axis, x.ndim + (len(axis) if several else 1))
    return b.made(function(x.values, axis=axes if several else axes[0]))


@row("astype")
def astype(b: Batching, function: Callable[..., Any], x: Any, dtype: Any, /, **options: Any) -> Any:
    """Return members of another dtype."""
    return b.made(function(x.values, dtype, **options))


@row("matrix_transpose", "linalg.matrix_transpose")
def matrix_transpose(b: Batching, function: Callable[..., Any], x: Any, /) -> Any:
    """Return the transposes of matrices."""
    return b.made(function(x.values))
