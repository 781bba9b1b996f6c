"""The standard's functions of dtypes, and the namespace's inspection API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mlx.core as mx

from xpgrad_mlx.memory import DTYPES, UNIFIED, Array, checked


@dataclass(frozen=True)
class finfo_object:  # noqa: N801 - the standard's name
    """Limits of a floating-point dtype."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


@dataclass(frozen=True)
class iinfo_object:  # noqa: N801 - the standard's name
    """Limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: Any


def _dtype(type: Any) -> Any:
    return type.dtype if isinstance(type, mx.array) else type


def finfo(type: Any, /) -> finfo_object:
    """Return the limits of a floating-point dtype."""
    info = mx.finfo(_dtype(type))
    bits = 64 if info.dtype == mx.float64 else 32
    return finfo_object(bits, info.eps, info.max, info.min, info.smallest_normal, info.dtype)


def iinfo(type: Any, /) -> iinfo_object:
    """Return the limits of an integer dtype."""
    dtype = _dtype(type)
    info = mx.iinfo(dtype)
    return iinfo_object(8 * dtype.size, int(info.max), int(info.min), dtype)


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """Return `x` in another dtype."""
    checked(device)
    if x.dtype == mx.complex64 and dtype != mx.complex64:
        raise TypeError(f"astype: complex numbers have no real value; take `real` or `imag` first; got {dtype}")
    if x.dtype == dtype:
        return mx.array(x) if copy else x
    return x.astype(dtype)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the promoted dtype of arrays, dtypes and Python numbers."""
    strong = [item for item in arrays_and_dtypes if not isinstance(item, (bool, int, float, complex))]
    if not strong:
        raise ValueError("result_type: expected an array or a dtype among the arguments; got numbers only")
    dtype = mx.result_type(*strong)
    for number in arrays_and_dtypes:
        if isinstance(number, complex) or (isinstance(number, float) and not mx.issubdtype(dtype, mx.inexact)):
            dtype = mx.result_type(dtype, mx.complex64 if isinstance(number, complex) else mx.float32)
    return dtype


KINDS = {
    "bool": ("bool",),
    "signed integer": ("int",),
    "unsigned integer": ("uint",),
    "integral": ("int", "uint"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("int", "uint", "float", "complex"),
}


def can_cast(from_: Any, to: Any, /) -> bool:
    """Return whether promotion converts `from_` to `to`; MLX's function also allows float64 to complex64."""
    dtype = _dtype(from_)
    return bool(mx.can_cast(dtype, to)) and not (dtype == mx.float64 and to == mx.complex64)


class Info:
    """What `__array_namespace_info__()` returns."""

    def capabilities(self) -> dict[str, Any]:
        """Return the optional features of the standard that MLX supports."""
        return {"boolean indexing": False, "data-dependent shapes": True, "max dimensions": 10}

    def default_device(self) -> Any:
        """Return the only device."""
        return UNIFIED

    def devices(self) -> list[Any]:
        """Return the only device."""
        return [UNIFIED]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Return the default dtypes of new arrays."""
        return {
            "real floating": mx.float32,
            "complex floating": mx.complex64,
            "integral": mx.int32,
            "indexing": mx.int32,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Return a dictionary of dtypes of one kind or several kinds."""
        kinds = (kind,) if isinstance(kind, str) else (kind or ("bool", "numeric"))
        heads = {head for one in kinds for head in KINDS[one]}
        return {name: dtype for name, dtype in DTYPES.items() if name.rstrip("0123456789") in heads}
