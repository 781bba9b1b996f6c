"""Layer, group and batch normalization by PyTorch's fused functions.

PyTorch's `var` is not used: by Welford's method, it takes ten times as long. Recorded sweeps have one primitive for
each gradient; its bits are those of PyTorch's function for several, except for the gradient of the shifts, a sum.
"""

from typing import Any

import torch

from xpgrad.plugin import Spec
from xpgrad.types import Array, Kernel, Shape
from xpgrad_torch.kernels.elementwise import extreme
from xpgrad_torch.kernels.statistical import sum_to
from xpgrad_torch.kernels.windows import FLOATS

Axes = tuple[int, ...]
CACHED = 2**20
"""Bytes of the rows whose statistics are taken in one call; the normalized rows are thrown away."""
NEAR = 8.0
"""Deviations between 0 and a mean up to which gradients of rows lose at most three bits."""
_aten: Any = torch.ops.aten


def moments(x: Array, /, axis: Axes) -> Any:
    """Return mean and variance."""
    if _is_group(x, axis):
        shape = (*x.shape[:2], 1, 1)
        return tuple(each.reshape(shape) for each in moments(x.reshape(shape[0] * shape[1], -1), axis=(1,)))
    if _is_layer(x, axis):
        units = _units(x)
        parts = [_aten.native_layer_norm(part, x.shape[-1:], *units, 0.0)[1:] for part in _parts(x)]
        shape = (*x.shape[:-1], 1)
        means, inverses = zip(*parts, strict=True)
        mean, inverse = torch.cat(means), torch.cat(inverses)
        return mean.reshape(shape), inverse.reshape(shape).pow_(-2)
    if _is_batch(x, axis):
        mean, var = _aten.batch_norm_update_stats(x, None, None, 0.0)
        return mean.reshape(_features(x)), var.reshape(_features(x))
    return NotImplemented


