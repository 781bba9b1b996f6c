"""Reference values: results and finite differences of NumPy in float64 or complex128."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from xpgrad import Variable, as_array, grad
from xpgrad.backend.plugins import plugins
from xpgrad.testing.arrays import inner, on_host
from xpgrad.testing.differences import derivative
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


def gradients_of(loss: Callable[..., float], hosts: Sequence[Any]) -> list[Any]:
    """Return the gradients of ``loss(*hosts)`` with respect to each element, from finite differences in float64.

    Of a complex element: that by its real part plus i times that by its imaginary part.
    """
    hosts, found = [wide(host) for host in hosts], []
    for k, host in enumerate(hosts):
        out = np.zeros(host.shape, host.dtype)
        for at in np.ndindex(host.shape):
            for unit in (1.0, 1j) if host.dtype.kind == "c" else (1.0,):

                def moved(t: float, k: int = k, at: Any = at, unit: Any = unit) -> float:
                    there = hosts[k].copy()
                    there[at] += t * unit
                    return loss(*hosts[:k], there, *hosts[k + 1 :])

                out[at] += unit * derivative(moved, 1e-3)
        found.append(out)
    return found


def differentiates(s: Subject, what: str, call: Any, *hosts: Any) -> None:
    """Raise AssertionError unless the gradients of ``call(xp, *xs)`` agree with differences of NumPy's values.

    The cotangent is random; the value is compared as well, and the inputs must stay unchanged.

    Parameters
    ----------
    call : callable
        Takes the differentiable namespace and Variables, and returns one Variable; for the reference it takes the
        namespace of the host and its arrays in float64 or complex128.
    hosts : host arrays, floating-point
    """

    def reference(*arrays: Any) -> Any:
        return np.asarray(call(host, *arrays))

    xs = [s.variable(x) for x in hosts]
    before = [on_host(x) for x in xs]
    y = call(s.xp, *xs)
    s.expect(y, reference(*map(wide, before)), what)
    gy = s.cotangent(y)
    seed = s.variable(gy)
    gxs = grad([y], xs, [seed])
    expected = gradients_of(lambda *moved: float(inner(gy, reference(*moved))), before)
    for i, (x, gx, gradient) in enumerate(zip(xs, gxs, expected, strict=True)):
        assert gx is not None, f"{what}: input {i} has no gradient"
        near_gradient(s, gx, x, gradient, f"{what}: the gradient for input {i}")
        assert on_host(x).tobytes() == before[i].tobytes(), f"{what}: the backward computation has written to input {i}"
    assert on_host(seed).tobytes() == gy.tobytes(), f"{what}: the backward computation has written to its seed"


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
