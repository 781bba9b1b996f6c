"""Family X, exchange: DLPack, in both directions between the backend and other libraries."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from xpgrad import Variable, using_device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.views import assert_unchanged, dtypes_on, extremes, views_of
from xpgrad_conformance.exchanged import HOST_MEMORY, aligned, in_host_memory, takes_over
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_place

REFUSALS = (BufferError, NotImplementedError, RuntimeError, TypeError, ValueError)
MAY_BE_REFUSED = frozenset(("bool", "complex64", "complex128"))
"""Dtypes that early versions of DLPack lack: a library may raise an error for these, but must not return other
values."""
AGAIN = 3, 1033
"""Numbers of rows of arrays that are read in parts, again and again."""
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (5,), (2, 3, 5), (0,), (3, 0, 2))


def readers(s: Subject, x: Array) -> Iterator[tuple[str, Any]]:
    """Yield the libraries that can read an array by DLPack, with functions: the array library, or NumPy on the host."""
    if int(x.__dlpack_device__()[0]) == HOST_MEMORY:
        yield "numpy.from_dlpack", np.from_dlpack
    if s.has("dlpack_import"):
        yield "the library's own from_dlpack", lambda array: s.host(_imported(s, array))


def _imported(s: Subject, x: Any, **wishes: Any) -> Array:
    with using_device(s.device):
        return s.backend.restore(s.backend.namespace.from_dlpack(x, **wishes))


@check("X01", needs=("dlpack_export",))
def export(s: Subject) -> None:
    """Other libraries read an array by DLPack in every dtype and shape; also a Variable, unless it is in a graph."""
    arrays = [(f"a (3, 4) array of {dtype}", extremes(dtype)) for dtype in dtypes_on(s)]
    shapes = [shape for shape in SHAPES if 0 not in shape or s.has("empty_arrays")]
    arrays += [(f"an array of shape {shape}", s.values(shape)) for shape in shapes]
    for what, host in arrays:
        x = s.array(host, host.dtype.name)
        for reader, read in readers(s, x):
            for source in (x, Variable(x, requires_grad=False)):
                try:
                    found = np.array(read(source))
                except REFUSALS:
                    if host.dtype.name in MAY_BE_REFUSED:
                        continue
                    raise
                title = "a Variable over " if source is not x else ""
                assert_unchanged(found, host, f"{title}{what} on {s.device}, read by {reader},")
    in_graph = s.variable(s.values((3, 4))[:, :2]) * 1.5
    s.raises(BufferError, lambda: np.from_dlpack(in_graph), "numpy.from_dlpack of a Variable in a graph")


@check("X02", needs=("dlpack_export",))
def export_of_views(s: Subject) -> None:
    """Other libraries read the right elements from a view: strides, offsets and negative steps are honoured."""
    values = s.values((3, 4))
    for what, expected, view in views_of(s, values, s.array(values), s.device):
        for reader, read in readers(s, view):
            if "backwards" in what and not reader.startswith("numpy"):
                continue  # a library may lack negative strides, and some crash on them
            assert_unchanged(np.array(read(view)), expected, f"{what} read by {reader},")


@check("X11", needs=("dlpack_export",))
def export_from_far_within(s: Subject) -> None:
    """Other libraries read the right elements from a view of a large array, for any offset in its memory."""
    host = np.arange(400_003, dtype="float32")
    x = s.array(host, "float32")
    for start, stop, step in ((20_011, 20_020, 1), (70_001, 70_101, 7), (300_001, 400_003, 3)):
        for reader, read in readers(s, x[start:stop:step]):
            assert_unchanged(np.array(read(x[start:stop:step])), host[start:stop:step], f"a view read by {reader}")


@check("X05", needs=("dlpack_import",))
def import_from_the_host(s: Subject) -> None:
    """from_dlpack takes the host's arrays of every dtype and shape, as an array and as a constant Variable."""
    arrays = [(f"a (3, 4) array of {dtype}", extremes(dtype)) for dtype in dtypes_on(s)]
    shapes = [shape for shape in SHAPES if 0 not in shape or s.has("empty_arrays")]
    arrays += [(f"an array of shape {shape}", s.values(shape)) for shape in shapes]
    for what, host in arrays:
        source = aligned(host)
        try:
            array = _imported(s, source)
        except REFUSALS:
            if host.dtype.name in MAY_BE_REFUSED:
                continue
            raise
        with using_device(s.device):
            variable = s.xp.from_dlpack(source)
        assert not variable.requires_grad, "a Variable from from_dlpack requires a gradient; it is a constant"
        for name, found in (("the library's from_dlpack", array), ("from_dlpack of Variables", variable)):
            kinds = s.backend.array_types
            made = found.array if isinstance(found, Variable) else found
            assert type(made) in kinds, f"{name} gave {type(made).__qualname__}, no array of {s.backend.name}"
            assert_unchanged(s.host(found), host, f"{what} of the host, taken in by {name},")


@check("X08", needs=("dlpack_import", "dlpack_export", "dlpack_shares_memory"))
def shared_import(s: Subject) -> None:
    """from_dlpack takes over the memory that it is given, not a copy."""
    own = s.array(s.values((3, 4)))
    sources = {"its own library": own}
    if in_host_memory(own):
        sources["the host"] = aligned(s.values((3, 4)))
    for name, source in sources.items():
        assert _is_memory_of(s, _imported(s, source), source), (
            f"from_dlpack of an array of {name} gave another memory: it copies; declare the fact "
            "'dlpack_shares_memory' missing"
        )


