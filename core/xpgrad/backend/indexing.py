"""Indexing beyond the support of a library, by integer arrays for all axes."""

import functools
import math
from collections.abc import Sequence
from types import EllipsisType
from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.spec import Spec
from xpgrad.types import Array, Index, Namespace, Shape

BASIC = frozenset((int, slice, type(None), type(...)))
"""Types of the items of a basic index."""
REFUSALS = (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError)
"""Exceptions that libraries raise for indices that they do not support."""


def is_basic(index: Index) -> bool:
    """Return whether `index` is a basic one, without arrays, which takes no element twice."""
    items = index if type(index) is tuple else (index,)
    return all(type(item) in BASIC for item in items)


def block(index: Index, shape: Shape) -> tuple[Shape, list[tuple[int, int]]] | None:
    """Return the block that ``x[index]`` takes of an `x` of this shape, or None if the elements are not contiguous.

    Returns
    -------
    tuple or None
        The shape of ``x[index]``, and the start and stop of the block along each axis of `x`.
    """
    if not is_basic(index):
        return None
    lengths: list[int] = []
    ranges: list[tuple[int, int]] = []
    for item in _without_ellipsis(index, len(shape)):
        if item is None:
            lengths.append(1)
        elif isinstance(item, slice):
            start, stop, step = item.indices(shape[len(ranges)])
            if step != 1:
                return None
            ranges.append((start, max(start, stop)))
            lengths.append(max(0, stop - start))
        else:
            start = item % shape[len(ranges)]
            ranges.append((start, start + 1))
    return tuple(lengths), ranges


def at_axis(axis: int, item: Any) -> Index:
    """Return the index with `item` for a non-negative `axis` and full slices for the other axes."""
    return (*(slice(None),) * axis, item, ...)


def getitem(backend: Backend, x: Array, index: Index) -> Array:
    """Return ``x[index]`` by the rules of basic and advanced indexing, also where the library does not support it.

    The standard does not require indices for fewer axes than the array has, slices beyond the ends, and index arrays
    mixed with slices; some libraries do not support negative steps. The last resort is an integer array for each axis.
    """
    try:
        return x[index]
    except REFUSALS:
        shape = tuple(x.shape)
        if is_basic(index):
            try:
                return x[_tidy(index, shape)]
            except REFUSALS:
                if not any(type(item) is slice for item in (index if type(index) is tuple else (index,))):
                    raise
        places, result = full_index(backend, shape, index, backend.handle_of(x))
        return backend.namespace.reshape(_picked(backend, x, places) if places else x, result)


def _picked(backend: Backend, x: Array, places: tuple[Array, ...]) -> Array:
    """Return ``x[places]``, also from a library that takes one index array at a time, or none but in `take`."""
    if _takes_index_arrays(backend):
        try:
            return x[places]
        except NotImplementedError:
            pass
    xp, flat = backend.namespace, flattened(backend, tuple(x.shape), places)
    return xp.reshape(xp.take(xp.reshape(x, (-1,)), xp.reshape(flat, (-1,)), axis=0), flat.shape)


def counted(xp: Namespace, numbers: Array, spec: Spec, length: int) -> Array:
    """Return integers, one-dimensional and in the default dtype, that count from the start of an axis of `length`.

    If the library checks indices, a negative or too large index raises an IndexError: the numbers are taken from a
    range.
    """
    numbers = xp.astype(numbers, spec.backend.default_dtype("int"), copy=False)
    if not checks_index_arrays(spec.backend, spec.device):
        return numbers
    places = xp.arange(length, dtype=numbers.dtype, device=spec.device)
    return xp.take(places, xp.where(numbers < 0, length, numbers), axis=0)


def checks_index_arrays(backend: Backend, handle: Any) -> bool:
    """Return whether an index array with a number out of range is an error on the device `handle` of `backend`.

    It is kept in a plain dictionary, because a compiler of programs may follow this call.
    """
    found = backend.index_checks.get(handle)
    if found is None:
        index = backend.device_for(handle).name.partition(":")[2] or None
        found = backend.capabilities.lacking(("checked_index_arrays",), index) is None
        backend.index_checks[handle] = found
    return found


@functools.cache
def _takes_index_arrays(backend: Backend) -> bool:
    return backend.capabilities.lacking(("index_arrays",)) is None


def flattened(backend: Backend, shape: Shape, places: tuple[Array, ...]) -> Array:
    """Return the flat indices of the elements at `places`, an integer array for each axis."""
    xp, flat, whole = backend.namespace, 0, backend.default_dtype("int")
    for place, length in zip(places, shape, strict=True):
        wide = xp.astype(place, whole, copy=False)  # the flat indices fit no narrow dtype of positions
        flat = flat * length + xp.where(wide < 0, wide + length, wide)
    return flat


def flat_index(backend: Backend, shape: Shape, index: Index, device: Any) -> Array:
    """Return the flat indices of the elements that an advanced `index` takes of an array of `shape`.

    For kernels of backends: it reduces every index to one integer array.
    """
    places, result = full_index(backend, shape, index, device)
    return backend.namespace.reshape(flattened(backend, shape, places), result)


