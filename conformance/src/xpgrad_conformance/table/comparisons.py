"""Comparisons of device, values, bits and memory of arrays of any backend."""

from collections.abc import Callable
from typing import Any

import numpy as np

from xpgrad import Device, as_array
from xpgrad.backend.plugins import plugins


def assert_place(device: Device, array: Any, what: str) -> None:
    """Raise AssertionError unless `array` is an array of the device's backend on the device."""
    backend = device.backend
    assert type(array) in backend.array_types, f"{what} is {type(array).__name__}, no array of {backend.name}"
    found = backend.device_of(array)
    assert found == device, f"{what} is on {found}, expected {device}"


def assert_near(got: Any, expected: Any, rtol: float, what: str, usual: Callable[[], float] | None = None) -> None:
    """Raise AssertionError if host arrays differ in shape, or by more than `rtol` times the largest finite element.

    If all elements are near a zero of the function, `usual` returns the typical magnitude of its values.
    """
    assert got.shape == expected.shape, f"{what} has shape {got.shape}, expected {expected.shape}"
    if expected.dtype.kind not in "fc":
        different = np.argwhere(got != expected)
        assert not len(different), f"{what} differs at {tuple(different[0])}: got {got}, expected {expected}"
        return
    finite = expected[np.isfinite(expected)]
    atol = rtol * float(np.max(np.abs(finite), initial=0.0))
    close = np.isclose(got, expected, rtol, atol, equal_nan=True)
    if not close.all() and usual is not None:
        close = np.isclose(got, expected, rtol, max(atol, rtol * usual()), equal_nan=True)
    if not close.all():
        worst = tuple(int(i) for i in np.argwhere(~close)[0])
        raise AssertionError(
            f"{what} differs at {worst} of {expected.shape}: got {got[worst]!s}, expected {expected[worst]!s} "
            f"(rtol {rtol})"
        )


def assert_same_bits(one: Any, two: Any, what: str) -> None:
    """Raise AssertionError if two host arrays are not the same, bit by bit."""
    assert one.dtype == two.dtype, f"{what}: dtypes {one.dtype} and {two.dtype}"
    assert one.shape == two.shape, f"{what}: shapes {one.shape} and {two.shape}"
    if one.tobytes() != two.tobytes():
        same = (one == two) & (np.signbit(one.real) == np.signbit(two.real))
        at = tuple(int(i) for i in np.argwhere(~same)[0]) if not same.all() else ()
        raise AssertionError(f"{what} differ at {at}: {one[at]!r} and {two[at]!r}")


def shared_memory(a: Any, b: Any) -> bool:
    """Return whether two arrays or Variables share memory; False if the host cannot access it."""
    views: list[Any] = []
    for array in (as_array(a), as_array(b)):
        if plugins.backend_of(array).immutable:
            return False
        try:
            views.append(array if isinstance(array, np.ndarray) else np.from_dlpack(array))
        except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
            return as_array(a) is as_array(b)
    return bool(np.shares_memory(views[0], views[1]))
