"""Comparisons of results with eager calls: equal up to rounding, or within a few units in the last place."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from xpgrad.testing.arrays import on_host

ULPS = 4
"""Units in the last place by which an elementwise function may differ from NumPy."""
ROUNDING = {"e": 4e-3, "f": 4e-6, "d": 1e-14}
"""Allowed difference of the results of several calls, relative to the largest."""

CHANGES = 8
"""Allowed multiple of the effect of rounding the arguments."""


def assert_near(found: Any, expected: Any, others: Sequence[Any] = (), least: float = 0.0) -> None:
    """Raise AssertionError unless two leaves are equal to rounding, relative to the largest number.

    The tolerance is a multiple of the differences to `others`, computed from rounded arguments. For differences of
    larger numbers, `least` is a lower bound of the largest number.
    """
    a, b = _hosts(found, expected)
    if a is None:
        return
    if b.dtype.kind not in "fc":
        assert np.array_equal(a, b), f"{found!r}, eagerly {expected!r}"
        return
    finite = np.isfinite(b)
    with np.errstate(all="ignore"):
        size = np.max(np.abs(b), initial=least, where=finite)
        rounding = ROUNDING[np.real(b).dtype.char]
        changes = [np.max(np.abs(np.where(np.isfinite(c), c - b, 0)), initial=0.0, where=finite) for c in others]
        near = np.abs(np.where(finite, a - b, 0)) <= rounding * size + CHANGES * max(changes, default=0.0)
    assert np.all(near), f"by {np.max(np.abs(np.where(finite, a - b, 0)))}: {found!r}, eagerly {expected!r}"
    assert np.array_equal(a[~finite], b[~finite], equal_nan=True), f"{found!r}, eagerly {expected!r}"


def assert_ulps(found: Any, expected: Any) -> None:
    """Raise AssertionError unless two arrays differ by a few units in the last place; zeros have their signs."""
    a, b = _hosts(found, expected)
    if a is None:
        return
    if b.dtype.kind != "f":
        assert np.array_equal(a, b), f"{found!r}, eagerly {expected!r}"
        return
    finite = np.isfinite(b)
    with np.errstate(all="ignore"):
        near = np.abs(a[finite] - b[finite]) <= ULPS * np.spacing(np.abs(b[finite]))
    assert np.all(near), f"{found!r}, eagerly {expected!r}"
    assert np.array_equal(a[~finite], b[~finite], equal_nan=True), f"{found!r}, eagerly {expected!r}"
    zero = b == 0
    assert np.array_equal(np.signbit(a[zero]), np.signbit(b[zero])), f"{found!r}, eagerly {expected!r}"


def _hosts(found: Any, expected: Any) -> tuple[Any, Any]:
    """Return two arrays; None for equal leaves that are not arrays."""
    if not hasattr(expected, "dtype") or not hasattr(found, "dtype"):
        assert (type(found), repr(found)) == (type(expected), repr(expected)), f"{found!r}, eagerly {expected!r}"
        return None, None
    a, b = on_host(found), on_host(expected)
    assert (a.dtype, a.shape) == (b.dtype, b.shape), f"{a.dtype}{a.shape}, eagerly {b.dtype}{b.shape}"
    return a, b
