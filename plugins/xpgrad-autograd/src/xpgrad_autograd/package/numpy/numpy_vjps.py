"""Functions for user-defined rules; xpgrad defines the rules of NumPy's functions."""

from collections.abc import Callable
from typing import Any

from xpgrad_autograd.arrays import match_complex, metadata, unbroadcast
from xpgrad_autograd.boxes import ArrayBox, functions
from xpgrad_autograd.derivatives import defjvp, defvjp, defvjp_argnum, primitive, primitive_jvps, primitive_vjps
from xpgrad_autograd.nodes import SparseObject, VJPNode, register_notrace
from xpgrad_autograd.spaces import vspace

__all__ = [
    "ArrayBox", "SparseObject", "VJPNode", "balanced_eq", "defjvp", "defvjp", "defvjp_argnum", "match_complex",
    "primitive", "primitive_jvps", "primitive_vjps", "register_notrace", "repeat_to_match_shape", "replace_zero",
    "unbroadcast", "unbroadcast_f", "vspace",
]  # fmt: skip


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the function of a cotangent that applies `f` and sums the result to the shape of `target`."""
    target_meta = metadata(target)
    return lambda g: unbroadcast(f(g), target_meta)


def repeat_to_match_shape(g: Any, shape: Any, dtype: Any, axis: Any, keepdims: bool) -> tuple[Any, Any]:
    """Return the cotangent of a reduction, repeated along the reduced axes, and the number of repetitions."""
    xp = functions()
    if shape == ():
        return g, 1
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    reduced = {i % len(shape) for i in axes}
    kept = [1 if i in reduced else length for i, length in enumerate(shape)]
    count = 1
    for i in reduced:
        count *= shape[i]
    return xp["broadcast_to"](xp["reshape"](g, kept), shape), count


def balanced_eq(x: Any, z: Any, y: Any) -> Any:
    """Return 1 where `x` equals `z`, but 0.5 where `y` also equals `z`; else 0."""
    return (x == z) / (1.0 + (x == y))


def replace_zero(x: Any, val: Any) -> Any:
    """Return `x` with `val` in place of zeros."""
    return functions()["where"](x, x, val)
