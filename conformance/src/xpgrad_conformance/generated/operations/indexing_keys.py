"""Indexing and assignment: slices of every sign and step, positions, masks, and several arrays as an index."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from xpgrad import Variable, as_variable, grad
from xpgrad.array_api.indexing import setitem
from xpgrad.types import Shape
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.moved import (
    ALL,
    QUICK,
    around,
    combined,
    finite,
    given,
    moving,
    positions,
    swept,
    varied,
)
from xpgrad_conformance.generated.operation import COMPLEX, FLOATS, operation
from xpgrad_conformance.generated.sample import Argument, Sample

ARRAY = "an array"
"""Placeholder in a key for the next index array."""
Key = tuple[Any, ...]
IMPORTS = ("from xpgrad.array_api.indexing import setitem",)


def _filled(key: Key, arrays: tuple[Any, ...]) -> Any:
    """Return a key with its index arrays; a key of one item is that item."""
    left = iter(arrays)
    made = tuple(next(left) if isinstance(item, str) else item for item in key)
    return made[0] if len(made) == 1 else made


def _written(key: Key, first: int, *, inside: bool = True) -> str:
    """Return a key in Python, with its arrays as ``x1``, ``x2``; not inside of brackets, with slices as calls."""
    parts, number = list[str](), first
    for item in key:
        if isinstance(item, str):
            parts.append(f"x{number}")
            number += 1
        elif isinstance(item, slice) and not inside:
            parts.append(f"slice({item.start}, {item.stop}, {item.step})")
        elif isinstance(item, slice):
            ends = ["" if each is None else str(each) for each in (item.start, item.stop, item.step)]
            parts.append(":".join(ends[:2] if item.step is None else ends))
        else:
            parts.append("..." if item is Ellipsis else str(item))
    return ", ".join(parts)


def _slice(draw: Draw, n: int) -> slice:
    """Return a slice of an axis of length `n`, with ends counted from either side within the standard's bounds."""
    steps = [None, 1, 2, 3, n, n + 1] + ([-1, -2, -n - 1] if draw.has("negative_steps") else [])
    step = draw.pick([each for each in steps if each != 0])
    if step is not None and draw.pick((False, True)):
        return slice(None, None, step)
    backwards = step is not None and step < 0
    ends = [None, 0, n // 2, -1, -n, -(n // 3) - 1, n - 1]
    starts, stops = (ends, [*ends, -n - 1]) if backwards else ([*ends, n], [*ends, n])
    for _ in range(20):
        found = slice(draw.pick(starts), draw.pick(stops), step)
        if len(range(*found.indices(n))) or draw.has("empty_arrays"):
            return found
    return slice(None)


def _slices(draw: Draw, shape: Shape) -> Key:
    """Return a key of slices and integers, sometimes with None or an ellipsis."""
    key: list[Any] = [
        _slice(draw, n) if n == 0 or draw.pick((0, 1, 2)) else draw.pick((0, n - 1, -1, -n)) for n in shape
    ]
    how = draw.pick(("all", "all", "first", "none", "last"))
    if how == "first":
        key = key[: int(draw.rng.integers(1, len(key) + 1))]
    elif how == "none":
        key.insert(draw.pick(range(len(key) + 1)), None)
    elif how == "last":
        key = [..., *key[-1:]]
    return tuple(key)


def _arrays(draw: Draw, shape: Shape, count: int, *, repeats: bool = True) -> tuple[Key, tuple[Argument, ...]] | None:
    """Return a key with index arrays, or None if the backend has none of this kind."""
    if not draw.has("index_arrays"):
        return None
    forms: list[Key] = [(ARRAY,), (ARRAY,) * len(shape)]
    if draw.has("index_arrays_with_slices") and len(shape) > 2:
        forms += [(slice(None), ARRAY), (ARRAY, slice(None), ARRAY), (..., ARRAY), (slice(None), ARRAY, ARRAY)]
        forms += [(ARRAY, slice(1, None)), (slice(None, None, 2), ARRAY, slice(None))]
    key = draw.pick(forms)
    axes = list(range(len(shape)))
    axes = axes[-(len(key) - 1) :] if key[0] is Ellipsis else axes
    lengths = [
        shape[axis] for item, axis in zip(key[1:] if key[0] is Ellipsis else key, axes, strict=False) if item is ARRAY
    ]
    if repeats:
        made = [positions(draw, (count,), n) for n in lengths]
    else:  # of wide dtypes: dask's assignment overflows in narrow ones
        count, dtype = min(lengths[0], count), "int64" if draw.has("int64") else "int32"
        first = Argument(draw.rng.permutation(lengths[0])[:count].astype(dtype), kept=True)
        made = [first, *(positions(draw, (count,), n, dtype=dtype) for n in lengths[1:])]
    if draw.has("negative_index_arrays"):
        made = [_negative(draw, each, n) for each, n in zip(made, lengths, strict=True)]
    return key, tuple(made)


def _negative(draw: Draw, index: Argument, n: int) -> Argument:
    """Return positions, some of them counted from the end."""
    if index.host.dtype.kind == "u" or -n < np.iinfo(index.host.dtype).min:
        return index
    host = np.where(draw.rng.random(index.host.shape) < 0.3, index.host - n, index.host).astype(index.host.dtype)
    return Argument(host, index.axes, index.layout, kept=True)


def _read(x: Argument, key: Key, arrays: tuple[Argument, ...] = ()) -> Sample:
    return moving(
        (x, *arrays), lambda x, *arrays: x[_filled(key, arrays)],
        smooth=finite(x) and not any(a.host.dtype == bool for a in arrays),
        call=lambda xp, x, *arrays: as_variable(x)[_filled(key, arrays)],
        text=f"xpgrad.as_variable(x0)[{_written(key, 1)}]",
    )  # fmt: skip


def _assigned(draw: Draw, x: Argument, key: Key, arrays: tuple[Argument, ...] = ()) -> Sample:
    """Return an assignment of an array, of an array that broadcasts along some axes, or of one element."""
    taken = x.host[_filled(key, tuple(each.host for each in arrays))].shape
    column = (*taken[:-1], 1) if taken else ()
    u = given(draw, draw.pick((taken, taken, taken[1:], column, ())), "mixed", layout=draw.pick(draw.layouts()))

    def reference(x: Any, u: Any, *arrays: Any) -> Any:
        changed = x.copy()
        changed[_filled(key, arrays)] = u
        return changed

    return moving(
        (x, u, *arrays), reference, imports=IMPORTS,
        call=lambda xp, x, u, *arrays: setitem(x, u, index=_filled(key, arrays)),
        text=f"setitem(x0, x1, index=({_written(key, 2, inside=False)},))",
    )  # fmt: skip


def _number(draw: Draw, x: Argument, key: Key) -> Sample:
    """Return an assignment of a Python number."""
    number = True if draw.dtype == "bool" else 3 if np.dtype(draw.dtype).kind in "iu" else 2.5

    def reference(x: Any) -> Any:
        changed = x.copy()
        changed[_filled(key, ())] = number
        return changed

    return moving(
        (x,), reference, smooth=False, call=lambda xp, x: setitem(x, number, index=_filled(key, ())),
        text=f"setitem(x0, {number}, index=({_written(key, 1, inside=False)},))", imports=IMPORTS,
    )  # fmt: skip


def _shapes(draw: Draw) -> Iterator[tuple[Argument, int]]:
    """Yield arrays of rank 2 and 3 with a long axis at each place, arrays of any rank, and numbers of positions."""
    lengths = (1, 2, 16, 33, 257, 1025, 4097)
    others = (2, 3), (3,)
    for row in combined(
        draw, n=lengths, place=(0, 1, 2), others=others, layout=draw.layouts(), kind=("mixed", "specials"),
        m=(1, 7, 64, 257, 1025),
    ):  # fmt: skip
        shape = around(row["n"], row["place"], row["others"])
        yield given(draw, shape, row["kind"], layout=row["layout"]), row["m"]
    for _ in range(OF_ANY_RANK[draw.quick]):
        shape = tuple(draw.rng.integers(1, 8, int(draw.rng.integers(1, 6))).tolist())
        yield given(draw, shape, "mixed", layout=draw.pick(draw.layouts())), draw.pick((1, 3, 7))


OF_ANY_RANK = 60, 6
"""Arrays of one to five axes, in the full and the quick profile."""
NARROW = "int8", "int16", "int32", "int64", "uint8"
"""Dtypes of positions; there are as many as rows, so that a library that takes them for a mask raises no error."""
PAIRS = (5, 1025), (1025, 5), (3, 4097), (65, 65)
"""Shapes of arrays that are indexed by two arrays."""


@operation("getitem", ALL, QUICK, ())
def _getitem(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw, least=1):
        x = given(draw, (n,), "mixed")
        yield _read(x, (_slice(draw, n),))
        if n < 70_000:
            shape = draw.pick(((n, 3), (3, n)))
            yield _read(given(draw, shape, "mixed"), _slices(draw, shape))
        if draw.has("index_arrays"):
            yield _read(x, (ARRAY,), (positions(draw, (draw.pick((7, 1025)),), n),))
            yield _read(given(draw, (5, 2), "mixed"), (ARRAY,), (positions(draw, (n,), 5),))
            if draw.has("data_dependent_shapes", "bool"):
                yield _read(x, (ARRAY,), (_mask(draw, (n,)),))
    for dtype in filter(draw.has, NARROW if draw.has("index_arrays") else ()):
        yield _read(given(draw, (5, 2), "mixed"), (ARRAY,), (positions(draw, (5,), 5, dtype=dtype),))
    for shape in PAIRS if draw.has("index_arrays") else ():
        yield _read(given(draw, shape, "mixed"), (ARRAY, ARRAY), _pair(draw, shape, 1025))
        if draw.has("data_dependent_shapes", "bool"):
            for layout in (draw.pick(draw.layouts()[1:-1]),) if draw.quick else draw.layouts()[:-1]:
                yield _read(given(draw, shape, "mixed"), (ARRAY,), (replace(_mask(draw, shape), layout=layout),))
    for x, m in _shapes(draw):
        yield _read(x, _slices(draw, x.host.shape))
        found = _arrays(draw, x.host.shape, m)
        if found is not None:
            yield _read(x, *found)
            if draw.has("data_dependent_shapes", "bool"):
                yield _read(x, (ARRAY,), (_mask(draw, x.host.shape[: draw.pick((1, 2, 3))]),))


def _pair(draw: Draw, shape: Shape, count: int) -> tuple[Argument, ...]:
    return tuple(positions(draw, (count,), n) for n in shape)


def _mask(draw: Draw, shape: Shape) -> Argument:
    least = not draw.has("empty_arrays")
    host = draw.rng.random(shape) < draw.pick((0.05, 0.5, 1.1))
    host[(0,) * len(shape)] |= least
    return Argument(host, layout=varied(draw), kept=True)


@operation("setitem", ALL, QUICK, ())
def _setitem(draw: Draw) -> Iterator[Sample]:
    for n in swept(draw, least=1):
        x = given(draw, (n,), "mixed")
        yield _assigned(draw, x, (_slice(draw, n),))
        yield _number(draw, x, (_slice(draw, n),))
        if draw.has("index_arrays"):
            index = draw.rng.permutation(n)[: max(1, n // 2)].astype("int64" if draw.has("int64") else "int32")
            yield _assigned(draw, x, (ARRAY,), (Argument(index, kept=True),))
    for x, m in _shapes(draw):
        yield _assigned(draw, x, _slices(draw, x.host.shape))
        found = _arrays(draw, x.host.shape, m, repeats=False)
        if found is not None:
            yield _assigned(draw, x, *found)
            if draw.has("data_dependent_shapes", "bool"):
                yield _masked(draw, x)


def _masked(draw: Draw, x: Argument) -> Sample:
    """Return an assignment of one element at a mask."""
    return _assigned(draw, x, (ARRAY,), (_mask(draw, x.host.shape[: draw.pick((1, 2, 3))]),))


@operation("scatter_add", (*FLOATS, *COMPLEX), ("float32", "float64", "complex64"), ("index_arrays",))
def _scatter_add(draw: Draw) -> Iterator[Sample]:
    """Yield additions at frequently repeated positions: small integers, so that every sum is exact."""
    for n in swept(draw):
        for length in (1, 7, 1025) if n < 70_000 else (7,):
            yield _added(draw, (length,), (ARRAY,), (positions(draw, (n,), length),), (n,))
    for n in swept(draw, 262_145, 1):
        yield _added(draw, (n,), (ARRAY,), (positions(draw, (1025,), n),), (1025,))
    for x, m in _shapes(draw):
        shape = x.host.shape
        for key, arrays in ((_slices(draw, shape), ()), _arrays(draw, shape, m) or ((0,), ())):
            taken = x.host[_filled(key, tuple(each.host for each in arrays))].shape
            yield _added(draw, shape, key, arrays, taken, draw.pick(draw.layouts()))
    for shape in PAIRS:
        yield _added(draw, shape, (ARRAY, ARRAY), _pair(draw, shape, 1025), (1025,))
    for n in (3, 129, 4097):
        index = positions(draw, (n,), 7)
        x, values = draw.array((7,)), draw.array((n,))
        yield _sum(x, values, (ARRAY,), (index,), units=8 + n**0.5)
    for n, m in ((5, 3), (33, 65), (1025, 257), (4097, 4097), (7, 65_537)):
        yield _together(draw, n, m)


def _together(draw: Draw, n: int, m: int) -> Sample:
    """Return the sum of three parts, as gradients of gathers are added: a slice, and two of positions."""
    one, other = positions(draw, (m,), n), positions(draw, (m,), n)
    parts = [given(draw, (count,), "integers") for count in (n - 1, m, m)]

    def call(xp: Any, x: Any, i: Any, j: Any, *values: Any) -> Any:
        v = Variable(as_variable(x).array)  # S01 gives Variables
        return grad([v[1:], v[i], v[j]], [v], [as_variable(value) for value in values])[0]

    def reference(x: Any, i: Any, j: Any, *values: Any) -> Any:
        total = np.zeros_like(x)
        keys: tuple[Any, ...] = slice(1, None), i, j
        for key, value in zip(keys, values, strict=True):
            np.add.at(total, key, value)
        return total

    return Sample(
        (given(draw, (n,), "integers"), one, other, *parts), reference, call=call,
        text="xpgrad.grad([x0[1:], x0[x1], x0[x2]], [x0], [x3, x4, x5])",
    )  # fmt: skip


def _added(
    draw: Draw, shape: Shape, key: Key, arrays: tuple[Argument, ...], taken: Shape, layout: str = "contiguous"
) -> Sample:
    return _sum(given(draw, shape, "integers"), given(draw, taken, "integers", layout=layout), key, arrays)


def _sum(x: Argument, values: Argument, key: Key, arrays: tuple[Argument, ...], units: float = 0.0) -> Sample:
    def reference(x: Any, values: Any, *arrays: Any) -> Any:
        total = x.copy()
        np.add.at(total, _filled(key, arrays), values)
        return total

    return Sample(
        (x, values, *arrays), reference, units=units, smooth=True,
        scale=(lambda x, values, *arrays: reference(abs(x), abs(values), *arrays)) if units else None,
        call=lambda xp, x, values, *arrays: xp.scatter_add(x, _filled(key, arrays), values),
        text=f"xp.scatter_add(x0, ({_written(key, 2, inside=False)},), x1)",
    )  # fmt: skip
