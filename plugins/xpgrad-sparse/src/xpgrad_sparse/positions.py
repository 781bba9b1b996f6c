"""Which elements of an array an index takes: in coordinates, so that arrays stay sparse."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import sparse
from sparse import COO


def dense(x: Any) -> Any:
    """Return a sparse array as a NumPy array, and any other object unchanged."""
    return x.todense() if isinstance(x, COO) else x


@dataclass(frozen=True)
class Index:
    """An index of an array of one shape, with the arrays in it broadcast and made one-dimensional.

    Attributes
    ----------
    items : tuple
        One for each axis, in order: integers, slices, and NumPy arrays with one axis; None for each new axis.
    block : tuple of int or None
        The shape that the arrays had after broadcasting; None without arrays.
    at : int
        The position of the first axis of `block` in the result.
    """

    items: tuple[Any, ...]
    block: tuple[int, ...] | None
    at: int

    def source(self, shape: tuple[int, ...], coords: Any) -> Any:
        """Return where in an array of `shape` the elements are that this index puts at `coords`."""
        axes, flat = list(coords), np.zeros(coords.shape[1], np.intp)
        if self.block is not None:
            taken = axes[self.at : self.at + len(self.block)]
            flat = np.asarray(np.ravel_multi_index(tuple(taken), self.block)) if taken else flat
            del axes[self.at : self.at + len(self.block)]
        found, rest, lengths = [], iter(axes), iter(shape)
        for item in self.items:
            if item is None:
                next(rest)
                continue
            length = next(lengths)
            if isinstance(item, slice):
                start, _, step = item.indices(length)
                found.append(start + step * next(rest))
            elif isinstance(item, np.ndarray):
                found.append(np.where(item < 0, item + length, item)[flat])
            else:
                found.append(np.full(coords.shape[1], item + length if item < 0 else item, np.intp))
        return np.stack(found) if found else np.zeros((0, coords.shape[1]), np.intp)


def parse(index: Any, ndim: int) -> Index:
    """Return `index` with one item for each axis of an array with `ndim` axes."""
    items = [_plain(item) for item in (index if isinstance(index, tuple) else (index,))]
    used = sum(
        getattr(item, "ndim", 1) if _is_mask(item) else 1 for item in items if item is not None and item is not ...
    )
    if ... not in [item for item in items if item is ...]:
        items.append(...)
    where = next(k for k, item in enumerate(items) if item is ...)
    items[where : where + 1] = [slice(None)] * (ndim - used)
    whole: list[Any] = []
    for item in items:
        whole.extend(np.nonzero(item) if _is_mask(item) else [item])
    arrays = [item for item in whole if isinstance(item, np.ndarray)]
    if not arrays:
        return Index(tuple(whole), None, 0)
    block = np.broadcast_shapes(*(item.shape for item in arrays))
    advanced = [k for k, item in enumerate(whole) if isinstance(item, (int, np.ndarray))]
    adjacent = advanced == list(range(advanced[0], advanced[-1] + 1))
    flat = [np.broadcast_to(i, block).reshape(-1) if isinstance(i, (int, np.ndarray)) else i for i in whole]
    return Index(tuple(flat), block, advanced[0] if adjacent else 0)


def getitem(x: COO, /, *, index: Any) -> Any:
    """Return ``x[index]`` for every index of the standard, and indices with several arrays."""
    at = parse(index, x.ndim)
    if len([item for item in at.items if item is not None]) > x.ndim:
        raise IndexError(f"x[index]: an array with {x.ndim} axes takes no more indices; got {index!r}")
    items, turned = _forwards(at, x.shape)
    taken = array_of(x[items])
    taken = sparse.flip(taken, axis=turned) if turned else taken
    if at.block is None:
        return taken
    return taken.reshape((*taken.shape[: at.at], *at.block, *taken.shape[at.at + 1 :]))


def _forwards(at: Index, shape: tuple[int, ...]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """Return the items with positive steps, and the axes to flip: sparse is wrong for ``x[:-1:-1]``."""
    items, turned, lengths, axis = [], [], iter(shape), 0
    for item in at.items:
        length = 0 if item is None else next(lengths)
        if isinstance(item, slice):
            taken = range(*item.indices(length))
            if not taken:
                item = slice(0, 0)
            elif taken.step < 0:
                item = slice(taken[-1], taken[0] + 1, -taken.step)
                turned.append(axis if at.block is None or axis < at.at else axis + 1)
        axis += item is None or isinstance(item, slice)
        items.append(item)
    return tuple(items), tuple(turned)


def scatter_add(spec: Any, pairs: Any, /) -> COO:
    """Return zeros of `spec` with the stored values of all pairs added at their index."""
    coords, data = [np.zeros((len(spec.shape), 0), np.intp)], [np.zeros(0, spec.dtype)]
    for index, value in pairs:
        stored = _stored(value)
        coords.append(parse(index, len(spec.shape)).source(spec.shape, stored[0]))
        data.append(stored[1])
    return summed(np.concatenate(coords, axis=1), np.concatenate(data).astype(spec.dtype, copy=False), spec.shape)


def setitem(x: COO, u: COO, /, *, index: Any) -> COO:
    """Return a copy of `x` with `u` at `index`; the last value counts where a position is repeated."""
    parsed = parse(index, x.ndim)
    shape = getitem(COO(np.zeros((x.ndim, 0), np.intp), np.zeros(0), x.shape), index=index).shape
    targets = parsed.source(x.shape, np.indices(shape).reshape(len(shape), prod(shape)))
    values = np.broadcast_to(dense(u), shape).reshape(-1).astype(x.dtype)
    flat = np.asarray(np.ravel_multi_index(tuple(targets), x.shape)) if x.ndim else np.zeros(prod(shape), np.intp)
    _, last = np.unique(flat[::-1], return_index=True)
    last = flat.size - 1 - last
    targets, values = targets[:, last], values[last]
    written = summed(targets, np.ones(last.size, np.bool), x.shape)
    return sparse.where(written, summed(targets, values, x.shape), x)


def zero_filled(x: COO) -> COO:
    """Return the array with the fill value 0: all elements are stored where it was another."""
    if x.fill_value == 0 and not np.signbit(np.real(x.fill_value)) and not np.signbit(np.imag(x.fill_value)):
        return x
    return summed(*_stored(x), x.shape)


def array_of(x: Any) -> COO:
    """Return a NumPy array or scalar as a sparse array that shares no memory with the input."""
    return x if isinstance(x, COO) else COO.from_numpy(np.array(x))


def _stored(x: COO) -> tuple[Any, Any]:
    """Return coordinates and values of the elements that are not 0, or of all elements if the fill value is not 0."""
    if x.fill_value == 0 and x.ndim:
        return x.coords, x.data
    return np.indices(x.shape).reshape(x.ndim, x.size), x.todense().reshape(-1)


def summed(coords: Any, data: Any, shape: tuple[int, ...]) -> COO:
    """Return an array with `data` added up at `coords`, and zeros at all other positions."""
    if not shape:  # one value is stored, as for arrays with axes: the fill value is 0
        coords, data = np.zeros((0, 1), np.intp), data.sum(dtype=data.dtype, keepdims=True)
    return COO(coords, data, shape=shape, fill_value=data.dtype.type(0))


def _plain(item: Any) -> Any:
    item = dense(item)
    if isinstance(item, (list, np.ndarray)):
        item = np.asarray(item)
        return item.astype(np.intp) if item.dtype.kind in "iu" else item  # sparse adds lengths in the index's dtype
    return item if item is None or item is ... or isinstance(item, (slice, bool)) else item.__index__()


def _is_mask(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.dtype == np.bool
