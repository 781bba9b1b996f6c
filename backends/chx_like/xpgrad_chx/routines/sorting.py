"""Searching functions that ignore NaNs."""

from xpgrad_chx.array import ndarray
from xpgrad_chx.evaluation import call

__all__ = ["nanargmax", "nanargmin"]


def nanargmax(a: ndarray, axis: int | None = None) -> ndarray:
    """Return the index of the maximum along `axis`, ignoring NaNs; ValueError for slices with NaNs only."""
    return call("nanargmax", (a.as_grad_stopped(),), {"axis": axis})  # type: ignore[no-any-return]  # of this class


def nanargmin(a: ndarray, axis: int | None = None) -> ndarray:
    """Return the index of the minimum along `axis`, ignoring NaNs; ValueError for slices with NaNs only."""
    return call("nanargmin", (a.as_grad_stopped(),), {"axis": axis})  # type: ignore[no-any-return]  # of this class
