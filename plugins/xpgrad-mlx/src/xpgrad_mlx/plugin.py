"""The plugin: imported when the first of MLX's arrays, or the device ``@mlx``, is met."""

from __future__ import annotations

from importlib.util import find_spec

from xpgrad.plugin import Backend, BackendUnavailable, hookimpl

xpgrad_api = (1, 1)


@hookimpl
def xpgrad_backend() -> Backend:
    """Return the backend; where MLX is missing, raise BackendUnavailable with what to do."""
    if find_spec("mlx") is None:
        raise BackendUnavailable("mlx: MLX is not installed; pip install mlx, on Linux 'mlx[cpu]' or 'mlx[cuda]'")
    from xpgrad_mlx.backend import MLXBackend

    return MLXBackend()