def setitem(backend: Backend, x: Array, u: Array, index: Index) -> Array:
    """Return a copy of `x` with `u` at `index`, also where the library does not support the assignment.

    If a position occurs more than once, the last value is used, or the value that the library's own assignment uses.
    """
    if not backend.immutable:
        y = backend.copy(x)
        try:
            y[index] = u
        except REFUSALS:
            pass
        else:
            return y
    xp, shape, device = backend.namespace, tuple(x.shape), backend.handle_of(x)
    cells = xp.arange(math.prod(shape), device=device)
    hit = getitem(backend, xp.reshape(cells, shape), index)
    values = u if hasattr(u, "shape") else xp.full((), u, dtype=x.dtype, device=device)
    values = xp.reshape(xp.broadcast_to(xp.astype(values, x.dtype), hit.shape), (-1,))
    place = xp.reshape(hit, (-1,))
    if 0 in place.shape:
        return backend.copy(x)
    order = xp.argsort(place, stable=True)
    place, values = xp.take(place, order, axis=0), xp.take(values, order, axis=0)
    last = xp.searchsorted(place, cells, side="right") - 1
    last = xp.where(last < 0, xp.zeros_like(last), last)
    written = xp.take(place, last, axis=0) == cells
    return xp.reshape(xp.where(written, xp.take(values, last, axis=0), xp.reshape(x, (-1,))), shape)


def _tidy(index: Index, shape: Shape) -> Index:
    """Return a basic index in the standard's form: an item for each axis, and no slice beyond the ends."""
    items, axis = [], 0
    for item in _without_ellipsis(index, len(shape)):
        items.append(_clipped(item, shape[axis]) if isinstance(item, slice) else item)
        axis += item is not None
    return tuple(items)


def _clipped(item: slice, length: int) -> slice:
    start, stop, step = item.indices(length)
    if step < 0:
        if start <= stop:  # -1 would count from the end, and None start there
            return slice(0, 0)
        return slice(start, stop if stop >= 0 else None, step)
    return slice(min(start, length), max(start, stop), step)


def full_index(backend: Backend, shape: Shape, index: Index, device: Any) -> tuple[tuple[Array, ...], Shape]:
    """Return integer arrays for all axes of `shape`, which broadcast, and the shape of the result of `index`.

    Raises
    ------
    IndexError
        There are more indices than axes, an integer is out of range, or the length of a mask differs from its axis.
    """
    xp = backend.namespace
    items = _without_masks(backend, _without_ellipsis(index, len(shape)), shape)
    arrays = [item for item in items if _is_array(item)]
    together: tuple[int, ...] = xp.broadcast_arrays(*arrays)[0].shape if arrays else ()
    advanced = [i for i, item in enumerate(items) if _is_array(item) or (arrays and isinstance(item, int))]
    adjacent = not advanced or advanced[-1] - advanced[0] == len(advanced) - 1
    lengths: list[int] = [] if adjacent else list(together)
    placed: list[tuple[int, Array, bool]] = []  # axis of the result where it starts, positions, whether it is an array
    start, axis = 0, 0
    for i, item in enumerate(items):
        if i in advanced:
            if adjacent and i == advanced[0]:
                start = len(lengths)
                lengths += together
            placed.append((start, _checked(xp, item, shape[axis], device), True))
        elif item is None:
            lengths.append(1)
            continue
        elif isinstance(item, slice):
            positions = xp.arange(*item.indices(shape[axis]), device=device)
            placed.append((len(lengths), positions, False))
            lengths.append(positions.shape[0])
        else:
            placed.append((0, _checked(xp, item, shape[axis], device), True))
        axis += 1
    ndim, result = len(lengths), []
    for first, positions, is_array in placed:
        width = len(together) if is_array else 1
        own = (1,) * (width - len(positions.shape)) + tuple(positions.shape) if ndim else ()
        result.append(xp.reshape(positions, (1,) * first + own + (1,) * (ndim - first - len(own))))
    return tuple(result), tuple(lengths)


def _is_array(item: Any) -> bool:
    return type(item) not in BASIC and hasattr(item, "dtype")


def _without_ellipsis(index: Index, ndim: int) -> list[Any]:
    """Return the items of an index with its ellipsis replaced by full slices; without one, they are appended."""
    items: Sequence[Any] = index if type(index) is tuple else (index,)
    used = sum(0 if item is None or isinstance(item, EllipsisType) else _axes_of(item) for item in items)
    if used > ndim:
        raise IndexError(f"too many indices: the array has {ndim} axes, but {used} were indexed")
    rest = [slice(None)] * (ndim - used)
    place = next((i for i, item in enumerate(items) if isinstance(item, EllipsisType)), len(items))
    return [*items[:place], *rest, *items[place + 1 :]]


def _axes_of(item: Any) -> int:
    return len(item.shape) if _is_mask(item) else 1


def _is_mask(item: Any) -> bool:
    return _is_array(item) and "bool" in str(item.dtype)


def _without_masks(backend: Backend, items: list[Any], shape: Shape) -> list[Any]:
    result: list[Any] = []
    axis = 0
    for item in items:
        if not _is_mask(item):
            result.append(item)
            axis += item is not None
            continue
        lengths, marked = shape[axis : axis + len(item.shape)], tuple(item.shape)
        if any(n not in (0, length) for n, length in zip(marked, lengths, strict=True)):
            raise IndexError(f"expected a mask of shape {lengths} for the axes that it indexes, got {marked}")
        result += backend.namespace.nonzero(item)
        axis += len(marked)
    return result


def _checked(xp: Any, item: Any, length: int, device: Any) -> Array:
    if not isinstance(item, int):
        return item
    if not -length <= item < length:
        raise IndexError(f"index {item} is out of range for an axis of length {length}")
    return xp.asarray(item, device=device)
