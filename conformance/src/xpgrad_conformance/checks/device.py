"""Family V, devices: the devices of results and gradients, the device that an array reports, and mixed devices."""

import functools
import pickle
from typing import Any

import numpy as np

from xpgrad import Device, Variable, as_array, get_device, grad, using_device
from xpgrad.array_api.namespace import namespace
from xpgrad_conformance.check import check
from xpgrad_conformance.checks.concurrent_calls import in_another_thread
from xpgrad_conformance.subject import Subject
from xpgrad_conformance.table.comparisons import assert_place


def _assert_there(device: Device, y: Any, what: str) -> None:
    array = as_array(y)
    assert_place(device, array, what)
    if isinstance(y, Variable):
        spec = y.node.spec
        known = spec.backend.device_for(spec.device)
        assert known == device, f"the spec of {what} is on {known}, expected {device}"


def _rounds(s: Subject) -> tuple[Device, ...]:
    here, there = s.pair
    return here, there, here


@check("V03")
def raw_gradients(s: Subject) -> None:
    """Gradients of sweeps that are not recorded, accumulated or retained, lie on the device of their arrays."""
    for device in _rounds(s):
        xp = namespace(device.backend)
        x, w = (s.variable(s.values((3, 4), dtype="float64"), device=device) for _ in range(2))
        index = Variable(s.array(np.asarray([2, 0, 2], np.int64), device=device))
        xp.sum(x * x + w).backward()
        rows = xp.take(x, index, axis=0)
        y = xp.sum(rows * w + x[:, ::2][:, :1] + xp.sum(x * x, axis=0) + x)
        y.backward(retain_grad=True)
        for name, each in (("x", x), ("w", w), ("take(x, i)", rows), ("the sum, where the sweep began,", y)):
            _assert_there(device, each.grad, f"the gradient of {name}")
        total = s.values((80, 80), dtype="float64")  # large enough for sums in place, where a backend has them
        x = s.variable(total, device=device)
        xp.sum(x * x + x * 2.0 + xp.exp(x)).backward()
        _assert_there(device, x.grad, "a gradient of 6400 elements, the sum of three parts,")
        s.expect(x.grad, 2 * total + 2 + np.exp(total), "d sum(x x + 2 x + exp(x)) / dx", device=device)
        (one,) = grad([x * 1.5], [x])
        _assert_there(device, one, "a gradient of xpgrad.grad, which starts from ones,")


@check("V04")
def what_arrays_say(s: Subject) -> None:
    """New arrays, views and results report their device, in a form that leads back to that device."""
    for device in s.places:
        backend, xp = device.backend, device.backend.namespace
        x = s.array(s.values((3, 4), dtype="float64"), device=device)
        with using_device(device):  # raw operations create views of raw arrays
            arrays = {
                "a new array": x,
                "an empty array": s.array(np.zeros((0, 3)), device=device) if s.has("empty_arrays") else x,
                "a 0-d array": s.array(np.float64(1.5), device=device),
                "an integer array": s.array(np.asarray([3, 1, 2], np.int32), device=device),
                "a row": xp.reshape(x, (3, 4))[1, :],
                "a transposed array": xp.permute_dims(x, (1, 0)),
                "a sum": backend.restore(xp.sum(x)),
                "a copy": backend.copy(x),
            }
        for what, array in arrays.items():
            handle = backend.handle_of(array)
            assert handle == device.handle, (
                f"{what} on {device} reports {handle!r}, but the device is {device.handle!r}"
            )
            assert backend.device_for(handle) == device, (
                f"{handle!r}, from {what}, leads to {backend.device_for(handle)}"
            )
            assert device.is_array_supported(array), f"{device} does not take {what} for one of its own"
            assert Device.from_array(array) == device, f"{what} on {device} is found on {Device.from_array(array)}"
            spec = backend.spec(array)
            shape, dtype = tuple(array.shape), array.dtype
            given = (tuple(spec.shape), spec.dtype, spec.device)
            wanted = (shape, dtype, device.handle)
            assert given == wanted, f"the spec of {what} on {device} reports {given}, expected {wanted}"


@check("V06")
def the_library_refuses(s: Subject) -> None:
    """The library's functions reject arrays of two devices and do not move an array silently."""
    here, there = s.pair
    xp = here.backend.namespace
    x, y = (s.array(s.values((3, 3), dtype="float64"), device=device) for device in (here, there))
    meetings = ("add", (x, y)), ("matmul", (x, y)), ("concat", ([x, y],)), ("multiply", (y, x))
    for name, args in meetings:
        try:
            made = here.backend.follow(getattr(xp, name))(*args)
        except Exception:  # noqa: S112 - the standard does not specify which
            continue
        found = Device.from_array(made)
        raise AssertionError(f"{name} of arrays on {here} and {there} gave an array on {found}; expected an error")


@check("V07")
def equal_devices(s: Subject) -> None:
    """Equal devices compare and hash equal, regardless of their origin; different devices do not."""
    for device in s.places:
        backend = device.backend
        x, y = (s.array(s.values((2, 3), dtype="float64"), device=device) for _ in range(2))
        with using_device(device):
            view = x[0, :]
        found = {
            "get_device by name": get_device(device.name),
            "the device of an array": backend.device_of(x),
            "the device of a view": backend.device_of(view),
            "the device of a handle": backend.device_for(backend.handle_of(y)),
            "one of devices()": next((each for each in backend.devices() if each == device), None),
            "a pickled device": pickle.loads(pickle.dumps(device)),
            "get_device in another thread": in_another_thread(functools.partial(get_device, device.name)),
        }
        for what, other in found.items():
            assert other == device, f"{what} is {other}, expected {device}"
            assert hash(other) == hash(device), f"{what} equals {device}, but has another hash"
            assert other is not None
            assert other.handle == device.handle, f"{what} is {device}, but its handle {other.handle!r} is not equal"
            assert hash(other.handle) == hash(device.handle), f"{what} is {device}, but its handle has another hash"
        assert backend.spec(x) is backend.spec(y), (
            f"two arrays of one shape and dtype on {device} have two specs: are their handles "
            f"{backend.handle_of(x)!r} and {backend.handle_of(y)!r} equal, and do they hash equal?"
        )
    here, there = s.pair
    assert here != there, f"two devices are equal: {here!r} and {there!r}"
    assert here.handle != there.handle, f"the handles of {here} and {there} are equal: {here.handle!r}"
    x, y = (s.array(s.values((2, 3), dtype="float64"), device=device) for device in s.pair)
    assert here.backend.spec(x) is not here.backend.spec(y), f"arrays on {here} and {there} have one spec"
