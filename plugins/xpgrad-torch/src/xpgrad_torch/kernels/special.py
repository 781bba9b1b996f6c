"""PyTorch's special functions, imported on first use.

Its Bessel functions j0, j1, y0, y1, gammainc, gammaincc and polygamma are left out: they are right to nine digits only,
xpgrad's to all.
Its ndtr is half of 1 + erf: below -5.6 it is 0 in float32. Here it is half of erfc.
"""

import math
from collections.abc import Callable

import torch

from xpgrad.types import Array, Kernel

_SAME_NAME = """entr erf erfc erfcx erfinv exp2 gammaln i0 i0e i1 i1e log_ndtr logit ndtri psi"""
_RENAMED = {
    "k0": "modified_bessel_k0", "k1": "modified_bessel_k1",
    "k0e": "scaled_modified_bessel_k0", "k1e": "scaled_modified_bessel_k1",
}  # fmt: skip
_OF_TWO = """xlog1py xlogy"""

NAMES = {name: name for name in _SAME_NAME.split()} | _RENAMED


def find(name: str) -> Kernel | None:
    """Return PyTorch's function for the kernel `name`, None if it has none."""
    extension, _, name = name.rpartition(".")
    if extension != "special":
        return None
    if name == "ndtr":
        return ndtr
    if name in NAMES:
        return _function(NAMES[name])
    if name in _OF_TWO.split():
        return _of_two(_function(name))
    return None


def ndtr(x: Array, /) -> Array:
    """Return the distribution function of the normal distribution, with all but two digits at the end of its range."""
    return torch.mul(x, -math.sqrt(0.5)).erfc_().mul_(0.5)


def _function(name: str) -> Kernel:
    found: Kernel = getattr(torch.special, name)
    return found


def _of_two(function: Callable[..., Array]) -> Kernel:
    """Return `function` so that one of its arguments may be a Python number."""

    def kernel(x1: Array, x2: Array, /) -> Array:
        if not isinstance(x1, torch.Tensor):
            x1 = torch.full_like(x2, x1)
        elif not isinstance(x2, torch.Tensor):
            x2 = torch.full_like(x1, x2)
        return function(x1, x2)

    return kernel
