"""Functions of ``numpy.lib`` that xarray uses: sliding windows, which are copies for Variables."""

import types
from collections.abc import Sequence
from typing import Any

from xpgrad import array_api as xp
from xpgrad.errors import ShapeError
from xpgrad.graph.variable import Variable, as_variable
from xpgrad.interop.numpy.arguments import REFUSED, numpy_function
from xpgrad.types import WHOLE


@numpy_function("lib.stride_tricks.sliding_window_view")
def sliding_window_view(
    x: Any, window_shape: int | Sequence[int], axis: Any = None, *, subok: Any = REFUSED, writeable: Any = False
) -> Variable:
    """Return windows that slide along axes, as the last axes.

    Parameters
    ----------
    x : Variable or array
    window_shape : int or sequence of int
    axis : int or sequence of int, optional
        One for each window; by default all axes.

    Returns
    -------
    Variable
        A copy: the gradient of an element is the sum over the windows that it is in.
    """
    y: Variable = as_variable(x)
    sizes = (window_shape,) if isinstance(window_shape, WHOLE) else tuple(window_shape)
    given = range(y.ndim) if axis is None else (axis,) if isinstance(axis, WHOLE) else axis
    axes = tuple(int(each) for each in given)
    if len(sizes) != len(axes):
        raise ShapeError(f"sliding_window_view: expected as many windows as axes, got {sizes} for axes {axes}")
    for size, along in zip(sizes, axes, strict=True):
        y = _windows(y, int(size), along if along >= 0 else x.ndim + along)
    return y


def _windows(x: Variable, size: int, axis: int) -> Variable:
    count = x.shape[axis] - size + 1
    if count < 1 or size < 0:
        raise ShapeError(f"sliding_window_view: a window of {size} does not fit into axis {axis} of shape {x.shape}")
    space = x.__array_namespace__()
    starts = space.arange(count, device=x.device)[:, None]
    indices = xp.reshape(starts + space.arange(size, device=x.device)[None, :], (-1,))
    found = xp.reshape(xp.take(x, indices, axis=axis), (*x.shape[:axis], count, size, *x.shape[axis + 1 :]))
    moved: Variable = xp.moveaxis(found, axis + 1, -1)
    return moved


stride_tricks = types.SimpleNamespace(sliding_window_view=sliding_window_view)
