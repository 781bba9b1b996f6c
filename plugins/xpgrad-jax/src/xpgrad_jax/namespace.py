"""`jax.numpy` for xpgrad: dtypes never change silently, traced arrays have no device, results keep the device.

Names defined neither here nor in `functions` come from jax.numpy.
"""

import functools
import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from xpgrad.types import Array
from xpgrad_jax import functions
from xpgrad_jax.dtypes import checked
from xpgrad_jax.places import TRACED, handle_for, placement

CREATION = (
    *("arange", "empty", "empty_like", "eye", "full", "full_like", "linspace", "ones", "ones_like"),
    *("zeros", "zeros_like"),
)
OWN = (
    *("abs", "all", "any", "atanh", "clip", "cumulative_prod", "log", "log10", "log1p", "log2", "max", "min", "pow"),
    *("repeat", "sinh", "sqrt"),
)
REDUCTIONS = "sum", "prod", "cumulative_sum"
ASTRAY = (
    *("abs", "hypot", "imag", "isfinite", "isin", "isinf", "max", "min", "nonzero", "repeat", "searchsorted"),
    *("signbit", "take", "take_along_axis", "unique_all", "unique_counts", "unique_inverse", "unique_values", "where"),
)
BINARY = (
    *("add", "subtract", "multiply", "floor_divide", "remainder", "maximum", "minimum"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"),
)


def guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` so that it refuses a dtype that jax would change, and takes the place of a traced array."""
    name = function.__name__

    @functools.wraps(function)
    def call(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        if dtype is not None:
            checked(dtype, name)
        if kwargs.get("device") is TRACED:
            del kwargs["device"]
        return function(*args, dtype=dtype, **kwargs)

    return call


def staying(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` with results on the device of its first array; other arguments may be Python numbers.

    jax 0.10 creates some results on its default device: empty results, and results with the same value for every input,
    like `imag` of real numbers.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        x = next((arg for arg in args if isinstance(arg, jax.Array)), None)

        def placed(made: Array) -> Array:
            if x is None or isinstance(x, Tracer) or isinstance(made, Tracer) or made.devices() == x.devices():
                return made
            return jax.device_put(made, handle_for(x.sharding))

        return jax.tree.map(placed, function(*args, **kwargs))

    return call


def of_points(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a transform that refuses no axes, and a result of no points, which jax makes and cannot transform back."""

    @functools.wraps(function)
    def call(x: Array, **kwargs: Any) -> Array:
        axes = kwargs.get("axes")
        if not x.ndim or (axes is not None and not axes):
            raise ValueError(f"{function.__name__}: expected an axis to transform, got shape {x.shape}, axes {axes}")
        made = function(x, **kwargs)
        axis = (kwargs.get("axes") or [kwargs.get("axis", -1)])[-1]
        if made.shape[axis] == 0:
            raise ValueError(f"{function.__name__}: expected a result of at least one point, got shape {made.shape}")
        return made

    return call


def module(original: types.ModuleType, **own: Callable[..., Any]) -> types.ModuleType:
    """Return an extension with some functions replaced."""
    made = types.ModuleType(original.__name__, original.__doc__)
    vars(made).update({name: getattr(original, name) for name in dir(original) if not name.startswith("_")} | own)
    return made


globals().update({name: getattr(functions, name) for name in OWN})
globals().update({name: guarded(getattr(jnp, name)) for name in (*CREATION, *REDUCTIONS)})
globals().update({name: staying(getattr(functions if name in OWN else jnp, name)) for name in ASTRAY})
globals().update({name: functions.parsing(getattr(jnp, name)) for name in BINARY})
fft = module(
    jnp.fft,
    fftfreq=guarded(jnp.fft.fftfreq),
    rfftfreq=guarded(jnp.fft.rfftfreq),
    **{name: of_points(getattr(jnp.fft, name)) for name in ("hfft", "irfft", "irfftn", "rfftn")},
)
linalg = module(
    jnp.linalg,
    diagonal=staying(jnp.linalg.diagonal),
    matrix_rank=functions.matrix_rank,
    pinv=staying(jnp.linalg.pinv),
    trace=guarded(jnp.linalg.trace),
)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """Return `obj` as an array with a fixed dtype, never a weak type of jax."""
    if dtype is None and isinstance(obj, np.ndarray):
        dtype = obj.dtype
    checked(dtype, "asarray")
    made = jnp.asarray(obj, dtype=dtype, device=placement(device), copy=copy)
    return made if dtype is not None or not made.weak_type else jnp.asarray(made, dtype=made.dtype)


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """Return `x` in another dtype."""
    checked(dtype, "astype")
    return jnp.astype(x, dtype, copy=copy, device=placement(device))


def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """Return `x` with its axes permuted; jax 0.10 does not accept negative axes."""
    return jnp.permute_dims(x, tuple(axis + x.ndim if axis < 0 else axis for axis in axes))


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Return another library's array over the same memory, or as a copy.

    jax 0.10 shares host memory even if a copy is requested. The copy is complete when this function returns, because
    the other library may write to its array then.
    """
    if isinstance(x, np.ndarray):
        checked(x.dtype, "from_dlpack")
    made = jnp.from_dlpack(x, device=placement(device), copy=copy)
    return jax.block_until_ready(jnp.array(made)) if copy else made  # type: ignore[no-untyped-call]  # jax has no types


def __getattr__(name: str) -> Any:
    return getattr(jnp, name)