def _units(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return factors and shifts that change nothing: without any, PyTorch's loop takes twice as long."""
    return x.new_ones(x.shape[-1]), x.new_zeros(x.shape[-1])


def _parts(x: torch.Tensor) -> Any:
    rows: Any = x.reshape(-1, x.shape[-1])
    return rows.split(max(1, CACHED // (x.shape[-1] * x.element_size())))


def standardize(x: Array, mean: Array, inverse: Array, /, axis: Axes, eps: float) -> Array:
    """Return ``(x - mean) * inverse``."""
    if _is_layer(x, axis):
        return _aten.native_layer_norm(x, x.shape[-1:], *_units(x), eps)[0]
    if _is_batch(x, axis):
        return _with_statistics(x, None, None, mean, inverse)
    return NotImplemented


def normalized(x: Array, gamma: Array, beta: Array, mean: Array, inverse: Array, /, axis: Axes, eps: float) -> Array:
    """Return ``(x - mean) * inverse * gamma + beta``."""
    if not gamma.dtype is beta.dtype is x.dtype or gamma.shape != beta.shape:
        return NotImplemented
    if _is_layer(x, axis) and gamma.shape[-1:] == x.shape[-1:] and gamma.numel() == x.shape[-1]:
        return _aten.native_layer_norm(x, x.shape[-1:], gamma.reshape(-1), beta.reshape(-1), eps)[0]
    if _is_group(x, axis) and gamma.shape == _channels(x):
        images, (n, channels, points, groups) = _images(x), _sizes(x)
        factors, shifts = gamma.reshape(-1).contiguous(), beta.reshape(-1).contiguous()
        return _aten.native_group_norm(images, factors, shifts, n, channels, points, groups, eps)[0].reshape(x.shape)
    if _is_batch(x, axis) and gamma.shape == _features(x):
        return _with_statistics(x, gamma.reshape(-1), beta.reshape(-1), mean, inverse)
    return NotImplemented


def _with_statistics(x: Array, gamma: Array | None, beta: Array | None, mean: Array, inverse: Array) -> Array:
    """Return a batch, normalized with known statistics, in one pass instead of two."""
    return _aten.native_batch_norm(x, gamma, beta, mean.reshape(-1), inverse.reshape(-1).pow(-2), False, 0.0, 0.0)[0]


def normalized_together(
    gy: Array, x: Array, gamma: Array, mean: Array, inverse: Array, gamma_spec: Spec, beta_spec: Spec, axis: Axes,
    eps: float, /,
) -> Any:  # fmt: skip
    """Return all three gradients of `normalized`, those for `x` and `gamma` from one call."""
    found = _gradients(gy, x, gamma, mean, inverse, axis, [True, True, False])
    if found is None:
        return NotImplemented
    return found[0].reshape(x.shape), found[1].reshape(gamma_spec.shape), sum_to(gy, beta_spec.shape)


def normalized_backward(
    g: Array, x: Array, gamma: Array, mean: Array, inverse: Array, /, axis: Axes, eps: float
) -> Array:
    """Return the gradient of `normalized` for `x`."""
    found = _gradients(g, x, gamma, mean, inverse, axis, [True, False, False])
    return NotImplemented if found is None else found[0].reshape(x.shape)


def normalized_gamma_backward(
    g: Array, x: Array, mean: Array, inverse: Array, /, axis: Axes, eps: float, shape: Shape
) -> Array:
    """Return the gradient of `normalized` for factors, of which PyTorch's functions read only the shape."""
    found = _gradients(g, x, x.new_empty(shape), mean, inverse, axis, [False, True, False])
    return NotImplemented if found is None else found[1].reshape(shape)


def _gradients(g: Array, x: Array, gamma: Array, mean: Array, inverse: Array, axis: Axes, needed: list[bool]) -> Any:
    """Return the gradients of `normalized` for `x` and `gamma`, None for those not needed; None if PyTorch has none."""
    if not g.dtype is x.dtype is gamma.dtype or g.shape != x.shape:
        return None
    factors = gamma.reshape(-1).contiguous()
    mean, inverse = mean.contiguous(), inverse.contiguous()  # which PyTorch's functions take for granted
    is_layer = _is_layer(x, axis) and gamma.shape[-1:] == x.shape[-1:] == factors.shape
    is_group = _is_group(x, axis) and gamma.shape == _channels(x)
    if (is_layer or is_group) and not _is_near(mean, inverse):
        return _far_gradients(g, x, gamma, mean, inverse, axis, needed)
    if is_layer:
        return _aten.native_layer_norm_backward(g, x, factors.shape, mean, inverse, factors, None, needed)
    if is_group:
        n, channels, points, groups = _sizes(x)
        saved = mean.reshape(n, groups), inverse.reshape(n, groups), factors
        return _aten.native_group_norm_backward(_images(g), _images(x), *saved, n, channels, points, groups, needed)
    if _is_batch(x, axis) and gamma.shape == _features(x):
        moments = mean.reshape(-1), inverse.reshape(-1)
        return _aten.native_batch_norm_backward(g, x, factors, None, None, *moments, True, 0.0, needed)
    return None


def _far_gradients(
    g: Array, x: Array, gamma: Array, mean: Array, inverse: Array, axis: Axes, needed: list[bool]
) -> tuple[Any, Any]:
    """Return the gradients by the formulas, of which a compiled program has no others: it cannot look at means."""
    direction, gx = (x - mean) * inverse, None
    if needed[0]:
        scaled = g * gamma
        along = direction * (scaled * direction).mean(axis, keepdim=True)
        gx = (scaled - along - scaled.mean(axis, keepdim=True)) * inverse
    return gx, sum_to(g * direction, gamma.shape) if needed[1] else None


def _is_near(mean: torch.Tensor, inverse: torch.Tensor) -> bool:
    """Return whether means are at most `NEAR` deviations from 0: PyTorch subtracts them from sums, not elements."""
    most = extreme(torch.mul(mean, inverse).abs_(), torch.amax)
    return most is not None and most <= NEAR


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
    """Return ``x * gamma + beta`` in one new tensor; `torch.addcmul` with a factor a row takes longer."""
    if not gamma.dtype is beta.dtype is x.dtype:
        return NotImplemented
    y = x * gamma
    return y.add_(beta) if beta.shape == gamma.shape else y + beta


def _is_layer(x: torch.Tensor, axis: Axes) -> bool:
    return axis == (x.ndim - 1,) and x.ndim > 1 and x.dtype in FLOATS and x.numel() > 0


def _is_batch(x: torch.Tensor, axis: Axes) -> bool:
    return x.ndim > 1 and axis == (0, *range(2, x.ndim)) and x.dtype in FLOATS and x.numel() > 0


def _is_group(x: torch.Tensor, axis: Axes) -> bool:
    """Return whether `axis` are the channels of a group and the points of an image, of shape (N, groups, ...)."""
    return x.ndim == 4 and axis == (2, 3) and x.dtype in FLOATS and x.numel() > 0


def _channels(x: torch.Tensor) -> Shape:
    return (1, *x.shape[1:3], 1)


def _sizes(x: torch.Tensor) -> tuple[int, int, int, int]:
    """Return the numbers of images, channels, points and groups."""
    n, groups, size, points = x.shape
    return n, groups * size, points, groups


def _images(x: torch.Tensor) -> torch.Tensor:
    """Return an array of shape (N, C, points) in C order, which PyTorch's functions take for granted."""
    n, channels, points, _ = _sizes(x)
    return x.reshape(n, channels, points).contiguous()


def _features(x: torch.Tensor) -> Shape:
    return (1, x.shape[1], *[1] * (x.ndim - 2))


NORMALIZATION: dict[str, Kernel] = {
    "moments": moments,
    "normalized": normalized,
    "normalized.together": normalized_together,
    "normalized_backward": normalized_backward,
    "normalized_gamma_backward": normalized_gamma_backward,
    "scale_and_shift": scale_and_shift,
    "standardize": standardize,
    "standardize_backward": standardize_backward,
}
