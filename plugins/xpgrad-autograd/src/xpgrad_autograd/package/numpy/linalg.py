"""``numpy.linalg`` of arrays whose derivatives are taken."""

from typing import Any

import numpy as np

from xpgrad_autograd.boxes import functions
from xpgrad_autograd.wrapping import has_box, namespace

globals().update(namespace(np.linalg))
_plain: Any = np.linalg
_eigh, _eigvalsh = globals()["eigh"], globals()["eigvalsh"]


def eigh(a: Any, UPLO: str = "L") -> Any:
    """Return eigenvalues and eigenvectors of Hermitian matrices, reading one triangle."""
    return _eigh(_hermitian(a, UPLO)) if has_box([a]) or UPLO.upper() == "U" else _plain.eigh(a, UPLO)


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """Return eigenvalues of Hermitian matrices, reading one triangle."""
    return _eigvalsh(_hermitian(a, UPLO)) if has_box([a]) else _plain.eigvalsh(a, UPLO)


def _hermitian(a: Any, triangle: str) -> Any:
    """Return the Hermitian matrices that have one triangle of `a`."""
    xp = functions()
    a = xp["array"](a)
    part = xp["tril"](a, -1) if triangle.upper() == "L" else xp["triu"](a, 1)
    diagonal = xp["real"](xp["diagonal"](a, 0, -2, -1))
    return part + xp["conj"](xp["swapaxes"](part, -1, -2)) + diagonal[..., None] * np.eye(a.shape[-1])


def _dot(a: Any, b: Any) -> Any:
    return functions()["matmul"](a, b)


def T(x: Any) -> Any:
    """Return the matrices, transposed."""
    return functions()["swapaxes"](x, -1, -2)


def __getattr__(name: str) -> Any:  # for type checkers: other names come from the library
    raise AttributeError(f"{__name__} has no attribute {name!r}")
