"""Family T, the host's arrays: every size and memory layout, several MB, repeated transfers."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from xpgrad import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.testing.arrays import on_host
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.views import assert_unchanged, dtypes_on
from xpgrad_conformance.generated.draw import Draw
from xpgrad_conformance.generated.values import values
from xpgrad_conformance.subject import Subject

MEGABYTES = 1, 17, 4
"""Sizes of the largest arrays, and a few bytes more; the quick profile takes the first two."""
CHOSEN = 7, 257, 4097
"""Lengths of arrays that are moved, flipped and transposed on the device."""
TIMES = 1030
"""Consecutive transfers: more than a ring of 1,024 buffers."""

AGAIN = 1033, 5003, 70_001
"""Numbers of elements of large arrays that are sent again with another value in one place."""


def _sent(s: Subject, host: Any) -> Array:
    """Return a copy of a host array on the subject's device."""
    return s.backend.copy(host) if s.backend is plugins.host else transfer(host, s.device)


def _go_and_return(s: Subject, host: Any, what: str) -> Array:
    """Send a host array to the device and back, and compare the values."""
    sent = _sent(s, host)
    assert_unchanged(np.asarray(on_host(sent)), host, f"{what}, sent to {s.device} and back,")
    return sent


EVERY = "float32", "float64", "complex64", "complex128", "int8", "int64", "uint64", "bool"


@check("T20", scope="dtype", dtypes=EVERY, generated=True)
def every_size(s: Subject) -> None:
    """The host's arrays of every size move whole, along every axis, between the devices too."""
    draw = Draw(s)
    here, there = s.pair
    kinds = "ordinary", "extremes", "specials"
    for n in draw.lengths(most=70_000 if s.quick else 300_000):
        host = values(draw.pick(kinds), draw.rng, (n,), s.dtype)
        _go_and_return(s, host, f"an array of {n} elements")
    for n in draw.lengths(most=70_000, least=2):
        for shape in ((n, 3), (3, n), (2, n, 2)) if n < 5000 or not s.quick else ((n, 3),):
            host = values("extremes", draw.rng, shape, s.dtype)
            sent = _go_and_return(s, host, f"an array of shape {shape}")
            if n in CHOSEN and s.has("flip", "permute_dims"):
                order = tuple(range(host.ndim))[::-1]
                turned = s.kernels.permute_dims(s.kernels.flip(sent, axis=None), order)
                assert_unchanged(on_host(turned), np.flip(host).transpose(order), f"a flipped and transposed {shape}")
            if n in CHOSEN and here == s.device and s.dtype in dtypes_on(s, there):
                moved = transfer(transfer(sent, there), here)
                assert_unchanged(on_host(moved), host, f"an array of shape {shape}, moved to {there} and back,")


@check("T21", scope="dtype", dtypes=("float32", "float64", "int8"), generated=True)
def megabytes(s: Subject) -> None:
    """Arrays of several MB move whole, between devices and transposed; later writes and transfers do not show."""
    draw = Draw(s)
    size = np.dtype(s.dtype).itemsize
    for megabyte in MEGABYTES[: 2 if s.quick else 3]:
        n = (megabyte * 2**20 + draw.pick((3, 5, 64)) * size) // size // 3
        one, two = (values("spread", draw.rng, (n, 3), s.dtype) for _ in range(2))
        what = f"an array of {megabyte} MB and some bytes"
        sent = _go_and_return(s, one, what)
        _go_and_return(s, two, f"a second one after {what}")
        for layout, host in (("transposed", two.T), ("of every second row", two[::2]), ("reversed", two[::-1])):
            _go_and_return(s, host, f"{what}, {layout},")
        assert_unchanged(np.asarray(on_host(sent)), one, f"{what}, after another one was sent,")
        _move_on(s, sent, one, what)
        copy = s.backend.copy(sent)
        first = on_host(sent)
        if s.has("in_place_update", "index_assignment") and not s.backend.immutable:
            sent[...] = 1
            assert_unchanged(on_host(copy), one, f"a copy of {what}, after a write to its argument")
            assert_unchanged(on_host(sent), np.ones_like(one), f"{what}, after ones were written to it,")
        assert_unchanged(first, one, f"the result of to_host for {what}, after a write to its argument")


def _move_on(s: Subject, sent: Array, host: Any, what: str) -> None:
    """Move an array, and its transpose, to the other device of a pair."""
    here, there = s.pair
    if here != s.device or s.dtype not in dtypes_on(s, there):
        return
    assert_unchanged(on_host(transfer(sent, there)), host, f"{what}, moved to {there},")
    turned = s.kernels.permute_dims(sent, (1, 0))
    assert_unchanged(on_host(turned), host.T, f"{what}, transposed,")
    assert_unchanged(on_host(transfer(turned, there)), host.T, f"{what}, transposed and moved to {there},")


