"""Creation functions, and casts: results that depend on shapes only are shared by all batch elements."""

from collections.abc import Callable
from typing import Any, Never

from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.batching import Batching
from xpgrad.transforms.batch.rows.shapes import broadcast
from xpgrad.transforms.batch.rows.table import Row, row
from xpgrad.types import WHOLE, Array


@row("astype", "_cast", "duplicate")
def copied(b: Batching, function: Callable[..., Any], x: Any, /, *args: Any, **options: Any) -> Any:
    """Return a copy of batch elements, or these in another dtype."""
    return b.restored(function(x.values, *args, **options))


@row("asarray")
def asarray(b: Batching, function: Callable[..., Any], obj: Any, /, **options: Any) -> Any:
    """Return a batched array in another dtype, on another device, or in new memory."""
    if type(obj) is not b.kind:
        raise b.refused("asarray was called with a sequence of batched arrays", "join them by xp.stack")
    return b.restored(function(obj.values, **options))


def _like(name: str) -> Row:
    def like(b: Batching, function: Callable[..., Any], x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
        make = getattr(b.base.namespace, name)
        return b.same(make(x.shape, dtype=x.dtype if dtype is None else dtype, device=_place(b, x, device)))

    return like


for _name in ("empty", "ones", "zeros"):
    row(f"{_name}_like")(_like(_name))


@row("full_like")
def full_like(
    b: Batching, function: Callable[..., Any], x: Any, fill_value: Any, /, *, dtype: Any = None, device: Any = None
) -> Any:
    """Return arrays of the shape of a batch element, filled with a value, which may differ between batch elements."""
    kind, place = x.dtype if dtype is None else dtype, _place(b, x, device)
    if type(fill_value) is b.kind:
        return _filled(b, x.shape, fill_value, kind, place)
    return b.same(b.base.namespace.full(x.shape, fill_value, dtype=kind, device=place))


@row("full")
def full(
    b: Batching, function: Callable[..., Any], shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None
) -> Any:
    """Return arrays filled with a value for each batch element."""
    lengths = (shape,) if isinstance(shape, WHOLE) else tuple(shape)
    kind = fill_value.dtype if dtype is None else dtype
    return _filled(b, lengths, fill_value, kind, _place(b, fill_value, device))


def _filled(b: Batching, shape: Any, value: BatchArray, dtype: Any, device: Any) -> Array:
    if value.ndim:
        raise ValueError(f"expected a number to fill an array with, got an array of shape {value.shape}")
    cast_values: Array = b.base.asarray(value.values, dtype=dtype, device=device)
    return broadcast(b, b.kind(b, cast_values, value.batched), tuple(shape))


def _place(b: Batching, x: BatchArray, device: Any) -> Any:
    return b.base.handle_of(x.values) if device is None else device


@row("arange")
def arange(b: Batching, function: Callable[..., Any], *args: Any, **options: Any) -> Never:
    """Raise: the number of elements could differ between batch elements."""
    raise b.refused("arange has a bound for each batch element", "count without bounds, start + step * xp.arange(n)")


@row("linspace")
def linspace(b: Batching, function: Callable[..., Any], *args: Any, **options: Any) -> Never:
    """Raise: only `linspace` of `xpgrad.array_api` takes arrays as bounds."""
    raise b.refused("linspace has a bound for each batch element", "use start + (stop - start) * xp.linspace(0, 1, n)")
