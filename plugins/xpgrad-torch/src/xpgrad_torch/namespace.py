"""PyTorch as an Array API namespace: the namespace of array_api_compat, with the functions that it lacks."""

import functools
import importlib
import math
import types
from typing import Any, NamedTuple

import numpy as np
import torch

from xpgrad.types import Array, Kernel, Namespace

compat: Namespace = importlib.import_module("array_api_compat.torch")  # no module of known names, for type checkers


class UniqueAll(NamedTuple):
    """Result of `unique_all`."""

    values: torch.Tensor
    indices: torch.Tensor
    inverse_indices: torch.Tensor
    counts: torch.Tensor


class UniqueCounts(NamedTuple):
    """Result of `unique_counts`."""

    values: torch.Tensor
    counts: torch.Tensor


class UniqueInverse(NamedTuple):
    """Result of `unique_inverse`."""

    values: torch.Tensor
    inverse_indices: torch.Tensor


def unique_all(x: torch.Tensor, /) -> UniqueAll:
    """Return the unique values, the indices of their first occurrences, the inverse indices, and the counts."""
    values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    order = torch.argsort(inverse.reshape(-1), stable=True)
    first = order[torch.cumsum(counts, 0) - counts]
    return UniqueAll(values, first, inverse, counts)


def unique_counts(x: torch.Tensor, /) -> UniqueCounts:
    """Return the different values, and how often each occurs."""
    return UniqueCounts(*torch.unique(x, return_counts=True))


def unique_inverse(x: torch.Tensor, /) -> UniqueInverse:
    """Return the unique values, and the index of each element among the unique values."""
    return UniqueInverse(*torch.unique(x, return_inverse=True))


def unique_values(x: torch.Tensor, /) -> Array:
    """Return the different values."""
    return torch.unique(x)


def searchsorted(x1: torch.Tensor, x2: Array, /, *, side: Any = "left", sorter: torch.Tensor | None = None) -> Array:
    """Return the positions at which to insert elements; PyTorch warns of arrays that it has to copy."""
    values = x2.contiguous() if isinstance(x2, torch.Tensor) else x2
    return torch.searchsorted(x1.contiguous(), values, side=side, sorter=sorter)


def take_along_axis(x: torch.Tensor, indices: torch.Tensor, /, *, axis: int = -1) -> Array:
    """Return elements of `x` at `indices` along an axis; PyTorch's `take_along_dim` clips those out of range.

    Raises
    ------
    ValueError
        The numbers of axes differ.
    IndexError
        An index is out of range, in host memory. Elsewhere it is PyTorch's assertion on the device.
    """
    if indices.ndim != x.ndim:
        raise ValueError(f"expected indices with {x.ndim} dimensions, as the array has, got {indices.ndim}")
    length, given = 1, indices.to(torch.int64)
    if x.ndim:  # PyTorch also gathers from 0-d tensors
        length, axis = x.shape[axis], axis % x.ndim
        rest = np.broadcast_shapes(*((*y.shape[:axis], 1, *y.shape[axis + 1 :]) for y in (x, given)))
        x, given = (y.expand(*rest[:axis], y.shape[axis], *rest[axis + 1 :]) for y in (x, given))
    try:
        return x.gather(axis, torch.where(given < 0, given + length, given))
    except RuntimeError as error:
        if "out of bounds" not in str(error):
            raise
        raise IndexError(f"an index is out of bounds for axis {axis} with size {length}") from None


def can_cast(from_: Any, to: torch.dtype, /) -> bool:
    """Return whether a dtype, or the dtype of an array, promotes to `to`; `torch.can_cast` allows int8 to uint8."""
    given = from_.dtype if isinstance(from_, torch.Tensor) else from_
    return bool(torch.promote_types(given, to) == to)


def finfo(type: torch.dtype | torch.Tensor, /) -> types.SimpleNamespace:
    """Return the limits of a floating-point dtype, or of the dtype of an array; `torch.finfo` only names the dtype."""
    names = "bits", "eps", "max", "min", "smallest_normal", "tiny", "resolution"
    return _limits(compat.finfo(type), names)


def iinfo(type: torch.dtype | torch.Tensor, /) -> types.SimpleNamespace:
    """Return the limits of an integer dtype, or of the dtype of an array; `torch.iinfo` only names the dtype."""
    return _limits(compat.iinfo(type), ("bits", "max", "min"))


def _limits(info: Any, names: tuple[str, ...]) -> types.SimpleNamespace:
    return types.SimpleNamespace(dtype=getattr(torch, info.dtype), **{name: getattr(info, name) for name in names})


def _transformed(ndim: int, several: bool, axis: int = -1, axes: Any = None, s: Any = None, **_norm: Any) -> set[int]:
    """Return the axes of a Fourier transform with these options, counted from the front."""
    if not several:
        return {axis % ndim}
    given = axes if axes is not None else range(-(ndim if s is None else len(s)), 0)
    return {a % ndim for a in given}


def _of_nothing(function: Kernel, several: bool) -> Kernel:
    """Return a Fourier transform, along one axis or `several`, that also accepts empty batches, which MKL rejects.

    The result has the shape of a batch with elements; an empty axis of the transform remains empty.
    """

    @functools.wraps(function)
    def transform(x: torch.Tensor, /, **options: Any) -> Array:
        if math.prod(x.shape):
            return function(x, **options)
        along = _transformed(x.ndim, several, **options)
        lengths = [n if i in along else max(n, 1) for i, n in enumerate(x.shape)]
        y = function(x.new_zeros(lengths), **options)
        return y[tuple(slice(0 if n == 0 and i not in along else None) for i, n in enumerate(x.shape))]

    return transform


fft = types.SimpleNamespace(**{name: getattr(compat.fft, name) for name in compat.fft.__all__ if name[0] != "_"})
for _name in ("fft", "ifft", "fftn", "ifftn", "rfft", "irfft", "rfftn", "irfftn", "hfft", "ihfft"):
    setattr(fft, _name, _of_nothing(getattr(compat.fft, _name), _name.endswith("n")))


def __getattr__(name: str) -> Any:
    return getattr(compat, name)


def __dir__() -> list[str]:
    return dir(compat)