@check("T22", scope="dtype", dtypes=("float32", "float64", "complex128", "int64", "bool"), generated=True)
def memory_of_the_host(s: Subject) -> None:
    """Host arrays of any layout arrive with the right elements: read-only, unaligned, in any order or byte order."""
    small, large = (values("extremes", Draw(s).rng, shape, s.dtype) for shape in ((3, 4), (130, 70)))
    for what, host in (*_layouts(small), *_layouts(large)):
        kept = np.array(host)
        sent = _sent(s, host)
        assert_unchanged(np.asarray(on_host(sent)), kept, f"{what} array of the host, sent to {s.device},")
        assert_unchanged(np.array(host), kept, f"{what} array of the host that was sent to {s.device}")
    swapped = values("extremes", Draw(s).rng, (3, 4), s.dtype)
    other = swapped.astype(swapped.dtype.newbyteorder("S"))
    try:
        found = np.asarray(on_host(_sent(s, other)))
    except Exception:  # the call may raise, but must not read in the wrong order
        return
    assert_unchanged(found.astype(swapped.dtype), swapped, "an array of the host in the other byte order")


def _layouts(host: Any) -> Iterator[tuple[str, Any]]:
    """Yield host arrays in every layout, each with a description."""
    fixed = host.copy()
    fixed.flags.writeable = False
    yield "a read-only", fixed
    unaligned = np.ndarray(host.shape, host.dtype, buffer=bytearray(host.nbytes + 1), offset=1)
    unaligned[...] = host
    yield "an unaligned", unaligned
    yield "a Fortran-ordered", np.asfortranarray(host)
    yield "a reversed", host[::-1, ::-1]
    yield "a transposed", np.ascontiguousarray(host.T).T
    yield "a broadcast", np.broadcast_to(host[:1], (host.shape[0] + 2, host.shape[1]))
    yield "a broadcast, column by column,", np.broadcast_to(host[:, :1], host.shape)
    record = np.zeros(host.shape, [("flag", "i1"), ("value", host.dtype)])
    record["value"] = host
    yield "a field of a structured", record["value"]
    yield "an empty, reversed", host[:0, ::-1]
    yield "a 0-d", host[1, 2][...]


@check("T23")
def again_and_again(s: Subject) -> None:
    """The thousandth transfer is as right as the first, host memory is read each time, and failures leave no state."""
    draw = Draw(s)
    host = np.ascontiguousarray(values("ordinary", draw.rng, (5, 7), s.wide))
    kept = [(_sent(s, host), host.copy())]
    for number in range(2, 200 if s.quick else TIMES):
        host += 1.0  # at the same place
        sent = _sent(s, host)
        found = np.asarray(on_host(sent))
        assert_unchanged(found, host, f"array {number} that was sent to {s.device}, of the same memory of the host,")
        if number % 64 == 0:
            kept.append((sent, host.copy()))
            with contextlib.suppress(Exception):
                transfer(np.asarray([object()]), s.device)
        del sent
    for count in AGAIN:
        large = values("ordinary", draw.rng, (count,), s.wide)
        for number, place in enumerate((0, count // 2, count - 1, 0)):
            large[place] = number
            _go_and_return(s, large, f"an array of {count} elements, at the same place as before, with another value")
    for number, (sent, expected) in enumerate(kept):
        assert_unchanged(
            np.asarray(on_host(sent)), expected, f"one of many arrays that were sent, number {64 * number},"
        )
    for number in range(40):  # arrays that die, whose addresses are used again
        fresh = values("ordinary", draw.rng, (5, 7), s.wide)
        assert_unchanged(np.asarray(on_host(_sent(s, fresh))), fresh, f"a new array {number} of the host")
    _in_every_order(s, draw)
    _written_to(s, host)


def _written_to(s: Subject, host: Any) -> None:
    """Check an array after each of several writes, to the array and to a view."""
    if s.backend.immutable or not s.has("in_place_update", "index_assignment"):
        return
    sent, expected = _sent(s, host), host.copy()
    for number, place in enumerate((..., (slice(1, 3), ...), (slice(None), 2))):
        assert_unchanged(np.asarray(on_host(sent)), expected, f"an array after {2 * number} writes")
        sent[place] = number
        expected[place] = number
        assert_unchanged(np.asarray(on_host(sent)), expected, f"an array after {2 * number + 1} writes")
        sent[place][...] = -1  # writes to a view change the host's array, writes to a copy do not
        shown = expected.copy()
        shown[place] = -1
        found = np.asarray(on_host(sent))
        if found.tobytes() != expected.tobytes():
            assert_unchanged(found, shown, "an array after a write to a part of it")
            expected = shown


def _in_every_order(s: Subject, draw: Draw) -> None:
    """Send arrays of different dtypes, shapes and layouts in turn: none is taken for another."""
    common = dtypes_on(s, *s.places)
    dtypes = [name for name in ("float32", "int32", "float64", "int64", "complex64", "bool") if name in common]
    devices: tuple[Device, ...] = s.places
    for _ in range(40):
        dtype, shape = draw.pick(dtypes), draw.pick([(4, 6), (6, 4), (24,), (2, 12), (2, 3, 4)])
        host = values(draw.pick(("ordinary", "integers", "extremes")), draw.rng, shape, dtype)
        host = np.asarray(host, order=draw.pick(("C", "F")))
        target = draw.pick(devices)
        sent = plugins.host.copy(host) if target.backend is plugins.host else transfer(host, target)
        found = np.asarray(on_host(sent))
        assert_unchanged(found, host, f"an array of {dtype} {shape} among others, sent to {target},")
