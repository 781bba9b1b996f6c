"""``scipy.signal.convolve`` of arrays whose derivatives are taken, with axes to convolve, multiply and sum over."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from xpgrad_autograd.boxes import functions

Axes = Sequence[Sequence[int]]


def convolve(A: Any, B: Any, axes: Axes | None = None, dot_axes: Axes = ((), ()), mode: str = "full") -> Any:
    """Return the convolution of two arrays along axes, with sums of products over other axes.

    Parameters
    ----------
    A, B : array
    axes : (axes of A, axes of B), optional
        Axes to convolve, paired in order; by default all.
    dot_axes : (axes of A, axes of B)
        Axes to sum over, paired in order, as in `tensordot`. The result has the remaining axes of `A`, then of
        `B`, then the convolved ones.
    mode : {"full", "same", "valid"}
        "same" is the middle of "full", with the lengths of `A`.
    """
    xp = functions()
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"convolve: expected the mode 'full', 'same' or 'valid', got {mode!r}")
    A, B = xp["array"](A), xp["array"](B)
    if axes is None:
        axes = (range(A.ndim), range(B.ndim))
    first, second = ([axis % x.ndim for axis in given] for x, given in zip((A, B), axes, strict=True))
    sums = [[axis % x.ndim for axis in given] for x, given in zip((A, B), dot_axes, strict=True)]
    if mode == "same":
        made = convolve(A, B, axes, dot_axes, "full")
        starts = [(B.shape[j] - 1) // 2 for j in second]
        middle = [slice(start, start + A.shape[i]) for start, i in zip(starts, first, strict=True)]
        return made[(..., *middle)]
    if mode == "valid" and any(A.shape[i] < B.shape[j] for i, j in zip(first, second, strict=True)):
        if not all(A.shape[i] <= B.shape[j] for i, j in zip(first, second, strict=True)):
            raise ValueError("convolve: expected one array that is not shorter along every axis, for mode 'valid'")
        made = convolve(B, A, (second, first), (sums[1], sums[0]), mode)
        return _exchanged(made, B.ndim - len(second) - len(sums[1]), A.ndim - len(first) - len(sums[0]))
    if mode == "full":
        pads = [(0, 0)] * A.ndim
        for i, j in zip(first, second, strict=True):
            pads[i] = (B.shape[j] - 1,) * 2
        A = xp["pad"](A, pads, "constant")
    for j in second:
        B = xp["flip"](B, j)
    windows = _windows(A, first, [B.shape[j] for j in second])
    lengths = range(A.ndim, A.ndim + len(first))
    others = [i for i in range(A.ndim) if i not in first and i not in sums[0]]
    order = [*others, *first]
    made = xp["tensordot"](windows, B, [[*sums[0], *lengths], [*sums[1], *second]])
    kept = [i for i in range(A.ndim) if i not in sums[0]]
    rest = range(len(kept), made.ndim)
    convolved = [kept.index(i) for i in first]
    return xp["transpose"](made, [*(kept.index(i) for i in order if i in others), *rest, *convolved])


def _exchanged(made: Any, first: int, second: int) -> Any:
    axes = range(made.ndim)
    order = [*axes[first : first + second], *axes[:first], *axes[first + second :]]
    return functions()["transpose"](made, order)


def _windows(A: Any, axes: Sequence[int], lengths: Sequence[int]) -> Any:
    """Return an array with one more axis for each of `axes`, along which windows of the given lengths lie."""
    made = A
    for axis, length in zip(axes, lengths, strict=True):
        places = sliding_window_view(np.arange(made.shape[axis]), length)
        made = functions()["take"](made, places, axis)
        made = functions()["moveaxis"](made, axis + 1, -1)
    return made
