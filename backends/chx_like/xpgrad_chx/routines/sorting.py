"""Searching past what is missing."""

from xpgrad_chx.array import ndarray
from xpgrad_chx.evaluation import call

__all__ = ["nanargmax", "nanargmin"]


def nanargmax(a: ndarray, axis: int | None = None) -> ndarray:
    """Return where the maximum along `axis` is among what is no NaN; a slice of NaN only is a ValueError."""
    return call("nanargmax", (a.as_grad_stopped(),), {"axis": axis})  # type: ignore[no-any-return]  # of this class


def nanargmin(a: ndarray, axis: int | None = None) -> ndarray:
    """Return where the minimum along `axis` is among what is no NaN; a slice of NaN only is a ValueError."""
    return call("nanargmin", (a.as_grad_stopped(),), {"axis": axis})  # type: ignore[no-any-return]  # of this class
