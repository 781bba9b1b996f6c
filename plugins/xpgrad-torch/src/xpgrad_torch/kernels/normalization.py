"""Layer and batch normalization by PyTorch's fused functions.

PyTorch's statistics are not used either: its variance, by Welford's method, takes ten times as long. The
gradients are xpgrad's formulas of `standardize` and `standardize_backward`, which recorded sweeps compute as well:
PyTorch's gradient for all inputs at once differs in its bits.
"""

from typing import Any

import torch

from xpgrad.types import Array, Kernel, Shape
from xpgrad_torch.kernels.windows import FLOATS

Axes = tuple[int, ...]
CACHED = 2**22
"""Bytes of the rows whose statistics are taken in one call; the normalized rows are thrown away."""
_aten: Any = torch.ops.aten


def moments(x: Array, /, axis: Axes) -> Any:
    """Return mean and variance."""
    if _is_layer(x, axis):
        parts = [_aten.native_layer_norm(part, x.shape[-1:], None, None, 0.0)[1:] for part in _parts(x)]
        shape = (*x.shape[:-1], 1)
        means, inverses = zip(*parts, strict=True)
        mean, inverse = torch.cat(means), torch.cat(inverses)
        return mean.reshape(shape), inverse.reshape(shape).pow_(-2)
    if _is_batch(x, axis):
        mean, var = _aten.batch_norm_update_stats(x, None, None, 0.0)
        return mean.reshape(_features(x)), var.reshape(_features(x))
    return NotImplemented


def _parts(x: torch.Tensor) -> Any:
    rows: Any = x.reshape(-1, x.shape[-1])
    return rows.split(max(1, CACHED // (x.shape[-1] * x.element_size())))


def standardize(x: Array, mean: Array, inverse: Array, /, axis: Axes, eps: float) -> Array:
    """Return ``(x - mean) * inverse``."""
    if _is_layer(x, axis):
        return _aten.native_layer_norm(x, x.shape[-1:], None, None, eps)[0]
    if _is_batch(x, axis):
        return _aten.native_batch_norm(x, None, None, None, None, True, 0.0, eps)[0]
    return NotImplemented


def normalized(x: Array, gamma: Array, beta: Array, mean: Array, inverse: Array, /, axis: Axes, eps: float) -> Array:
    """Return ``(x - mean) * inverse * gamma + beta``."""
    if not gamma.dtype is beta.dtype is x.dtype or gamma.shape != beta.shape:
        return NotImplemented
    if _is_layer(x, axis) and gamma.shape[-1:] == x.shape[-1:] and gamma.numel() == x.shape[-1]:
        return _aten.native_layer_norm(x, x.shape[-1:], gamma.reshape(-1), beta.reshape(-1), eps)[0]
    if _is_batch(x, axis) and gamma.shape == _features(x):
        return _aten.native_batch_norm(x, gamma.reshape(-1), beta.reshape(-1), None, None, True, 0.0, eps)[0]
    return NotImplemented


def standardize_backward(g: Array, direction: Array, scale: Array, /, axis: Axes) -> Array:
    """Return `g` without its mean and its component along `direction`, times `scale`: gradient of `standardize`."""
    statistics = tuple(1 if i in axis else n for i, n in enumerate(g.shape))
    if g.dtype is not direction.dtype or g.shape != direction.shape or scale.shape != statistics:
        return NotImplemented
    mean, inverse = torch.zeros_like(scale).reshape(-1, 1), torch.ones_like(scale).reshape(-1, 1)
    needed = [True, False, False]
    if _is_layer(g, axis):
        found = _aten.native_layer_norm_backward(g, direction, g.shape[-1:], mean, inverse, None, None, needed)[0]
    elif _is_batch(g, axis):
        saved = mean.reshape(-1), inverse.reshape(-1)
        found = _aten.native_batch_norm_backward(g, direction, None, None, None, *saved, True, 0.0, needed)[0]
    else:
        return NotImplemented
    return found.mul_(scale)


def scale_and_shift(x: Array, gamma: Array, beta: Array, /) -> Array:
    """Return ``x * gamma + beta`` in one pass."""
    return torch.addcmul(beta, x, gamma) if gamma.dtype is beta.dtype is x.dtype else NotImplemented


def _is_layer(x: torch.Tensor, axis: Axes) -> bool:
    return axis == (x.ndim - 1,) and x.ndim > 1 and x.dtype in FLOATS and x.numel() > 0


def _is_batch(x: torch.Tensor, axis: Axes) -> bool:
    return x.ndim > 2 and axis == (0, *range(2, x.ndim)) and x.dtype in FLOATS and x.numel() > 0


def _features(x: torch.Tensor) -> Shape:
    return (1, x.shape[1], *[1] * (x.ndim - 2))


NORMALIZATION: dict[str, Kernel] = {
    "moments": moments,
    "normalized": normalized,
    "scale_and_shift": scale_and_shift,
    "standardize": standardize,
    "standardize_backward": standardize_backward,
}
