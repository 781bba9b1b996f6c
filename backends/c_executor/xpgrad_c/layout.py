"""`ArrayLayout`: offsets of address, shape and dtype in the array objects of a library, verified with its functions."""

import ctypes
import gc
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xpgrad.plugin import Backend, Spec, programs_of
from xpgrad.types import Array
from xpgrad_fusion.group import Fused

FIELDS = "data", "rank", "shape", "dtype", "flags"
SHAPES: tuple[tuple[int, ...], ...] = (), (3,), (2, 5), (2, 3, 4)
INNER = "inner", "none", "inner_kind"
WORD = 8


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """Offsets in an array object, in bytes.

    Attributes
    ----------
    kind : type
        The type of the objects.
    type, data, rank, shape, dtype, flags : int
        Where the pointers to the type, the first element, the lengths of the axes and the dtype are, and the numbers of
        axes and the flags, which are of C's type ``int``.
    contiguous : int
        The flags that arrays have whose elements are aligned and in C order without gaps.
    inner, none : int
        Offset of the pointer to an inner object that holds the other fields, 0 if the array itself holds them; and the
        offset at which arrays with an inner object must have None.
    inner_kind : type or None
        The type of that object.
    """

    kind: type
    type: int
    data: int
    rank: int
    shape: int
    dtype: int
    flags: int
    contiguous: int
    inner: int = 0
    none: int = 0
    inner_kind: Any = None


def layout_of(backend: Backend, spec: Spec) -> ArrayLayout | None:
    """Return the layout that a backend declares, or None if its other methods contradict the layout.

    `spec` describes an array in host memory.
    """
    stated = programs_of(backend).array_layout()
    if stated is None:
        return None
    kind, start = backend.array_types[0], object.__basicsize__
    holder = stated.get("inner_kind", kind)
    fields = [stated.get(name, -1) for name in FIELDS]
    others = [stated[name] for name in ("inner", "none") if "inner_kind" in stated]
    if stated.keys() - {*FIELDS, *INNER, "contiguous"} or not is_within(holder, fields) or not is_within(kind, others):
        return None
    layout = ArrayLayout(kind, type=start - WORD, **stated)
    try:
        return layout if all(agrees(layout, backend, array) for array in samples(backend, spec)) else None
    except (AttributeError, IndexError, TypeError, ValueError):
        return None


def samples(backend: Backend, spec: Spec) -> Iterator[Array]:
    """Yield arrays of several shapes, and some with gaps or in another order."""
    made = [backend.empty(backend.spec_for(shape, spec.dtype, spec.device)) for shape in SHAPES]
    yield from made
    yield made[1][::2]
    yield made[2][:, ::2]
    yield made[2][::-1]
    yield made[2][1:]
    yield made[2].mT


def agrees(layout: ArrayLayout, backend: Backend, array: Array) -> bool:
    """Return whether reading an array by a layout gives the same values as the methods of the backend."""
    place = id(array)
    if type(array) is not layout.kind or pointer(place + layout.type) != id(layout.kind):
        return False
    if layout.inner_kind is not None:
        place, none = pointer(place + layout.inner), pointer(place + layout.none)
        held = [item for item in gc.get_referents(array) if type(item) is layout.inner_kind]
        if none != id(None) or place not in map(id, held) or pointer(place + layout.type) != id(layout.inner_kind):
            return False
    spec, address = backend.spec(array), programs_of(backend).address(array)
    in_order = number(place + layout.flags) & layout.contiguous == layout.contiguous
    if in_order != bool(address) or (address and pointer(place + layout.data) != address):
        return False
    if pointer(place + layout.dtype) != id(spec.dtype) or number(place + layout.rank) != len(spec.shape):
        return False
    lengths = pointer(place + layout.shape)
    return not spec.shape or tuple((ctypes.c_long * len(spec.shape)).from_address(lengths)) == spec.shape


def is_within(kind: type, offsets: Sequence[int]) -> bool:
    """Return whether objects of a type have words at all offsets."""
    return all(object.__basicsize__ <= offset <= kind.__basicsize__ - WORD for offset in offsets)


def pointer(place: int) -> int:
    """Return the pointer at an address."""
    return ctypes.c_void_p.from_address(place).value or 0


def number(place: int) -> int:
    """Return the number of C's type ``int`` at an address."""
    return ctypes.c_int.from_address(place).value


def key_of(spec: Any) -> tuple[int, ...]:
    """Return the key that the glue compares with an input: dtype, number of axes, lengths."""
    return (id(spec.dtype), len(spec.shape), *spec.shape)


def has_any_order(fused: Fused) -> bool:
    """Return whether a group may read and write elements in any order: it is elementwise, with totals at most."""
    arrays = (*fused.inputs, *fused.outputs)
    levels = {fused.levels[value] for value in arrays} | {statement.level for statement in fused.statements}
    shapes = {value.spec.shape for value in arrays if fused.levels[value] == "point"}
    plain = all(statement.op not in ("element", "scatter") for statement in fused.statements)
    return plain and levels <= {"point", "one"} and len(shapes) == 1 and len(min(shapes)) > 1
