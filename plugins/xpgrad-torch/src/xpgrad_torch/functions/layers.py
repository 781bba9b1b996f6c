"""PyTorch's convolutions, poolings and normalizations of images, with its names of arguments, for Variables."""

from typing import Any

import torch

from xpgrad import Variable, ops
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.errors import ShapeError
from xpgrad_torch.functions.networks import layer_norm
from xpgrad_torch.functions.table import Function, NoRule, torch_function, torch_functions, variable


def _numbers(given: Any, count: int) -> tuple[int, ...]:
    numbers = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    return numbers * count if len(numbers) == 1 else numbers


def _over_batch(function: Function, x: Any, axes: int) -> Any:
    """Return a function of images with `axes` axes, which may be one without a batch."""
    return function(x[None])[0] if x.ndim == axes + 1 else function(x)


def _convolution(name: str, axes: int) -> None:
    @torch_function(name)
    def convolution(
        input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1,
    ) -> Any:  # fmt: skip
        x, w, b = variable(input), variable(weight), None if bias is None else variable(bias)
        stride, dilation = _numbers(stride, axes), _numbers(dilation, axes)
        if padding == "same" and set(stride) != {1}:
            raise ValueError(f"torch.nn.functional.{name}: expected stride 1 for padding='same', got {stride}")
        if padding == "same":
            total = [d * (k - 1) for d, k in zip(dilation, w.shape[2:], strict=True)]
            x = ops.pad(x, [(0, 0)] * (x.ndim - axes) + [(n // 2, n - n // 2) for n in total])
        elif isinstance(padding, str) and padding != "valid":
            raise ValueError(f"torch.nn.functional.{name}: expected padding 'same' or 'valid', got {padding!r}")
        pad = 0 if isinstance(padding, str) else _numbers(padding, axes)
        return _over_batch(lambda z: F.convolution_nd(z, w, b, stride, pad, dilate=dilation, groups=groups), x, axes)


def _transposed(name: str, axes: int) -> None:
    @torch_function(name)
    def transposed(
        input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, dilation: Any = 1,
    ) -> Any:  # fmt: skip
        x, w, b = variable(input), variable(weight), None if bias is None else variable(bias)
        given = [_numbers(each, axes) for each in (stride, padding, output_padding, dilation)]
        lengths = zip(x.shape[x.ndim - axes :], w.shape[2:], *given, strict=True)
        if any(not 0 <= o < max(s, d) for s, _, o, d in zip(*given, strict=True)):
            raise ValueError(f"torch.nn.functional.{name}: expected output_padding below stride or dilation")
        size = tuple((n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n, k, s, p, o, d in lengths)
        return _over_batch(lambda z: F.deconvolution_nd(z, w, b, given[0], given[1], size, given[3], groups), x, axes)


def _pooling(axes: int) -> None:
    @torch_function(f"max_pool{axes}d")
    def largest(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:  # fmt: skip
        if ceil_mode or return_indices or set(_numbers(dilation, axes)) != {1}:
            raise NoRule
        size, step, pad = _windows(f"max_pool{axes}d", axes, kernel_size, stride, padding)
        return _over_batch(lambda z: F.max_pooling_nd(z, size, step, pad, cover_all=False), variable(input), axes)

    @torch_function(f"avg_pool{axes}d")
    def mean(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: Any = None,
    ) -> Any:  # fmt: skip
        if ceil_mode or divisor_override is not None:
            raise NoRule
        size, step, pad = _windows(f"avg_pool{axes}d", axes, kernel_size, stride, padding)
        value = 0 if count_include_pad else None
        return _over_batch(lambda z: F.average_pooling_nd(z, size, step, pad, value), variable(input), axes)


def _windows(name: str, axes: int, size: Any, stride: Any, padding: Any) -> list[tuple[int, ...]]:
    size = _numbers(size, axes)
    stride, padding = _numbers(size if stride in (None, ()) else stride, axes), _numbers(padding, axes)
    if min(size) < 1 or min(stride) < 1 or any(not 0 <= p <= k // 2 for p, k in zip(padding, size, strict=True)):
        raise ValueError(
            f"torch.nn.functional.{name}: expected positive sizes and strides, and padding up to half of the size; got "
            f"kernel_size {size}, stride {stride}, padding {padding}"
        )
    return [size, stride, padding]


for _axes in (1, 2, 3):
    _convolution(f"conv{_axes}d", _axes)
    _transposed(f"conv_transpose{_axes}d", _axes)
    _pooling(_axes)


def _of_channels(name: str, y: Any, weight: Any, bias: Any) -> Any:
    """Return the elements scaled and shifted by channels, the second axis."""
    shape = (y.shape[1],) + (1,) * (y.ndim - 2)
    for argument, each in (("weight", weight), ("bias", bias)):
        if each is not None and variable(each).shape != y.shape[1:2]:
            raise ShapeError(f"torch.nn.functional.{name}: expected {argument} of shape {y.shape[1:2]}")
    y = y if weight is None else y * variable(weight).reshape(shape)
    return y if bias is None else y + variable(bias).reshape(shape)


@torch_function("group_norm")
def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Return the elements with mean 0 and variance 1 over groups of channels, scaled and shifted."""
    x = variable(input)
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups or not x.size:
        raise ShapeError(f"torch.nn.functional.group_norm: expected {num_groups} groups of channels, got {x.shape}")
    grouped = x.reshape(x.shape[0], num_groups, -1)
    return _of_channels("group_norm", layer_norm(grouped, grouped.shape[2:], eps=eps).reshape(x.shape), weight, bias)


@torch_function("batch_norm")
def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Return the elements normalized by the statistics of each channel, or by running averages, scaled and shifted."""
    x, averages = variable(input), [running_mean, running_var]
    if training and any(isinstance(each, Variable) for each in averages):
        raise TypeError(
            "torch.nn.functional.batch_norm: running_mean= and running_var= are written to in training, which is not "
            "for Variables; give tensors, or use xpgrad.links.BatchNormalization"
        )
    if training and any(each is not None for each in averages):
        raise NoRule
    if x.ndim < 2 or not x.size or (training and x.size == x.shape[1]):
        raise ShapeError(f"torch.nn.functional.batch_norm: expected several values per channel, got shape {x.shape}")
    if training:
        over = (0, *range(2, x.ndim))
        m, v = xp.mean(x, axis=over), xp.var(x, axis=over)
    else:
        m, v = (variable(each) for each in averages)
    shape = (x.shape[1],) + (1,) * (x.ndim - 2)
    y = (x - m.reshape(shape)) / xp.sqrt(v.reshape(shape) + eps)
    return _of_channels("batch_norm", y, weight, bias)


@torch_function("pixel_shuffle")
def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Return images with channels moved into squares of pixels."""
    x, r = variable(input), upscale_factor
    *batch, c, h, w = x.shape
    y = x.reshape(*batch, c // r**2, r, r, h, w)
    n = len(batch)
    y = y.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return y.reshape(*batch, c // r**2, h * r, w * r)


@torch_function("pixel_unshuffle")
def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """Return images with squares of pixels moved into channels."""
    x, r = variable(input), downscale_factor
    *batch, c, h, w = x.shape
    if r < 1 or h % r or w % r:
        raise ShapeError(f"torch.pixel_unshuffle: expected multiples of {r} as height and width, got shape {x.shape}")
    y = x.reshape(*batch, c, h // r, r, w // r, r)
    n = len(batch)
    return y.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3).reshape(*batch, c * r**2, h // r, w // r)


def _shrunk(x: Any, lambd: float) -> Any:
    if lambd < 0:
        raise ValueError(f"torch.nn.functional.softshrink: expected lambd from 0 on, got {lambd}")
    return xp.where(x > lambd, x - lambd, xp.where(x < -lambd, x + lambd, 0.0 * x))


def _glu(x: Any, dim: int) -> Any:
    a, b = torch.tensor_split(x, 2, dim)
    if a.shape != b.shape:
        raise ShapeError(f"torch.nn.functional.glu: expected an even number of elements along dim, got {x.shape}")
    return a * F.sigmoid(b)


def _prelu(x: Any, w: Any) -> Any:
    if w.size != 1 and (x.ndim < 2 or w.shape != x.shape[1:2]):
        raise ShapeError(f"torch.prelu: expected a weight for each channel of {x.shape}, got shape {w.shape}")
    return xp.where(x > 0, x, x * (w.reshape(()) if w.size == 1 else w.reshape(-1, *(1,) * (x.ndim - 2))))


ROWS: dict[str, Function] = {
    "hardshrink": lambda input, lambd=0.5: (x := variable(input)) * ((x > lambd) | (x < -lambd)),
    "softshrink": lambda input, lambd=0.5: _shrunk(variable(input), lambd),
    "hardsigmoid": lambda input: xp.clip(variable(input) / 6 + 0.5, 0, 1),
    "hardswish": lambda input: (x := variable(input)) * xp.clip(x / 6 + 0.5, 0, 1),
    "_threshold threshold": lambda input, threshold, value: xp.where((x := variable(input)) > threshold, x, value),
    "prelu": lambda input, weight: _prelu(variable(input), variable(weight)),
    "glu": lambda input, dim=-1: _glu(variable(input), dim),
}
torch_functions(ROWS)
