"""Functions of the standard that are wrong in jax 0.10, or reject arguments of the standard."""

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from xpgrad.types import Array
from xpgrad_jax.dtypes import checked

MAX_INT64 = 2**63 - 1
"""The largest Python number that jax takes as an argument."""


def parsed(number: Any, x: Any) -> Any:
    """Return a Python number to combine with `x`; jax 0.10 rejects numbers of 2**63 and more, even with uint64."""
    if type(number) is int and number > MAX_INT64 and getattr(x, "dtype", None) == jnp.uint64:
        return np.uint64(number)
    return number


def parsing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` of two arrays so that either may be any number in the range of the other's dtype."""

    @functools.wraps(function)
    def call(x1: Any, x2: Any, /) -> Any:
        return function(parsed(x1, x2), parsed(x2, x1))

    return call


@parsing
def pow(x1: Any, x2: Any, /) -> Array:
    """Return powers; jax 0.10 ignores the dtype of 0-d integer exponents."""
    if isinstance(x1, jax.Array) and isinstance(x2, jax.Array) and x1.dtype != x2.dtype:
        dtype = jnp.result_type(x1, x2)
        x1, x2 = x1.astype(dtype), x2.astype(dtype)
    return jnp.pow(x1, x2)


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Return `x` limited to an interval, whose bounds may be uint64 numbers above 2**63."""
    return jnp.clip(x, parsed(min, x), parsed(max, x))


def all(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Return whether all elements are true; jax 0.10 tests only the real parts of complex numbers."""
    return jnp.all(x != 0 if jnp.iscomplexobj(x) else x, axis=axis, keepdims=keepdims)


def any(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Array:
    """Return whether an element is true; jax 0.10 tests only the real parts of complex numbers."""
    return jnp.any(x != 0 if jnp.iscomplexobj(x) else x, axis=axis, keepdims=keepdims)


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Return repeated elements; jax 0.10 accepts any axis of an array without axes."""
    if axis is not None and not x.ndim:
        raise ValueError(f"repeat: expected axis=None for an array without axes, got {axis}")
    return jnp.repeat(x, repeats, axis=axis)


def keeping_nan(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `jnp.max` or `jnp.min` so that NaN stays NaN; on hosts, jax 0.10 loses it in some thousand elements."""

    @functools.partial(jax.jit, static_argnames=("axis", "keepdims"))
    def extremum(x: Array, axis: Any, keepdims: bool) -> Array:
        found = function(x, axis=axis, keepdims=keepdims)
        return jnp.where(jnp.any(jnp.isnan(x), axis=axis, keepdims=keepdims), jnp.nan, found)

    @functools.wraps(function)
    def call(x: Array, /, *, axis: Any = None, keepdims: bool = False) -> Any:
        known = jnp.isdtype(x.dtype, "real floating")
        return (extremum if known else function)(x, axis=axis, keepdims=keepdims)

    return call


def abs(x: Array, /) -> Array:
    """Return absolute values; jax 0.10 gives NaN for a complex number with an infinite part and a NaN."""
    found = jnp.abs(x)
    if not jnp.iscomplexobj(x):
        return found
    return jnp.where(jnp.isinf(x.real) | jnp.isinf(x.imag), jnp.inf, found)


def sqrt(x: Array, /) -> Array:
    """Return square roots; jax 0.10 does not look at the sign of a zero imaginary part, which chooses the branch."""
    found = jnp.sqrt(x)
    if not jnp.iscomplexobj(x):
        return found
    return jax.lax.complex(found.real, jnp.copysign(found.imag, x.imag))


def sinh(x: Array, /) -> Array:
    """Return hyperbolic sines; jax 0.10 subtracts exponentials of complex numbers, which cancels near zero."""
    if not jnp.iscomplexobj(x):
        return jnp.sinh(x)
    turned = jnp.sin(jax.lax.complex(-x.imag, x.real))  # sinh z is -i sin iz
    return jax.lax.complex(turned.imag, -turned.real)


@jax.jit
def log1p(x: Array, /) -> Array:
    """Return logarithms of 1 + x; jax 0.10 has a hundredth of float64's precision where x is about -0.4."""
    found = jnp.log1p(x)
    if x.dtype == jnp.float64:
        return jnp.where((x > -0.45) & (x < -0.3), jnp.log(1 + x), found)
    return _near_0_8(1 + x, found) if x.dtype == jnp.complex128 else found


@jax.jit
def atanh(x: Array, /) -> Array:
    """Return inverse hyperbolic tangents; jax 0.10 goes through its `log1p`."""
    found, size = jnp.atanh(x), jnp.abs(x)
    if x.dtype != jnp.float64:
        return found
    return jnp.where((size > 0.3) & (size < 0.45), 0.5 * jnp.log((1 + x) / (1 - x)), found)


@jax.jit
def log(x: Array, /) -> Array:
    """Return logarithms; for complex numbers, jax 0.10 calls its inaccurate `log1p`."""
    found = jnp.log(x)
    return _near_0_8(x, found) if x.dtype == jnp.complex128 else found


def _near_0_8(x: Array, logarithm: Array) -> Array:
    """Return logarithms of complex numbers with other real parts where moduli are about 0.8."""
    size = jnp.abs(x)
    return jax.lax.complex(jnp.where((size > 0.76) & (size < 0.82), jnp.log(size), logarithm.real), logarithm.imag)


@jax.jit
def log2(x: Array, /) -> Array:
    """Return logarithms to base 2, computed with `log` for complex numbers."""
    return _to_base(2, log(x)) if x.dtype == jnp.complex128 else jnp.log2(x)


@jax.jit
def log10(x: Array, /) -> Array:
    """Return logarithms to base 10, computed with `log` for complex numbers."""
    return _to_base(10, log(x)) if x.dtype == jnp.complex128 else jnp.log10(x)


def _to_base(base: int, logarithm: Array) -> Array:
    # A division of complex numbers gives NaN beside infinity.
    return jax.lax.complex(logarithm.real / math.log(base), logarithm.imag / math.log(base))


def matrix_rank(x: Array, /, *, rtol: Any = None) -> Array:
    """Return the number of singular values that are not negligible; jax 0.10 takes `rtol` for an absolute bound."""
    if rtol is None:
        return jnp.linalg.matrix_rank(x)
    found = jnp.linalg.svdvals(x)
    bound = jnp.asarray(rtol)[..., None] * jnp.max(found, axis=-1, keepdims=True)
    return jnp.count_nonzero(found > bound, axis=-1)


def cumulative_prod(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
    """Return cumulative products; jax 0.10 keeps the dtype of narrow integers, where the standard has the default."""
    checked(dtype, "cumulative_prod")
    if dtype is None and jnp.isdtype(x.dtype, "integral"):
        wide = "uint64" if jnp.isdtype(x.dtype, "unsigned integer") else "int64"
        dtype = jax.dtypes.canonicalize_dtype(wide)  # without 64 bits the one of 32
    return jnp.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


max = keeping_nan(jnp.max)
min = keeping_nan(jnp.min)
