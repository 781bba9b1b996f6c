"""The standard's linear algebra where dpnp's differs; other names come from dpnp unchanged."""

from typing import Any

import dpnp

from xpgrad.types import Array
from xpgrad_dpnp.layouts import on_plain


def eigvals(x: Array, /) -> Array:
    """Return the eigenvalues as complex numbers, also where all are real."""
    return _complex(dpnp.linalg.eigvals(x))


def eig(x: Array, /) -> Any:
    """Return eigenvalues and eigenvectors as complex numbers, also where all are real."""
    found = dpnp.linalg.eig(x)
    return type(found)(*map(_complex, found))


def _complex(x: Array) -> Array:
    return dpnp.astype(x, dpnp.result_type(x.dtype, dpnp.complex64), copy=False)


def __getattr__(name: str) -> Any:
    found = getattr(dpnp.linalg, name)
    return on_plain(found) if callable(found) and not isinstance(found, type) else found
