"""Family T, transfer: arrays and Variables moved between the devices of the backend and the host."""

import mmap
from typing import Any, Literal

import numpy as np

from xpgrad import Device, Variable, get_device, grad, using_device
from xpgrad.array_api.namespace import namespace
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.functions import copy
from xpgrad.types import Array
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.views import assert_unchanged, dtypes_on, extremes, views_of
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_place


def _host() -> Device:
    return plugins.host.default_device


def _moved(array: Array, target: Device, expected: Any, what: str) -> Array:
    """Move an array to a device, check the result and return it."""
    moved = transfer(array, target)
    assert_place(target, moved, f"{what}, moved to {target},")
    name = target.backend.dtype_name(moved.dtype)
    assert name == expected.dtype.name, f"{what}, moved to {target}, has dtype {name}, expected {expected.dtype.name}"
    back = moved if target == _host() else target.backend.to_host(moved)
    assert_unchanged(np.asarray(back), expected, f"{what}, moved to {target},")
    return moved


def _go_round(s: Subject, host: Any, what: str) -> None:
    """Move a host array to the subject's device; from there, and between the pair, to and fro."""
    here, there = s.pair
    x = _moved(host, s.device, host, f"{what} of the host")
    _moved(x, _host(), host, f"{what} on {s.device}")
    if here != s.device:
        x = _moved(host, here, host, f"{what} of the host")
    y = _moved(x, there, host, f"{what} on {here}")
    assert_place(here, x, f"{what} on {here}, after a copy of it has moved to {there},")
    _moved(y, here, host, f"{what} on {there}")
    _moved(y, _host(), host, f"{what} on {there}")


@check("T01")
def every_dtype(s: Subject) -> None:
    """Arrays of every dtype move between all devices and the host, every value and every sign kept."""
    for dtype in dtypes_on(s, *s.pair):
        _go_round(s, extremes(dtype), f"a (3, 4) array of {dtype}")


@check("T03")
def views(s: Subject) -> None:
    """Views (transposed, with steps, offsets or reversed) move with the elements that they show."""
    values = s.values((3, 4))
    here, there = s.pair
    for device, target in ((s.device, _host()), (here, there), (there, here), (there, _host())):
        for what, expected, view in views_of(s, values, s.array(values, device=device), device):
            if _host() != device:
                _moved(view, target, expected, f"{what} on {device}")
    for target in s.places:
        for what, expected, view in views_of(s, values, values, _host()):
            _moved(view, target, expected, f"{what} of the host")
        spread = np.broadcast_to(values[1], (3, 4))
        _moved(spread, target, spread, "a broadcast row of the host")


Memory = Literal["C", "F", "pages"]
HOSTS: tuple[tuple[tuple[int, ...], Memory, bool], ...] = (
    ((3, 4), "C", True),
    ((), "C", True),
    ((1000,), "C", True),
    ((3, 4), "F", True),
    ((3, 4), "C", False),
    ((64, 64), "pages", True),
)
"""Host arrays: shape, memory order, and whether they are writable; one array consists of whole memory pages."""


def _in_memory(values: Any, order: Memory) -> Any:
    """Return a copy of a host array in memory of this order, or in whole memory pages."""
    if order != "pages":
        return np.asarray(values, order=order)
    host = np.frombuffer(mmap.mmap(-1, values.nbytes), values.dtype).reshape(values.shape)
    host[...] = values
    return host


@check("T05")
def host_copies(s: Subject) -> None:
    """Transfers from and to the host are copies: later writes on the host have no effect."""
    for device in s.places:
        for shape, order, writeable in HOSTS:
            host = _in_memory(s.values(shape), order)
            host.flags.writeable = writeable  # a snapshot, because read-only memory may still change
            kept, first = host.copy(), device.backend.from_host(host, device)
            moved = device.backend.copy(host) if device == _host() else transfer(host, device)
            host.flags.writeable = True
            host[...] = 7.25
            what = f"{'an' if writeable else 'a read-only'} array of shape {shape} ({order})"
            what = f"{what} moved from the host to {device}, after a write on the host,"
            assert_unchanged(np.asarray(device.backend.to_host(moved)), kept, what)
            one, two = device.backend.to_host(first), device.backend.to_host(first)
            assert_unchanged(np.asarray(one), kept, f"from_host's array of shape {shape}, after a write on the host,")
            if one.size:
                assert not np.shares_memory(one, two), f"two calls of to_host({shape} on {device}) gave the same memory"
            if one.flags.writeable:
                one[...] = -3.5
                again = np.asarray(device.backend.to_host(first))
                assert_unchanged(again, kept, f"an array of shape {shape} on {device}, after a write to a host copy,")
        values = s.values((3, 4))
        for what, _, view in views_of(s, values, s.array(values, device=device), device):
            one, two = device.backend.to_host(view), device.backend.to_host(view)
            assert not np.shares_memory(one, two), f"two calls of to_host({what} on {device}) gave the same memory"


