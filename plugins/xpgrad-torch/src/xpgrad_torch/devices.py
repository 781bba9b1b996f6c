"""The devices of this machine in PyTorch, and the names of their memory."""

from collections.abc import Iterable
from typing import Any

import torch

CPU = torch.device("cpu")
LEFT_OUT = {"meta": "its tensors have shapes but no values, and xpgrad differentiates values"}
"""Devices of PyTorch that are none of xpgrad's, with the reason."""


def present() -> dict[str, torch.device]:
    """Return the devices by index: the host first, as the default, then this build's accelerators, if it sees any."""
    kind = accelerator()
    found = [] if kind is None else [torch.device(kind, number) for number in range(torch.accelerator.device_count())]
    return {"cpu": CPU, **{str(device): device for device in found}}


def accelerator() -> str | None:
    """Return the kind of accelerator that PyTorch finds on this machine (cuda, mps, xpu), or None."""
    found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    return None if found is None else found.type


def numbered(device: torch.device) -> torch.device:
    """Return `device` as tensors name it: an accelerator with its number, the current one's if it has none."""
    if device.type == "cpu":
        return CPU
    if device.index is not None or device.type != accelerator():
        return device
    return torch.device(device.type, torch.accelerator.current_device_index())


def why_absent(index: str, here: Iterable[object]) -> str | None:
    """Return why ``@torch:index`` does not exist on this machine; None if PyTorch does not support its kind."""
    try:
        kind = torch.device(index).type
    except RuntimeError:
        return None
    if kind in LEFT_OUT:
        return f"torch: the device {kind} is left out: {LEFT_OUT[kind]}"
    return f"torch: PyTorch {torch.__version__} sees no device {index} here, only {', '.join(map(str, here))}"


def module_of(device: torch.device) -> Any:
    """Return PyTorch's module for one kind of accelerator: `torch.cuda`."""
    return torch.get_device_module(device)
