"""A library whose current device in each thread determines where it computes, and faults of such libraries."""

import functools
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from tests.faults.fault import changing, fault, freedom
from tests.faults.testbed import DEVICES, Testbed, change

from xpgrad import Device
from xpgrad.types import Kernel
from xpgrad_conformance.pretend import PretendArray


class CurrentDevice(threading.local):
    """The current device of a thread; `name` names a fake device."""

    name = DEVICES[0]


def with_current_device(bed: Testbed, current: Any = None) -> Any:
    """Give the library of a testbed a current device, and its backend functions to follow it, as CuPy has."""
    current = current or CurrentDevice()
    compute = bed.library.call

    def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:  # a view has the device of its memory
        made = compute(function, *args, **kwargs)
        for arg in args if isinstance(made, PretendArray) else ():
            if isinstance(arg, PretendArray) and (made.size == 0 or np.may_share_memory(made.inner, arg.inner)):
                made.device = arg.device
        return made

    def activate(device: Device) -> Callable[[], None]:
        before, current.name = current.name, device.handle
        return lambda: setattr(current, "name", before)

    change(bed.library, place=lambda devices: current.name, call=call)
    bed.backend.has_current_device, bed.backend.in_place_from = True, 0
    change(bed.backend, activate=activate, follow=following(current, place_of))
    return current


def following(current: Any, place_of: Callable[[Any, str], str]) -> Callable[[Kernel], Kernel]:
    """Return a function that lets a kernel compute on the device of its arguments, which ``place_of`` gives."""

    def follow(function: Kernel) -> Kernel:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            before, current.name = current.name, place_of(args, current.name)
            try:
                return function(*args, **kwargs)
            finally:
                current.name = before

        return call

    return follow


def place_of(args: Any, otherwise: str) -> str:
    """Return the fake device of the first array among arguments, including lists of arrays."""
    for arg in args:
        if isinstance(arg, PretendArray):
            return arg.device
        if isinstance(arg, (list, tuple)):
            found = place_of(arg, "")
            if found:
                return found
    return otherwise


@fault("default-device context leaks to other threads", "V")
def current_device_leaks(bed: Testbed) -> None:
    with_current_device(bed, SimpleNamespace(name=DEVICES[0]))


@fault("default device not restored after exception", "V")
def current_device_after_an_error(bed: Testbed) -> None:
    current = with_current_device(bed)

    def follow(function: Kernel) -> Kernel:
        def call(*args: Any, **kwargs: Any) -> Any:
            before, current.name = current.name, place_of(args, current.name)
            result = function(*args, **kwargs)
            current.name = before
            return result

        return call

    change(bed.backend, follow=follow)


@fault("activate makes a device current and gives nothing that undoes it", "V")
def current_device_not_undone(bed: Testbed) -> None:
    current = with_current_device(bed)
    change(bed.backend, activate=lambda device: setattr(current, "name", device.handle))


@fault("leaving a scope makes the first device current, not the one before", "V")
def current_device_back_to_the_first(bed: Testbed) -> None:
    current = with_current_device(bed)

    def activate(device: Device) -> Callable[[], None]:
        current.name = device.handle
        return lambda: setattr(current, "name", DEVICES[0])

    change(bed.backend, activate=activate)


@fault("every scope restores the device that was current before the latest one", "V")
def current_device_before_the_latest(bed: Testbed) -> None:
    current = with_current_device(bed)

    def activate(device: Device) -> Callable[[], None]:
        current.before, current.name = current.name, device.handle
        return lambda: setattr(current, "name", current.before)

    change(bed.backend, activate=activate)


@fault("activate does nothing, though the library has a current device", "V")
def current_device_not_entered(bed: Testbed) -> None:
    with_current_device(bed)
    change(bed.backend, activate=lambda device: None)


@fault("functions compute on the current device, wherever their arrays are", "V")
def current_device_not_followed(bed: Testbed) -> None:
    with_current_device(bed)
    change(bed.backend, follow=lambda function: function)


@fault("has_current_device is not set, though the library has one", "V")
def current_device_not_declared(bed: Testbed) -> None:
    with_current_device(bed)
    bed.backend.has_current_device = False


@fault("functions of lists of arrays compute on the current device", "K", ("concat", "stack"))
def current_device_of_lists(bed: Testbed) -> None:
    def first(args: Any, otherwise: str) -> str:
        return next((a.device for a in args if isinstance(a, PretendArray)), otherwise)

    change(bed.backend, follow=following(with_current_device(bed), first))


@changing("library.place", families="V", memory=threading.current_thread)
def other_threads_on_the_first(first: Any, right: Any, devices: Any) -> Any:
    """in other threads than the first results go to the first device"""
    return right(devices) if threading.current_thread() is first else DEVICES[0]


@freedom("the library computes on a current device of each thread, wherever its arrays are")
def current_device(bed: Testbed) -> None:
    with_current_device(bed)
