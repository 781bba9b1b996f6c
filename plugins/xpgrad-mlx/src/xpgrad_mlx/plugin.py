"""The plugin: imported on first use of an MLX array or the device ``@mlx``; its hook imports MLX."""

import importlib.util
from collections.abc import Callable, Mapping
from typing import Any

from xpgrad.plugin import Backend, BackendUnavailable, hookimpl
from xpgrad.types import Kernel

xpgrad_api = (1, 1)


@hookimpl
def xpgrad_backend() -> Backend:
    """Return the backend of MLX, or raise BackendUnavailable if MLX is not installed."""
    if importlib.util.find_spec("mlx") is None:
        raise BackendUnavailable(
            "mlx: MLX is not installed; pip install mlx, or on Linux pip install 'mlx[cpu]' or 'mlx[cuda]'"
        )
    from xpgrad_mlx.backend import MlxBackend

    return MlxBackend()


@hookimpl
def xpgrad_kernels(backend: Backend) -> Mapping[str, Kernel]:
    """Return the kernels that may decline: functions of exponentials in one pass, and assignment to no elements."""
    if backend.name != "mlx":
        return {}
    from xpgrad_mlx.kernels import indexing, statistical

    return {**indexing.KERNELS, **statistical.KERNELS}


@hookimpl
def xpgrad_executor(backend: Backend) -> Callable[[Any], Any] | None:
    """Return the executor that compiles a whole program by `mlx.core.compile`, for arrays of MLX."""
    if backend.name != "mlx":
        return None
    from xpgrad_mlx.executor import Executor

    return Executor()
