"""Padding: an array with more elements at its edges."""

from collections.abc import Callable
from typing import Any

from xpgrad.array_api.indexing import setitem, take
from xpgrad.backend.plugins import plugins
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.types import WHOLE, AnyArray

Places = Callable[[int, int], int]


def _reflected(i: int, n: int) -> int:
    period = 2 * (n - 1)
    i = i % period if period else 0
    return i if i < n else period - i


def _mirrored(i: int, n: int) -> int:
    i %= 2 * n
    return i if i < n else 2 * n - 1 - i


MODES: dict[str, Places] = {
    "edge": lambda i, n: min(max(i, 0), n - 1),
    "reflect": _reflected,
    "symmetric": _mirrored,
    "wrap": lambda i, n: i % n,
}
"""For each mode, the index into an axis of length n from which index i of the padded axis is filled."""


def pad(x: AnyArray, /, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Variable:
    """`x` with more elements before and after each axis.

    Parameters
    ----------
    x : Variable or array
    pad_width : int, pair of int, or a pair for each axis
        Number of elements before and after.
    mode : str
        "constant" fills with `constant_values`; "edge" repeats the last element; "reflect" mirrors at the last element,
        "symmetric" at the edge after it; "wrap" continues from the other end. Elements that are repeated get the sum
        of the gradients.
    constant_values : scalar
    """
    x = as_variable(x)
    widths = _pairs(pad_width, x.ndim)
    if mode == "constant":
        shape = tuple(n + before + after for n, (before, after) in zip(x.shape, widths, strict=True))
        spec = x.node.spec
        made = spec.backend.namespace.full(shape, plugins.plain(constant_values), dtype=spec.dtype, device=spec.device)
        inside = tuple(slice(before, before + n) for n, (before, _) in zip(x.shape, widths, strict=True))
        return setitem(made, x, index=inside)
    if mode not in MODES:
        raise ValueError(f"pad: expected the mode constant, {', '.join(MODES)}, got {mode!r}")
    for axis, (before, after) in enumerate(widths):
        n = x.shape[axis]
        if not before and not after:
            continue
        if not n:
            raise ShapeError(f"pad: the mode {mode} needs elements, got shape {x.shape}")
        places = [MODES[mode](i, n) for i in range(-before, n + after)]
        indices = x.node.spec.backend.asarray(places, device=x.node.spec.device)
        x = take(x, indices, axis=axis)
    return x


def _pairs(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, WHOLE):
        return [(int(pad_width), int(pad_width))] * ndim
    pairs: list[Any]
    given: list[Any] = [tuple(part) if hasattr(part, "__len__") else part for part in pad_width]
    if all(isinstance(part, tuple) for part in given):
        pairs = [part * 2 if len(part) == 1 else part for part in given]
        pairs = pairs * ndim if len(pairs) == 1 else pairs
    else:
        pairs = [(given[0], given[-1])] * ndim if len(given) <= 2 else []
    if len(pairs) != ndim or any(len(pair) != 2 or pair[0] < 0 or pair[1] < 0 for pair in pairs):
        raise ShapeError(f"pad: expected a number, a pair or a pair for each of {ndim} axes, got {pad_width!r}")
    return [(int(before), int(after)) for before, after in pairs]
