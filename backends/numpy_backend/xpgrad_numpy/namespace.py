"""NumPy as the Array API standard has it: array_api_compat's namespace, with what NumPy 2.0 lacks."""

import functools
import types
from typing import Any

import array_api_compat.numpy as compat
import numpy as np

from xpgrad.types import Array, Kernel, Namespace, Shape


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Return another library's array as an array that shares its memory, or a copy; NumPy 2.0 has no argument for it.

    With NumPy 2.0, an array that shares memory is read-only.
    """
    if device not in (None, "cpu"):
        raise ValueError(f"from_dlpack: NumPy's arrays are on the device 'cpu', got {device!r}")
    made = np.from_dlpack(x)
    return np.array(made, copy=True) if copy else made


def reshape(x: Array, /, shape: Shape, *, copy: bool | None = None) -> Array:
    """Return `x` in another shape: a view, unless the layout or `copy` requires a copy."""
    made = np.reshape(x, shape)
    if copy is None or copy is not np.may_share_memory(made, x):
        return made
    if not copy:
        raise ValueError(f"reshape: from {x.shape} to {shape} there is no view of an array of this layout; copy=None")
    return made.copy()


def _of_integers_too(function: Kernel) -> Kernel:
    """Return a rounding function that does not change integers."""

    @functools.wraps(function)
    def rounded(x: Array, /) -> Array:
        return np.array(x) if np.isdtype(x.dtype, "integral") else function(x)

    return rounded


def _with(**names: Any) -> Namespace:
    made = types.ModuleType(compat.__name__, compat.__doc__)
    vars(made).update({**vars(compat), **names})
    return made


NAMESPACE: Namespace = (
    compat
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0b1"
    else _with(
        ceil=_of_integers_too(np.ceil),
        floor=_of_integers_too(np.floor),
        from_dlpack=from_dlpack,
        reshape=reshape,
        trunc=_of_integers_too(np.trunc),
    )
)
