"""Values at indices: copies of batch elements with other elements, and sums."""

from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.transforms.batch.array import BatchArray
from xpgrad.transforms.batch.batching import Batching, Later
from xpgrad.transforms.batch.rows.indexing import BatchIndex, is_mask, place
from xpgrad.transforms.batch.rows.table import row
from xpgrad.types import Array, Index


@row("setitem")
def setitem(b: Batching, function: Callable[..., Any], x: Any, u: Any, /, index: Index) -> Any:
    """Return copies of batch elements with values at an index."""
    if is_mask(b, index) and index.batched and (type(u) is not b.kind or u.ndim <= x.ndim - index.ndim):
        return _masked(b, x, u, index)
    where = place(b, index, x.shape, True)
    return b.restored(function(b.front(x), laid(b, u, where), index=where.index))


def _masked(b: Batching, x: BatchArray, u: Any, mask: BatchArray) -> Array:
    """Return copies of batch elements with one value where a mask is true."""
    if mask.shape != x.shape[: mask.ndim]:
        raise IndexError(f"expected a mask of the first axes of an array of shape {x.shape}, got {mask.shape}")
    missing = x.ndim - mask.ndim
    wide = b.made(b.reshaped(mask, (*mask.shape, *(1,) * missing)))
    value = b.base.xp.astype(b.aligned(u, x.ndim), x.dtype) if type(u) is b.kind else u
    return b.made(b.base.restore(b.xp.where(b.aligned(wide, x.ndim), value, b.aligned(x, x.ndim))))


def laid(b: Batching, u: Any, where: BatchIndex) -> Any:
    """Return values for the indexed elements in the order of axes of the library's result."""
    if type(u) is not b.kind:
        return u
    ndim = len(where.order) - 1
    if not u.batched and where.order[0] == 0 and list(where.order) == list(range(ndim + 1)):
        return u.values
    shape = u.shape[max(0, u.ndim - ndim) :]  # surplus leading axes have length 1
    lead = (b.size,) if u.batched else (1,)
    values = b.xp.reshape(u.values, shape=(*lead, *(1,) * (ndim - len(shape)), *shape))
    back = sorted(range(ndim + 1), key=where.order.__getitem__)
    return b.permuted(b.base.restore(values), back)


@row("scatter_add")
def scatter_add(b: Batching, function: Callable[..., Any], spec: Any, parts: Sequence[tuple[Index, Any]], /) -> Any:
    """Return zeros of `spec` for each batch element, with values added at indices."""
    inner = b.base.spec_for(spec.shape, spec.dtype, spec.device)
    everything = [_for_total(b, index, u) for index, u in parts]
    like = next((u.values for _, u in parts if type(u) is b.kind and u.dtype == spec.dtype), None)
    if like is None or None in everything:
        return b.made(_scattered(b, function, spec, parts, inner))
    return b.later(
        Later(
            (b.size, *spec.shape),
            like,
            lambda: _scattered(b, function, spec, parts, inner),
            lambda: b.base.restore(function(inner, everything)),
        )
    )


def _for_total(b: Batching, index: Index, u: Any) -> tuple[Index, Array] | None:
    """Return an index and the values of all batch elements to be added there, or None if an index cannot say that."""
    items = index if type(index) is tuple else (index,)
    if type(u) is not b.kind:
        return None
    if not _differs(b, index):
        return _opened(b, index), b.base.restore(b.xp.sum(b.front(u), axis=0, dtype=u.dtype, keepdims=False))
    places = [i for i, item in enumerate(items) if type(item) is b.kind]
    arrays = [items[i] for i in places]
    before, behind = places[0], items[places[-1] + 1 :]
    apart = len(places) <= places[-1] - before
    if apart or any(type(item) is not slice for item in items[:before]) or any(map(_unsuitable, behind)):
        return None
    if any(b.base.is_kind(item.dtype, "bool") for item in arrays):
        return None
    ndim = max(item.ndim for item in arrays)
    values = b.front(u)  # the batch elements of the arrays are axes of the result in their place
    values = b.permuted(values, (*range(1, before + 1), 0, *range(before + 1, len(values.shape))))
    return (*items[:before], *[b.aligned(item, ndim) for item in arrays], *behind), values


def _unsuitable(item: Any) -> bool:
    return type(item) is not slice and item is not Ellipsis


def _scattered(
    b: Batching, function: Callable[..., Any], spec: Any, parts: Sequence[tuple[Index, Any]], inner: Any
) -> Array:
    """Return zeros for each batch element with values added."""
    outer = b.base.spec_for((b.size, *spec.shape), spec.dtype, spec.device)
    alike = [(_opened(b, index), b.opened(u)) for index, u in parts if not (u.batched or _differs(b, index))]
    made = []
    for index, u in parts:
        if u.batched or _differs(b, index):
            where = place(b, index, spec.shape, True)
            made.append((where.index, laid(b, b.made(b.front(u)), where)))  # kernels do not broadcast
    total = b.base.restore(function(outer, made))
    if alike:
        total = b.base.restore(b.xp.add(total, b.base.restore(function(inner, alike))))
    return total


def _opened(b: Batching, index: Index) -> Index:
    return tuple(b.opened(item) for item in index) if type(index) is tuple else b.opened(index)


def _differs(b: Batching, index: Index) -> bool:
    return any(type(item) is b.kind and item.batched for item in (index if type(index) is tuple else (index,)))