def _is_memory_of(s: Subject, made: Array, source: Any) -> bool:
    """Return whether two arrays share memory, determined from their addresses or by writing to one array."""
    if in_host_memory(made):
        return takes_over(made, source)
    if not s.has("in_place_update", "index_assignment"):
        return True
    with using_device(s.device):
        source[...] = 7.25
    return bool((s.host(made) == 7.25).all())


@check("X09", needs=("dlpack_import", "dlpack_export"))
def copies_on_demand(s: Subject) -> None:
    """from_dlpack(copy=True), where this parameter exists, returns a copy."""
    values = s.values((3, 4))
    source = aligned(values)
    try:
        made = _imported(s, source, copy=True)
    except REFUSALS:
        return  # older versions of the standard do not have it
    source[...] = 7.25
    assert_unchanged(s.host(made), values, "what from_dlpack(copy=True) made, after a write to the source,")


@check("X14", needs=("dlpack_export", "in_place_update", "index_assignment"))
def exported_copies(s: Subject) -> None:
    """A copy that another library reads with copy=True, if it has this parameter, is not changed by later writes."""
    values = s.values((3, 4))
    x = s.array(values)
    if not in_host_memory(x):
        return
    try:
        found = np.from_dlpack(x, copy=True)
    except REFUSALS:
        return  # older versions of NumPy, and of the standard, do not have it
    with using_device(s.device):
        x[0, ...] = 7.25
    assert_unchanged(np.asarray(found), values, "what numpy.from_dlpack(x, copy=True) read, after a write to x,")


@check("X10")
def devices_and_their_memory(s: Subject) -> None:
    """Arrays are on the device that DLPack reports, and imported arrays arrive on that device."""
    host = plugins.host
    for device in s.places:
        memory = device.backend.dlpack_device(device)
        if memory is None:
            continue  # arrays cannot be imported in this way: try the next one
        values = s.values((3, 4))
        x = s.array(values, device=device)
        assert device.backend.exports(x, memory), f"arrays on {device} are not in the memory {memory} that it has"
        again = device.backend.from_dlpack(device.backend.copy(x), device)
        if again is not NotImplemented:
            assert_place(device, again, f"the array that Backend.from_dlpack moves to {device}")
            assert_unchanged(s.host(again), values, f"the array that Backend.from_dlpack moved to {device}")
        if memory[0] == HOST_MEMORY and device.backend is not host:
            source = values.copy()
            taken = transfer(source, device)
            source[...] = 7.25
            assert_place(device, taken, f"the array imported to {device} by DLPack")
            assert_unchanged(
                s.host(taken), values, f"the array imported to {device} by DLPack, after a write to the source,"
            )


@check("X12", needs=("dlpack_import",))
def import_of_memory_again(s: Subject) -> None:
    """from_dlpack reads the current memory: another dtype, shape or order, new values, or memory freed before."""
    wanted = "float64", "int64", "uint64", "float32", "int32", "uint32", "int16"
    dtypes = [dtype for dtype in wanted if dtype in dtypes_on(s)]
    kept: list[Array] = []
    for turn in range(4):
        memory = aligned(s.values((4, 8), dtype="float64")).reshape(-1)
        for dtype in (*dtypes, *dtypes[::-1]):
            whole = memory.view(dtype)
            for shape in ((4, 8), (8, 4), (32,), (16,)):
                source = whole[: int(np.prod(shape))].reshape(shape)
                made = _taken_again(s, source, f"of {dtype} {shape}, memory of which others were taken in,")
                kept += [made] if turn % 2 and made is not None else []
            square = whole[:25].reshape(5, 5)
            for source in (square, square.T, square, whole[:10:2], whole[:5]):
                _taken_again(s, source, f"of {dtype} {source.shape}, in another order than others,")
            memory[-1], memory[13] = memory[13], memory[-1]
            _taken_again(s, whole, f"of {dtype}, whose memory was written to in between,")
        if turn % 2 == 0:
            kept.clear()


def _taken_again(s: Subject, source: Any, what: str) -> Array | None:
    """Return the array that from_dlpack creates from a host array, after comparing values; None if it is refused."""
    try:
        made = _imported(s, source)
    except REFUSALS:
        return None  # X05 checks whether a plain array may be rejected
    assert_unchanged(s.host(made), np.asarray(source), f"a host array {what} taken in by from_dlpack")
    return made


@check("X13", needs=("dlpack_export",))
def export_of_memory_again(s: Subject) -> None:
    """Other libraries read the current values of an array, of views from its beginning, and of a changed array."""
    for count in AGAIN:
        host = s.values((count, 4))
        x = s.array(host)
        parts: list[Any] = [*((row, ...) for row in (slice(0, 1), slice(0, count // 2), 0)), ..., (..., 0)]
        for number, part in enumerate([..., *parts, *parts[::-1], *parts]):
            if number == 2 * len(parts) and s.has("in_place_update", "index_assignment") and not s.backend.immutable:
                with using_device(s.device):
                    x[0, 0], x[count - 1, 3] = 7.25, -7.25
                host[0, 0], host[count - 1, 3] = 7.25, -7.25
            with using_device(s.device):
                view = x if part is ... else s.backend.restore(x[part])
            for reader, read in readers(s, view):
                assert_unchanged(
                    np.array(read(view)), host[part], f"x[{part}] of a {host.shape} array, after others, by {reader},"
                )
