"""The door to PyTorch's differentiation: ``xpgrad.interop.torch.function`` and ``xpgrad.interop.from_torch``."""

from xpgrad_torch.interop.ours import function
from xpgrad_torch.interop.theirs import TorchFunction, from_torch

__all__ = ["TorchFunction", "from_torch", "function"]


def __dir__() -> list[str]:
    return __all__
