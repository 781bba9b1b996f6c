"""The plugin: imported when the first tensor, or a device ``@torch``, is met. PyTorch is imported in the hooks only."""

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

from xpgrad.plugin import Backend, BackendUnavailable, Device, hookimpl
from xpgrad.types import Kernel

xpgrad_api = (1, 1)


@hookimpl
def xpgrad_backend() -> Backend:
    """Return the backend of PyTorch, or raise BackendUnavailable where PyTorch is not installed."""
    if find_spec("torch") is None:
        raise BackendUnavailable("torch: PyTorch is not installed; pip install torch")
    from xpgrad_torch import protocol
    from xpgrad_torch.backend import TorchBackend

    protocol.bind()
    return TorchBackend()


@hookimpl
def xpgrad_kernels(backend: Backend) -> Mapping[str, Kernel]:
    """Return the kernels that may decline, because PyTorch's function lacks some arguments, dtypes or devices."""
    if backend.name != "torch":
        return {}
    from xpgrad_torch.kernels.activations import ACTIVATIONS
    from xpgrad_torch.kernels.linalg import LINALG
    from xpgrad_torch.kernels.losses import LOSSES
    from xpgrad_torch.kernels.normalization import NORMALIZATION
    from xpgrad_torch.kernels.random import RANDOM
    from xpgrad_torch.kernels.windows import WINDOWS

    return RANDOM | LOSSES | LINALG | ACTIVATIONS | NORMALIZATION | WINDOWS


@hookimpl
def xpgrad_device(specifier: Any) -> Device | None:
    """Return the device for a `torch.device`, with or without its number."""
    if type(specifier).__module__.partition(".")[0] != "torch":
        return None
    from xpgrad_torch.backend import device_of_handle

    return device_of_handle(specifier)


@hookimpl
def xpgrad_executor(backend: Backend) -> Callable[[Any], Any] | None:
    """Return the executor that compiles programs by `torch.compile` on request."""
    if backend.name != "torch":
        return None
    from xpgrad_torch.executor import TorchExecutor

    return TorchExecutor()
