"""PyTorch as the Array API standard has it: array_api_compat's namespace, and what is missing there."""

import functools
import importlib
import math
import types
from typing import Any, NamedTuple

import torch

from xpgrad.types import Array, Kernel, Namespace

compat: Namespace = importlib.import_module("array_api_compat.torch")  # no module of known names, for type checkers


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: torch.Tensor
    indices: torch.Tensor
    inverse_indices: torch.Tensor
    counts: torch.Tensor


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: torch.Tensor
    counts: torch.Tensor


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: torch.Tensor
    inverse_indices: torch.Tensor


def unique_all(x: torch.Tensor, /) -> UniqueAll:
    """Return the different values, where each is first, which of them each element is, and how often each occurs."""
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    order = torch.argsort(inverse.reshape(-1), stable=True)
    first = order[torch.cumsum(counts, 0) - counts]
    return UniqueAll(values, first, inverse, counts)


def unique_counts(x: torch.Tensor, /) -> UniqueCounts:
    """Return the different values, and how often each occurs."""
    return UniqueCounts(*torch.unique(x, return_counts=True))


def unique_inverse(x: torch.Tensor, /) -> UniqueInverse:
    """Return the different values, and which of them each element is."""
    return UniqueInverse(*torch.unique(x, return_inverse=True))


def unique_values(x: torch.Tensor, /) -> Array:
    """Return the different values."""
    return torch.unique(x)


def can_cast(from_: Any, to: torch.dtype, /) -> bool:
    """Tell whether a dtype, or an array's, promotes to another one: PyTorch's own says yes for int8 and uint8."""
    given = from_.dtype if isinstance(from_, torch.Tensor) else from_
    return bool(torch.promote_types(given, to) == to)


def _of_nothing(function: Kernel) -> Kernel:
    """Return a Fourier transform that takes empty batches too, which MKL refuses: the shape is that of fuller ones."""

    @functools.wraps(function)
    def transform(x: torch.Tensor, /, *args: Any, **kwargs: Any) -> Array:
        if math.prod(x.shape):
            return function(x, *args, **kwargs)
        y = function(x.new_zeros([max(n, 1) for n in x.shape]), *args, **kwargs)
        return y[tuple(slice(0 if n == 0 else None) for n in x.shape)]

    return transform


fft = types.SimpleNamespace(**{name: getattr(compat.fft, name) for name in compat.fft.__all__ if name[0] != "_"})
for _name in ("fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft"):
    setattr(fft, _name, _of_nothing(getattr(compat.fft, _name)))


def __getattr__(name: str) -> Any:
    return getattr(compat, name)


def __dir__() -> list[str]:
    return dir(compat)
