"""Sums and counts in half precision, computed in single precision and rounded once at the end.

float16 overflows above 65,504 and represents all integers up to 2,048, bfloat16 up to 256. Sums, counts, and divisions
by counts are therefore computed in `Spec.wide`, which equals the array's dtype for float32 and wider dtypes.
"""

import math
from typing import Any

from xpgrad.backend.spec import Spec
from xpgrad.types import Array, Dtype, Kernel, Namespace


def widened(xp: Namespace, x: Array, spec: Spec) -> Array:
    """Cast `x` from the dtype of `spec` to its wide dtype."""
    return xp.astype(x, spec.wide) if spec.half else x


def narrowed(xp: Namespace, x: Array, spec: Spec) -> Array:
    """Cast `x` from the wide dtype of `spec` to the dtype of `spec`."""
    return xp.astype(x, spec.dtype) if spec.half else x


def divided(xp: Namespace, g: Array, count: float | Array, spec: Spec) -> Array:
    """Return `g`, with the dtype of `spec`, divided by a number or an array of the wide dtype, which may be large."""
    return narrowed(xp, widened(xp, g, spec) / count, spec)


def reduced(xp: Namespace, reduction: Kernel, x: Array, dtype: Dtype | None = None, **parameters: Any) -> Array:
    """Return a library's reduction of `x`, computed in the wide dtype unless there is a `dtype`."""
    if dtype is not None:
        return reduction(x, dtype=dtype, **parameters)
    wide = xp.backend.wide(x.dtype)
    if wide == x.dtype:
        return reduction(x, **parameters)
    return xp.astype(reduction(xp.astype(x, wide), **parameters), x.dtype)


def rescaling(xp: Namespace, y: Array) -> Array:
    """Return the powers of 2 for the components of vectors of lengths `y`, so that their squares are normal numbers.

    A factor is 1 unless the length is infinite, because it or its square overflowed, or its square may be subnormal.
    """
    _, exponent = math.frexp(xp.backend.finfo(y.dtype).max)
    factor = 2.0 ** (25 * exponent // 32)
    return xp.where(y == math.inf, 1 / factor, xp.where(y < 2.0 ** (-3 * exponent // 8), factor, xp.ones_like(y)))


def fitted(xp: Namespace, y: Array, x: Array) -> Array:
    """Return `y` cast to the dtype of `x`: extension dtypes such as bfloat16 may be widened by Python scalars."""
    return y if y.dtype == x.dtype else xp.astype(y, x.dtype)
