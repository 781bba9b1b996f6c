"""NumPy as an Array API namespace: array_api_compat's namespace, with functions that NumPy 2.0 lacks."""

import functools
import importlib
import sys
import types
from typing import Any

import numpy as np

from xpgrad.types import Array, Dtype, Kernel, Namespace, Shape

COMPAT = "array_api_compat.numpy"
UNCHANGED = frozenset(
    (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128", "e", "inf", "nan", "newaxis", "pi"),
        *("broadcast_arrays", "broadcast_to", "can_cast", "expand_dims", "isdtype", "moveaxis", "repeat"),
        *("result_type", "squeeze", "take", "tile", "where"),
    )
)
"""Names that array_api_compat takes from NumPy unchanged, and that many programs need."""
SAME = frozenset(
    (
        *("arange", "asarray", "empty", "empty_like", "eye", "full", "full_like", "linspace"),
        *("ones", "ones_like", "zeros", "zeros_like"),
    )
)
"""Functions that array_api_compat wraps for older versions of NumPy; NumPy's do the same since 2.0."""
BOUNDS = frozenset((int, float, type(None)))


def astype(x: Array, dtype: Dtype, /, *, copy: bool = True, device: Any = None) -> Array:
    """Return `x` in another dtype; NumPy 2.0 has no argument `device`."""
    if device not in (None, "cpu"):
        raise ValueError(f"astype: NumPy's arrays are on the device 'cpu', got {device!r}")
    return x.astype(dtype, copy=copy)


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Return `x` between bounds; floats between numbers as array_api_compat does, in less time."""
    if x.dtype.kind != "f" or type(min) not in BOUNDS or type(max) not in BOUNDS or min is max is None:
        return importlib.import_module(COMPAT).clip(x, min, max)
    return np.clip(x, min, max, out=np.empty(x.shape, x.dtype) if x.ndim else None)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Return another library's array as a view of its memory, or a copy; NumPy 2.0 lacks the argument `copy`.

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


def roll(x: Array, /, shift: Any, *, axis: Any = None) -> Array:
    """Return `x` rolled along `axis`; along one axis, it takes a third of the time of NumPy's function."""
    if type(shift) is not int or type(axis) is not int or not -x.ndim <= axis < x.ndim or not x.shape[axis]:
        return np.roll(x, shift, axis)
    before, start = (slice(None),) * (axis % x.ndim), -shift % x.shape[axis]
    return np.concatenate((x[(*before, slice(start, None))], x[(*before, slice(start))]), axis)


def _of_integers_too(function: Kernel) -> Kernel:
    """Return a rounding function that does not change integers."""

    @functools.wraps(function)
    def rounded(x: Array, /) -> Array:
        return np.array(x) if np.isdtype(x.dtype, "integral") else function(x)

    return rounded


_REPLACED: dict[str, Kernel] = {"astype": astype, "clip": clip, "roll": roll}
if np.lib.NumpyVersion(np.__version__) < "2.1.0b1":
    _REPLACED |= {
        "ceil": _of_integers_too(np.ceil),
        "floor": _of_integers_too(np.floor),
        "from_dlpack": from_dlpack,
        "reshape": reshape,
        "trunc": _of_integers_too(np.trunc),
    }


def _lazy() -> types.ModuleType:
    """Return array_api_compat's namespace, imported when a name that NumPy lacks is first used.

    The import takes 60 ms, because it includes modules that NumPy imports lazily, such as `numpy.testing`.
    """
    made = types.ModuleType(COMPAT)  # a library recognises the namespace by its name

    def find(name: str) -> Any:
        found = getattr(np if name in UNCHANGED or name in SAME else importlib.import_module(COMPAT), name)
        return vars(made).setdefault(name, found)

    for name in ("__loader__", "__package__", "__spec__"):
        del vars(made)[name]
    vars(made).update(_REPLACED, __getattr__=find, __dir__=lambda: dir(importlib.import_module(COMPAT)))
    return made


NAMESPACE: Namespace = _lazy()


def is_whole() -> bool:
    """Return whether array_api_compat has been imported: before that, a function of it can be nowhere."""
    return COMPAT in sys.modules


def at_once(name: str) -> bool:
    """Return whether the function of this name is available without array_api_compat."""
    return name in UNCHANGED or name in SAME or name in vars(NAMESPACE)
