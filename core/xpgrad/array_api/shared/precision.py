"""Half precision by way of single precision: sums and counts, which its dtypes cannot hold or soon stop to tell apart.

float16 ends at 65,504 and has whole numbers up to 2,048, bfloat16 up to 256. What is summed, counted, or divided by a
count is therefore computed in `Spec.wide`, which is the array's own dtype from float32 on, and rounded once at the end.
"""

from typing import Any

from xpgrad.backend.spec import Spec
from xpgrad.types import Array, Dtype, Kernel, Namespace


def widened(xp: Namespace, x: Array, spec: Spec) -> Array:
    """Return `x`, of the dtype of `spec`, in its wide dtype."""
    return xp.astype(x, spec.wide) if spec.half else x


def narrowed(xp: Namespace, x: Array, spec: Spec) -> Array:
    """Return `x`, of the wide dtype of `spec`, in its own."""
    return xp.astype(x, spec.dtype) if spec.half else x


def divided(xp: Namespace, g: Array, count: float | Array, spec: Spec) -> Array:
    """Return `g`, of the dtype of `spec`, divided by a number, or an array of the wide dtype, that may be large."""
    return narrowed(xp, widened(xp, g, spec) / count, spec)


def reduced(xp: Namespace, reduction: Kernel, x: Array, dtype: Dtype | None = None, **parameters: Any) -> Array:
    """Return a library's reduction of `x`; without a `dtype` that of half precision is made in the wide dtype."""
    if dtype is not None:
        return reduction(x, dtype=dtype, **parameters)
    wide = xp.backend.wide(x.dtype)
    if wide == x.dtype:
        return reduction(x, **parameters)
    return xp.astype(reduction(xp.astype(x, wide), **parameters), x.dtype)


def fitted(xp: Namespace, y: Array, x: Array) -> Array:
    """Return `y` in the dtype of `x`; Python's numbers widen some dtypes that are no library's own."""
    return y if y.dtype == x.dtype else xp.astype(y, x.dtype)
