"""Cofactors from the factors of `det`; other factors differ by rounding if a matrix is singular."""

import torch

import xpgrad
from xpgrad.types import Array, Kernel


def cofactors(x: Array, d: Array, /) -> Array:
    """Return the cofactors of square matrices; where a pivot is 0, the default finds them by singular values."""
    if x.is_contiguous() and not x.is_complex():
        inverse, info = torch.linalg.inv_ex(x.mT)  # PyTorch factorises in column-major order, like its `det`
    else:
        inverse, info = torch.linalg.inv_ex(x)
        inverse = inverse.mT
    singular = (info != 0) | (d == 0)
    result = d[..., None, None] * inverse
    if not bool(singular.any()):
        return result
    if not bool(d.any()):
        return NotImplemented
    some = x[singular]
    by_default = xpgrad.get_device("@torch").backend.root.xp.linalg.cofactors  # of tensors, also while they are traced
    result[singular] = by_default(some, torch.zeros_like(d[singular]))
    return result


LINALG: dict[str, Kernel] = {"linalg.cofactors": cofactors}
