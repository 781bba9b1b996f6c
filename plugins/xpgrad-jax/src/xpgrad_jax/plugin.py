"""The plugin: imported on first use of a jax array, a tracer or the device ``@jax``; its hook imports jax."""

import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

from xpgrad.plugin import Backend, BackendUnavailable, hookimpl
from xpgrad.types import Kernel

xpgrad_api = (1, 1)


@hookimpl
def xpgrad_backend() -> Backend:
    """Return the backend of jax, or raise BackendUnavailable if jax is not installed."""
    if importlib.util.find_spec("jax") is None:
        raise BackendUnavailable("jax: jax is not installed; pip install jax, or pip install 'jax[cuda13]' for GPUs")
    from xpgrad_jax.backend import JaxBackend

    return JaxBackend()


@hookimpl
def xpgrad_kernels(backend: Backend) -> Mapping[str, Kernel]:
    """Return the kernels that may decline: indexing, and random numbers, which are refused within a traced function."""
    if backend.name != "jax":
        return {}
    from xpgrad_jax.kernels import indexing, random

    return {**indexing.KERNELS, **random.KERNELS}


@hookimpl
def xpgrad_executor(backend: Backend) -> Callable[[Any], Any] | None:
    """Return the executor that compiles a whole program by `jax.jit`, for arrays of jax."""
    if backend.name != "jax":
        return None
    from xpgrad_jax.executor import executor

    return executor
