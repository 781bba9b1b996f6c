"""Dtypes that depend on jax's configuration, which by default reduces 64 bits to 32."""

from typing import Any

import jax
import jax.numpy as jnp

from xpgrad.errors import DtypeError
from xpgrad.types import Dtype

REASON = 'jax has 64 bits only after jax.config.update("jax_enable_x64", True), or with JAX_ENABLE_X64=1'
NARROW = {"float64": "float32", "complex128": "complex64", "int64": "int32", "uint64": "uint32"}
"""The dtype that jax uses instead, without 64 bits."""


def name_of(dtype: Dtype) -> str:
    """Return the name of a dtype of NumPy or jax: ``float32``."""
    return str(jnp.dtype(dtype).name)


def checked(dtype: Any, function: str) -> None:
    """Raise `DtypeError` if jax would make another dtype of `dtype`."""
    if dtype is None or jax.config.jax_enable_x64:  # type: ignore[attr-defined]  # made when jax is imported
        return
    try:
        name = name_of(dtype)
    except TypeError:  # not a dtype: jax raises its own error
        return
    if name in NARROW:
        raise DtypeError(f"{function}: jax would make {NARROW[name]} of {name}; {REASON}")
