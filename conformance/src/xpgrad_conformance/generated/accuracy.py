"""Accuracy of results: the error of each element in units in the last place."""

from collections.abc import Callable
from typing import Any

import numpy as np

WIDER: dict[Any, Any] = {
    np.dtype(np.float32): np.float64,
    np.dtype(np.complex64): np.complex128,
    np.dtype(np.float64): np.longdouble,
    np.dtype(np.complex128): np.clongdouble,
}
"""The dtypes in which references compute: exact to the last place of the dtype, where the platform has them."""
ROUNDED = 0.0 if np.finfo(np.longdouble).eps < np.finfo(np.float64).eps else 2.0
"""Error of a float64 reference in units in the last place, if longdouble is no wider than float64."""

PERIOD = 1021
"""Period of long vectors of ordinary values: a prime, so that blocks begin at different phases."""


def summed(size: int) -> float:
    """Return the relative error of a float64 variance of so many numbers that are added one after the other.

    PyTorch does so. Variances of float32 are more accurate: libraries add such numbers in float64, or in pairs.
    """
    return size / 4 * float(np.finfo(np.float64).eps)


def widened(host: Any, precise: bool = True) -> Any:
    """Return a host array in a wider dtype; integers and booleans unchanged.

    Parameters
    ----------
    precise : bool
        Whether float64 becomes longdouble, for which NumPy has no linear algebra.
    """
    wider = WIDER.get(host.dtype)
    if wider is None:
        return host
    if not precise:
        wider = np.complex128 if host.dtype.kind == "c" else np.float64
    return host.astype(wider)


def error_of(
    got: Any, expected: Any, *, units: float, scale: Any = None, signs: bool = False, subnormal: bool = True
) -> str | None:
    """Return how the first wrong element is wrong, or None if `got` is near enough.

    Parameters
    ----------
    got : host array
    expected : host array
        The exact result, in a wider dtype.
    units : float
        The allowed error in units in the last place; 0 for equality. NaN and infinities must be equal.
    scale : array_like, optional
        Magnitudes for relative errors, such as the sum of absolute values for a sum; by default the magnitude of each
        expected element. For complex numbers, an absolute value.
    signs : bool
        Zeros must have the right sign.
    subnormal : bool
        Whether numbers below the smallest normal one must be right; else they may be zero.
    """
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        return f"it has shape {got.shape}, expected {expected.shape}"
    if got.dtype.kind not in "fc":
        right = got == expected
    else:
        right = _near(got, expected, units, scale, subnormal)
        if signs:
            right &= (got != 0) | (expected != 0) | (np.signbit(got.real) == np.signbit(expected.real))
    return first_wrong(got, expected, right)


def first_wrong(got: Any, expected: Any, right: Any, name: str = "it") -> str | None:
    """Return how the first element that is not right is wrong, and how many are; None if all are right."""
    if np.all(right):
        return None
    at = tuple(int(i) for i in np.argwhere(~right)[0])
    count = int(np.size(right) - np.count_nonzero(right))
    of = "" if name == "it" else f"{name}, of shape "
    where = f"element {', '.join(map(str, at))} of {of}{got.shape}" if at else name
    also = f"; {count} of {got.size} are wrong" if count > 1 else ""
    return f"{where} is {got[at]!s}, expected {_rounded(expected[at], got.dtype)!s}{also}"


def repeated(reference: Callable[..., Any]) -> Callable[..., Any]:
    """Return an elementwise reference that computes the repeated part of a long vector only once (see `Draw.array`)."""

    def computed(*hosts: Any, **parameters: Any) -> Any:
        count = max((np.size(host) for host in hosts), default=0)
        if count <= 2 * PERIOD or not all(_repeats(host, count) for host in hosts):
            return reference(*hosts, **parameters)
        found = reference(*(host[:PERIOD] if np.ndim(host) else host for host in hosts), **parameters)
        return np.resize(found, (count,))

    return computed


def _repeats(host: Any, count: int) -> bool:
    if np.ndim(host) == 0:
        return True
    return bool(host.shape == (count,) and np.array_equal(host[PERIOD:], host[:-PERIOD]))


def _rounded(number: Any, dtype: Any) -> Any:
    """Return a number rounded to a dtype; an integer unchanged, because it may not fit."""
    with np.errstate(all="ignore"):
        return np.asarray(number).astype(dtype)[()] if dtype.kind in "fc" else number


def _near(got: Any, expected: Any, units: float, scale: Any, subnormal: bool) -> Any:
    info = np.finfo(got.dtype)
    wide = expected.dtype if expected.dtype.kind in "fc" else np.float64
    with np.errstate(all="ignore"):
        # most arrays are right everywhere, which is seen in fewer steps; NaN and infinities are not
        if not units and np.all(plain := got == expected):
            return plain
        near = np.abs(expected if scale is None else scale) * (units * info.eps)
        plain = (np.abs(got - expected) <= near) & (near < np.inf)
        if np.all(plain):
            return plain
        size = np.abs(expected) if scale is None else np.broadcast_to(np.abs(np.asarray(scale)), expected.shape)
        size = np.where(np.isfinite(size), size, np.where(np.isfinite(expected), np.abs(expected), 0))
        if got.dtype == np.float64 or got.dtype == np.complex128:
            units = units + ROUNDED * (units > 0)
        allowed = units * np.maximum(size * info.eps, info.smallest_subnormal)
        if not subnormal:
            allowed = allowed + 4 * float(info.smallest_normal)  # intermediate results may be smaller than the last
        near = np.abs(got.astype(wide) - expected) <= allowed
        rounded = expected.astype(got.dtype)
        same = _equal(got, rounded)
        # near the largest number, rounding decides whether the result is infinite
        overflow = np.isfinite(expected) & (np.abs(expected) + allowed >= float(info.max))
        if got.dtype.kind == "f":
            overflow &= np.signbit(got) == np.signbit(expected)
        elif np.any(one := np.isinf(expected.real) != np.isinf(expected.imag)):
            parts = (got.real, expected.real), (got.imag, expected.imag)
            same = same | (one & np.logical_and(*(_near(*part, units, None, subnormal) for part in parts)))
        return same | (near & np.isfinite(got)) | (overflow & np.isinf(got))


def _equal(got: Any, expected: Any) -> Any:
    """Return where two arrays are equal, NaN to NaN; a complex number with a NaN is NaN."""
    return (got == expected) | (np.isnan(got) & np.isnan(expected))
