"""PyTorch's special functions, imported on first use.

Its Bessel functions j0, j1, y0, y1, gammainc, gammaincc and polygamma are left out: they are right to nine digits only,
xpgrad's to all.
Its ndtr is half of 1 + erf: below -5.6 it is 0 in float32. Here it is half of erfc.
"""

import math
from collections.abc import Callable
from typing import Any

import torch

import xpgrad
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
    if name in OWN:
        return OWN[name]
    if name in NAMES:
        return _function(NAMES[name])
    if name in _OF_TWO.split():
        return _of_two(_function(name))
    return None


def ndtr(x: Array, /) -> Array:
    """Return the distribution function of the normal distribution, with all but two digits at the end of its range."""
    return torch.mul(x, -math.sqrt(0.5)).erfc_().mul_(0.5)


def ive_of(x: Array, /, n: int) -> Array:
    """Return a scaled Bessel function of order 0, 1 or 2, the latter by a recurrence and, up to 4, by its series."""
    if n > 2 or x.dtype not in (torch.float32, torch.float64):
        default: Any = xpgrad.get_device("@torch:cpu").backend.root.xp.default("special.ive_of")
        return default(x, n=n)
    if n < 2:
        return (torch.special.i0e, torch.special.i1e)[n](x)
    size = torch.abs(x)
    quarter = torch.square(torch.clamp(size, max=4.0)).mul_(0.25)
    series = torch.full_like(x, SERIES[0])
    for coefficient in SERIES[1:]:
        series.mul_(quarter).add_(coefficient)
    near = series.mul_(quarter).mul_(torch.exp(-size))
    far = torch.special.i0e(x) - 2 * torch.special.i1e(size) / torch.clamp(size, min=4.0)
    return torch.where(size < 4, near, far)


SERIES = [1 / (math.factorial(k) * math.factorial(k + 2)) for k in range(20)][::-1]
"""Coefficients of the Bessel function of order 2, by the powers of a quarter of the squared argument."""
OWN: dict[str, Kernel] = {"ndtr": ndtr, "ive_of": ive_of}


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
