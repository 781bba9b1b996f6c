"""SciPy's own functions for arrays of NumPy, which compute them faster or more accurately."""

import functools
import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

from xpgrad.backend.plugins import plugins
from xpgrad.types import Array


@functools.cache
def _module(name: str) -> Any:
    """Return a module of SciPy, or None if SciPy is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != "scipy":
            raise
        return None


def reference(module: str, name: str, *xs: Array) -> Callable[..., Any] | None:
    """Return SciPy's function, or None if it is absent, or an array is empty or of a library other than NumPy."""
    host = plugins.host
    if any(0 in x.shape or plugins.backend_of(x) is not host for x in xs):
        return None
    return getattr(_module(module), name, None)


def by_matrix(function: Callable[..., Sequence[Array]], xs: Sequence[Array], ndims: Sequence[int]) -> list[Array]:
    """Return the results of `function` for each member of stacks, stacked; `xs[i]` has members with `ndims[i]` axes."""
    xp: Any = plugins.host.namespace
    leads = [tuple(x.shape[: x.ndim - n]) for x, n in zip(xs, ndims, strict=True)]
    lead = xp.broadcast_shapes(*leads)
    if not lead:
        return list(function(*xs))
    stacks = [
        xp.reshape(xp.broadcast_to(x, lead + tuple(x.shape[x.ndim - n :])), (-1, *x.shape[x.ndim - n :]))
        for x, n in zip(xs, ndims, strict=True)
    ]
    results = [function(*(x[i] for x in stacks)) for i in range(math.prod(lead))]
    return [xp.reshape(xp.stack(ys), lead + tuple(ys[0].shape)) for ys in zip(*results, strict=True)]


def required(module: str, function: str) -> Any:
    """Return a module of SciPy, which `function` needs for constants such as windows."""
    found = _module(module)
    if found is None:
        raise ImportError(f"{function}: needs SciPy, which is not installed; pip install scipy")
    return found
