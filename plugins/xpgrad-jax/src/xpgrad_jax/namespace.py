"""`jax.numpy` as xpgrad sees it: no dtype is changed silently, and traced arrays have no device.

Whatever is not here is jax.numpy's own.
"""

import functools
import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from xpgrad.types import Array
from xpgrad_jax.dtypes import checked
from xpgrad_jax.places import TRACED

CREATION = (
    *("arange", "asarray", "empty", "empty_like", "eye", "full", "full_like", "linspace", "ones", "ones_like"),
    *("zeros", "zeros_like"),
)
REDUCTIONS = "sum", "prod", "cumulative_sum", "cumulative_prod"


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


def module(original: types.ModuleType, names: tuple[str, ...]) -> types.ModuleType:
    """Return an extension in which the functions `names` are guarded."""
    made = types.ModuleType(original.__name__, original.__doc__)
    vars(made).update({name: getattr(original, name) for name in dir(original) if not name.startswith("_")})
    vars(made).update({name: guarded(getattr(original, name)) for name in names})
    return made


globals().update({name: guarded(getattr(jnp, name)) for name in (*CREATION, *REDUCTIONS)})
fft = module(jnp.fft, ("fftfreq", "rfftfreq"))
linalg = module(jnp.linalg, ("trace",))


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """Return `obj` as an array with a dtype of its own: never what jax calls weakly typed."""
    if dtype is None and isinstance(obj, np.ndarray):
        dtype = obj.dtype
    checked(dtype, "asarray")
    made = jnp.asarray(obj, dtype=dtype, device=None if device is TRACED else device, copy=copy)
    return made if dtype is not None or not made.weak_type else jnp.asarray(made, dtype=made.dtype)


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Array:
    """Return `x` in another dtype."""
    checked(dtype, "astype")
    return jnp.astype(x, dtype, copy=copy, device=None if device is TRACED else device)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Return another library's array over the same memory."""
    if isinstance(x, np.ndarray):
        checked(x.dtype, "from_dlpack")
    return jnp.from_dlpack(x, device=None if device is TRACED else device, copy=copy)


def where(condition: Array, x1: Any, x2: Any, /) -> Array:
    """Return the elements of `x1` where `condition` holds, and those of `x2` elsewhere."""
    made = jnp.where(condition, x1, x2)
    if 0 in made.shape and not isinstance(made, jax.core.Tracer):  # jax 0.10 leaves empty ones on its default device
        return jax.device_put(made, condition.sharding)
    return made


def __getattr__(name: str) -> Any:
    return getattr(jnp, name)