@check("T07", needs=("in_place_update", "index_assignment"))
def memory_of_its_own(s: Subject) -> None:
    """An array moved to another device has separate memory: writes on one device do not show on the other."""
    here, there = s.pair
    values = s.values((3, 4))
    for view in (False, True):
        for write_to_source in (True, False):
            x = s.array(values, device=here)
            with using_device(here):
                source = here.backend.namespace.permute_dims(x, (1, 0)) if view else x
            moved = transfer(source, there)
            written, other = (source, moved) if write_to_source else (moved, source)
            with using_device(here if write_to_source else there):
                written[...] = 7.25
            expected = np.ascontiguousarray(values.T) if view else values
            place = there if write_to_source else here
            what = f"an array on {place}, after a write to the {'source' if write_to_source else 'result'} of a move,"
            assert_unchanged(np.asarray(place.backend.to_host(other)), expected, what)
            back = transfer(written, place)
            full = np.full_like(expected, 7.25)
            assert_unchanged(np.asarray(place.backend.to_host(back)), full, f"an array written to, moved to {place}")
            assert_unchanged(np.asarray(place.backend.to_host(other)), expected, f"{what} which was moved after that,")


@check("T11")
def within_a_graph(s: Subject) -> None:
    """A Variable that moves in the midst of a graph leaves it whole: gradients of all orders go back the same way."""
    here, there = s.pair
    values = s.values((3, 4))
    for target in (there, _host()):
        x = s.variable(values, device=here)
        y = x * x
        y.to_device(target)
        z = namespace(target.backend).sum(y * y + copy(y, target))
        z.backward(enable_double_backprop=True)
        assert x.grad_var is not None
        expected = 4 * values**3 + 2 * values
        s.expect(x.grad_var, expected, f"d(x^4 + x^2)/dx by way of {target}", device=here)
        (second,) = grad([namespace(here.backend).sum(x.grad_var)], [x])
        s.expect(second, 12 * values**2 + 2, f"its derivative, by way of {target}", device=here)


@check("T12")
def all_or_nothing(s: Subject) -> None:
    """A move that fails does not change data, gradient and device."""
    here, there = s.pair
    values, gradient = s.values((3, 4)), s.values((3, 4))
    x = Variable(s.array(values, device=here), grad=s.array(gradient, device=here))
    nowhere = Device(here.backend, object(), f"@{here.backend.name}:nowhere")
    array, node = x.array, x.node
    s.raises(Exception, lambda: x.to_device(nowhere), "a move to a device that is not there")
    assert x.array is array, "a move that failed gave the Variable another array"
    assert x.node is node, "a move that failed gave the Variable another node"
    s.expect(x, values, "a Variable after a move that failed", device=here)
    s.expect(x.grad, gradient, "the gradient after a move that failed", device=here)
    x.to_device(there)
    s.expect(x, values, "a Variable that moved after a move that failed", device=there)
    s.expect(x.grad, gradient, "the gradient that moved after a move that failed", device=there)


@check("T15")
def by_name(s: Subject) -> None:
    """Every name and handle of a device leads there: a Variable moves by specifier, Device or the library's object."""
    for device in s.pair:
        values = s.values((2, 3))
        for given in (device, device.name, str(device)):
            x = s.variable(values, device=s.pair[0]).to_device(given)
            s.expect(x, values, f"a Variable moved to {given!r}", device=device)
        assert get_device(device.name).backend is device.backend, f"{device.name} leads to another backend"
