"""Reference values: results and finite differences of NumPy in float64 or complex128."""

from typing import Any

import numpy as np

from xpgrad import Variable, as_array, grad
from xpgrad.backend.plugins import plugins
from xpgrad.testing.arrays import on_host
from xpgrad_conformance.subject import Subject

GRADIENT_RTOL = {"float64": 1e-7, "complex128": 1e-7, "float32": 2e-4, "complex64": 2e-4}
WIDE = {"f": np.float64, "c": np.complex128}


class _Host:
    """The namespace of the current backend of the host."""

    def __getattr__(self, name: str) -> Any:
        return getattr(plugins.host.namespace, name)


host: Any = _Host()


def wide(x: Any) -> Any:
    """Return a host array in float64 or complex128; integers and booleans are unchanged."""
    x = np.asarray(x)
    return x.astype(WIDE[x.dtype.kind]) if x.dtype.kind in WIDE else x


def named(xp: Any, name: str) -> Any:
    """Return a function of a namespace or of its extensions: ``linalg.det``."""
    for part in name.split("."):
        xp = getattr(xp, part)
    return xp


def same_numbers(got: Any, expected: Any, rtol: float, what: str, *, signs: bool = False) -> None:
    """Raise AssertionError unless each element is near the expected element, relative to its size; NaN must match.

    Parameters
    ----------
    signs : bool
        The signs of zeros are compared as well.
    """
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape, f"{what} has shape {got.shape}, expected {expected.shape}"
    right = np.isclose(got, expected, rtol, 0.0, equal_nan=True) if expected.dtype.kind in "fc" else got == expected
    if signs:
        right = right & ((expected != 0) | (np.signbit(got) == np.signbit(expected)))
    if not right.all():
        at = tuple(int(i) for i in np.argwhere(~right)[0])
        raise AssertionError(f"{what}: element {at} is {got[at]!s}, expected {expected[at]!s}")


def pulled(*args: Any, **kwargs: Any) -> Any:
    """Return the result of `grad`, typed as without None: the comparison that follows detects None."""
    return grad(*args, **kwargs)


def near_gradient(s: Subject, gx: Any, x: Variable, expected: Any, what: str, rtol: float = 0.0) -> None:
    """Raise AssertionError unless a gradient has shape, dtype and device of its Variable and the expected values."""
    assert gx is not None, f"{what} is None"
    array, backend = as_array(gx), s.backend
    found, wanted = backend.dtype_name(array.dtype), backend.dtype_name(x.array.dtype)
    assert found == wanted, f"{what} has dtype {found}, expected the dtype of the input, {wanted}"
    assert backend.device_of(array) == x.device, f"{what} is on {backend.device_of(array)}, expected {x.device}"
    assert tuple(array.shape) == tuple(x.shape), f"{what} has shape {tuple(array.shape)}, expected {tuple(x.shape)}"
    host, expected = on_host(array), np.asarray(expected)
    allowed = max(rtol, GRADIENT_RTOL[wanted] * s.widened(wanted))
    scale = float(np.max(np.abs(expected), initial=0.0))
    close = np.abs(host - expected) <= allowed * scale + 1e-9
    if not close.all():
        at = tuple(int(i) for i in np.argwhere(~close)[0])
        raise AssertionError(f"{what}: element {at} is {host[at]!s}, expected {expected[at]!s} (rtol {allowed:.2g})")
