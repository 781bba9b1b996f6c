"""Copies between devices, and between tensors and the host's arrays."""

from typing import Any

import torch

from xpgrad.types import Array


def plain(x: torch.Tensor) -> torch.Tensor:
    """Return `x` with PyTorch's lazy conjugation and negation resolved."""
    return x.resolve_conj().resolve_neg() if x.is_conj() or x.is_neg() else x


def copied(x: torch.Tensor, device: torch.device | None = None) -> torch.Tensor:
    """Return a copy in C order, without lazy operations and tape, on `device`, by default the device of `x`."""
    with torch.no_grad():
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device if device is None else device)
        return y.copy_(x)


def to_host(x: torch.Tensor) -> Array:
    """Return a copy as a NumPy array."""
    x = x.detach()
    if x.dtype is torch.bfloat16:
        x = x.to(torch.float32)
    elif x.device.type == "cpu":
        return plain(x).numpy().copy()
    return plain(x.cpu()).numpy().copy()


def from_host(array: Any, device: torch.device) -> torch.Tensor:
    """Return a copy of a NumPy array; its own copy has the strides that PyTorch takes, and native bytes."""
    added = getattr(torch, array.dtype.name, None) if array.dtype.isbuiltin == 2 else None  # bfloat16 of ml_dtypes
    if added is None:
        x = torch.from_numpy(array.astype(array.dtype.newbyteorder("="), order="C", copy=True))
    else:
        x = torch.from_numpy(array.copy(order="C").view(f"u{array.itemsize}")).view(added)
    return x if device.type == "cpu" else x.to(device)
