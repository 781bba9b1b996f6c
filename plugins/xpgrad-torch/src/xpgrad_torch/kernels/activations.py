"""Activations by PyTorch's fused functions.

Their gradients are not PyTorch's: those have other bits than formulas, which recorded sweeps compute. Besides, the
gradients of `leaky_relu` and `elu` differ at 0 or for NaN, that of `hardtanh` for NaN, and those of `tanh` and
`sigmoid` lose digits where the output is close to 1.
"""

import torch

from xpgrad.types import Array, Kernel
from xpgrad_torch.kernels.windows import FLOATS


def clipped_relu(x: Array, /, z: float) -> Array:
    """Return the elements between 0 and `z`."""
    return torch.clamp(x, 0.0, z) if x.dtype in FLOATS else NotImplemented


def elu(x: Array, /, alpha: float) -> Array:
    """Return ``x`` where it is positive, else ``alpha * expm1(x)``."""
    return torch.nn.functional.elu(x, alpha) if x.dtype in FLOATS else NotImplemented


def leaky_relu(x: Array, /, slope: float) -> Array:
    """Return ``x`` where it is positive, else ``slope * x``."""
    return torch.nn.functional.leaky_relu(x, slope) if x.dtype in FLOATS else NotImplemented


def softplus(x: Array, /, beta: float) -> Array:
    """Return ``log(1 + exp(beta * x)) / beta``, which is `x` to the last digit of float64 from 40 / `beta` on."""
    return torch.nn.functional.softplus(x, beta, 40) if x.dtype in FLOATS and beta > 0 else NotImplemented


ACTIVATIONS: dict[str, Kernel] = {
    "clipped_relu": clipped_relu,
    "elu": elu,
    "leaky_relu": leaky_relu,
    "softplus": softplus,
}
