"""Dtypes by name, as configuration and initializers specify them, in an array library."""

from typing import Any

from xpgrad.backend.backend import Backend
from xpgrad.backend.current import current_device
from xpgrad.config import config
from xpgrad.errors import DtypeError
from xpgrad.types import Dtype


class _Mixed16:
    """The dtype-like object for mixed precision: arrays are float16, parameters float32."""

    @property
    def dtype(self) -> Dtype:
        """The dtype float16 of the current device's library."""
        return dtype_of("float16", current_device().backend)

    def __repr__(self) -> str:
        return "dtype('mixed16')"

    def __str__(self) -> str:
        return "mixed16"

    def __eq__(self, other: object) -> bool:
        return other is self or (isinstance(other, str) and other == "mixed16")

    def __hash__(self) -> int:
        return hash("mixed16")

    def __reduce__(self) -> str:
        return "mixed16"  # one object in each process


mixed16 = _Mixed16()
CODES = {
    "e": "float16", "f": "float32", "d": "float64", "f2": "float16", "f4": "float32", "f8": "float64",
    "F": "complex64", "D": "complex128", "?": "bool", "i": "int32", "i4": "int32", "i8": "int64",
}  # fmt: skip
"""NumPy's short names of dtypes, which Chainer's programs use."""


def get_dtype(dtype: Any = None, map_mixed16: Any = None) -> Dtype:
    """Return a dtype of the current device's library.

    Parameters
    ----------
    dtype : dtype, str or None
        None means ``config.dtype``.
    map_mixed16 : dtype or str, optional
        The dtype to which `mixed16` is mapped; by default `mixed16` itself is returned.
    """
    dtype = config.dtype if dtype is None else dtype
    if mixed16 == dtype:
        if map_mixed16 is None:
            return mixed16
        dtype = map_mixed16
    return dtype_of(dtype, current_device().backend)


def dtype_of(dtype: Any, backend: Backend) -> Dtype:
    """Return the dtype of the library of `backend` that corresponds to `dtype`.

    Parameters
    ----------
    dtype : dtype of any library, str or None
        None means ``config.dtype``; `mixed16` is mapped to float32, as for parameters.
    backend : Backend

    Raises
    ------
    TypeError
        The library has no such dtype, or has to be configured for it.
    """
    dtype = config.dtype if dtype is None else dtype
    name = "float32" if mixed16 == dtype else getattr(dtype, "__name__", None) or str(dtype).rpartition(".")[2]
    name = CODES.get(name, name)
    try:
        return backend.namespace.empty(0, dtype=getattr(backend.namespace, name)).dtype
    except DtypeError:  # its message says what to do
        raise
    except (AttributeError, TypeError, ValueError):
        raise TypeError(f"{backend.name}: the library has no dtype {name!r}") from None
