"""Inputs for transfer and exchange: views of a (3, 4) array with unusual strides, and extreme values of dtypes."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from xpgrad import Device, using_device
from xpgrad.backend.standard import DTYPES
from xpgrad.types import Array
from xpgrad_conformance.subject import Subject


class View(NamedTuple):
    """A view: the capabilities that it needs, and a function that makes it from an array of the library or the host."""

    name: str
    needs: tuple[str, ...]
    function: Callable[..., Any]


VIEWS = (
    View("transposed", (), lambda xp, x: xp.permute_dims(x, (1, 0))),
    View("its rows from the second", (), lambda xp, x: x[1:, :]),
    View("every second column", (), lambda xp, x: x[:, ::2]),
    View("an inner block", (), lambda xp, x: x[1:3, 1:3]),
    View("its last column", (), lambda xp, x: x[:, 3]),
    View("one element", (), lambda xp, x: x[2, 1]),
    View("the middle of its second row", (), lambda xp, x: x[1, 1:3]),
    View("the middle of a vector", (), lambda xp, x: xp.concat([x[0, :], x[1, :]])[3:6]),
    View("no rows", ("empty_arrays",), lambda xp, x: x[3:, :]),
    View("its rows backwards", ("negative_steps",), lambda xp, x: x[::-1, :]),
    View("both axes backwards", ("negative_steps",), lambda xp, x: x[::-1, ::-2]),
    View("three axes in another order", (), lambda xp, x: xp.permute_dims(xp.reshape(x, (3, 2, 2)), (2, 0, 1))),
)


def views_of(s: Subject, host: Any, x: Array, device: Device) -> Iterator[tuple[str, Any, Array]]:
    """Yield the name of each view that the library supports, the view of the host array, and the view of the array."""
    for view in VIEWS:
        if s.has(*view.needs):
            with using_device(device):
                made = device.backend.restore(view.function(device.backend.namespace, x))
            yield f"a (3, 4) array, {view.name},", np.asarray(view.function(np, host)), made


def dtypes_on(s: Subject, *devices: Device) -> list[str]:
    """Return the names of the standard's dtypes that all these devices support."""
    indices = [s.index, *(device.name.partition(":")[2] for device in devices)]
    return [name for name in DTYPES if all(s.capabilities.lacking((name,), index) is None for index in indices)]


def extremes(dtype: str) -> Any:
    """Return 12 values of a dtype, shape (3, 4), that a conversion to another dtype and back would change."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.asarray([True, False, False, True, True, False] * 2).reshape(3, 4)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        whole = [info.min, info.max, info.max - 1, info.min + 1, 0, 1, 7, 100, info.max // 2, info.max // 3, 2, 3]
        return np.asarray(whole, kind).reshape(3, 4)
    limits = np.finfo(kind)
    ends = [limits.max, limits.tiny, 1 + limits.eps]
    values = np.asarray([np.nan, np.inf, -np.inf, -0.0, 0.0, 1 / 3, -np.sqrt(2), -np.pi, 1e-5, *ends], limits.dtype)
    if kind.kind == "f":
        return values.reshape(3, 4)
    made = np.empty(12, kind)
    made.real, made.imag = values, values[::-1]
    return made.reshape(3, 4)


def assert_unchanged(got: Any, expected: Any, what: str) -> None:
    """Raise AssertionError unless two host arrays agree in dtype, shape, every value and every sign; NaNs are equal."""
    assert got.dtype == expected.dtype, f"{what} has dtype {got.dtype}, expected {expected.dtype}"
    assert got.shape == expected.shape, f"{what} has shape {got.shape}, expected {expected.shape}"
    same = np.ones(got.shape, bool)
    complex_ = got.dtype.kind == "c"
    for a, b in ((got.real, expected.real), (got.imag, expected.imag)) if complex_ else ((got, expected),):
        inexact = a.dtype.kind == "f"
        equal = (a == b) & (np.signbit(a) == np.signbit(b)) if inexact else a == b
        same &= equal | (np.isnan(a) & np.isnan(b)) if inexact else equal
    if not same.all():
        at = tuple(int(i) for i in np.argwhere(~same)[0])
        raise AssertionError(f"{what} differs at {at}: got {got[at]!r}, expected {expected[at]!r}")
