"""Random numbers drawn where they are needed; the seed comes from the stream of the device."""

from typing import Any

import torch

from xpgrad.types import Array, Kernel, Shape


def random_uniform(*, shape: Shape, dtype: torch.dtype, device: torch.device, generator: Any) -> Array:
    """Return numbers from [0, 1) drawn on an accelerator; host memory gets the host's numbers."""
    if device.type == "cpu":
        return NotImplemented
    return torch.rand(shape, dtype=dtype, device=device, generator=_seeded(device, generator))


def random_normal(*, shape: Shape, dtype: torch.dtype, device: torch.device, generator: Any) -> Array:
    """Return numbers of mean 0 and variance 1 drawn on an accelerator; host memory gets the host's numbers."""
    if device.type == "cpu":
        return NotImplemented
    return torch.randn(shape, dtype=dtype, device=device, generator=_seeded(device, generator))


def _seeded(device: torch.device, generator: Any) -> torch.Generator:
    return torch.Generator(device).manual_seed(int(generator.integers(2**63)))


RANDOM: dict[str, Kernel] = {"random_uniform": random_uniform, "random_normal": random_normal}
