"""Copies of arrays of any backend to and from the host, and comparisons."""

from typing import Any

import numpy as np

from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.graph.variable import Variable
from xpgrad.types import Array


def on_host(x: Any) -> Any:
    """Return a copy of a Variable, an array of any backend, a scalar or nested lists as a NumPy array."""
    array = x.array if isinstance(x, Variable) else x
    if type(array) not in plugins.by_type and (isinstance(array, (list, tuple)) or plugins.is_scalar(array)):
        return np.asarray(array)
    return plugins.backend_of(array).to_host(array)


def placed(values: Any, device: Device) -> Array:
    """Return a copy of the host array `values` on `device`, in new memory."""
    copy = np.array(values)
    backend = device.backend
    return transfer(copy, device) if type(copy) not in backend.array_types else copy


def like(values: Any, array: Array, dtype: str | None = None) -> Array:
    """Return the host array `values` on the device of `array`, in its dtype or in the dtype named `dtype`."""
    backend = plugins.backend_of(array)
    try:
        cast = np.dtype(dtype or backend.dtype_name(array.dtype))
    except TypeError:  # a dtype that NumPy does not know, such as bfloat16
        return backend.namespace.astype(placed(np.float32(values), backend.device_of(array)), array.dtype)
    return placed(np.asarray(values, cast), backend.device_of(array))


def is_floating(array: Array) -> bool:
    """Return whether an array of any backend is real or complex floating-point, so that it has a gradient."""
    return bool(plugins.backend_of(array).is_kind(array.dtype, ("real floating", "complex floating")))


def inner(a: Any, b: Any) -> Any:
    """Return the real inner product of two host arrays, where a complex number counts as two real numbers."""
    wide = np.complex128 if np.iscomplexobj(a) or np.iscomplexobj(b) else np.float64
    return np.sum(np.conj(np.asarray(a, wide)) * np.asarray(b, wide)).real


def assert_allclose(x: Any, y: Any, atol: float = 1e-5, rtol: float = 1e-4, verbose: bool = True) -> None:
    """Raise AssertionError if some corresponding elements of `x` and `y` are not close.

    Parameters
    ----------
    x, y : Variable, array of any backend, scalar or nested lists
    atol, rtol : float
        Elements are close if ``abs(x - y) <= atol + rtol * abs(y)``. NaNs are close to NaNs.
    verbose : bool
        Whether the message lists the values.

    Raises
    ------
    AssertionError
        Shapes differ, or elements are not close; the text names the worst element.
    """
    left, right = on_host(x), on_host(y)
    if left.shape != right.shape:
        raise AssertionError(f"assert_allclose: shapes differ: {left.shape} and {right.shape}")
    close = np.isclose(left, right, rtol, atol, equal_nan=True)
    if close.all():
        return
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.where(close, -1.0, np.nan_to_num(np.abs(left - 1.0 * right), nan=np.inf))
    worst = tuple(int(i) for i in np.unravel_index(np.argmax(distance), left.shape))
    text = (
        f"assert_allclose (atol={atol} rtol={rtol}): {np.count_nonzero(~close)} of {close.size} elements are not "
        f"close; the worst is at {worst}: {left[worst]!s} and {right[worst]!s}"
    )
    raise AssertionError(f"{text}\nx: {left}\ny: {right}" if verbose else text)
