"""Pooling: one number for each window."""

from typing import Any

from xpgrad_chx.routines.network import run

__all__ = ["average_pool", "max_pool"]

Lengths = int | tuple[int, ...]


def max_pool(x: Any, ksize: Lengths, stride: Lengths | None = None, pad: Lengths = 0, cover_all: bool = False) -> Any:
    """Return the maximum of each window.

    Parameters
    ----------
    x : array, shape (N, C, *D)
    ksize : int or tuple of int
        Lengths of the windows.
    stride : int or tuple of int, optional
        By default those lengths.
    pad : int or tuple of int
    cover_all : bool
        Whether windows may extend beyond the end, so that windows cover every element.
    """
    return run("max_pooling_nd", x, ksize, stride=stride, pad=pad, cover_all=cover_all)


def average_pool(
    x: Any, ksize: Lengths, stride: Lengths | None = None, pad: Lengths = 0, pad_mode: str = "ignore"
) -> Any:
    """Return the mean of each window.

    Parameters
    ----------
    x : array, shape (N, C, *D)
    ksize, stride, pad
        As for `max_pool`.
    pad_mode : {"ignore", "zero"}
        Whether the elements around `x` do not count, or count as zeros.
    """
    if pad_mode not in ("ignore", "zero"):
        raise ValueError(f"average_pool: pad_mode must be 'ignore' or 'zero', got {pad_mode!r}")
    pad_value = None if pad_mode == "ignore" else 0
    return run("average_pooling_nd", x, ksize, stride=stride, pad=pad, pad_value=pad_value)
