"""Functions of images and of rows that torch has too, at sizes beyond those of the case table: values and gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F

IMAGES, SMALL = (2, 4, 11, 9), (2, 3, 6, 7)
PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any], list[tuple[int, ...]]]] = {
    "spatial_transformer_grid": (lambda t: F.spatial_transformer_grid(t, (5, 4)),
        lambda nn, t: nn.affine_grid(t, [3, 1, 5, 4], align_corners=True).permute(0, 3, 1, 2), [(3, 2, 3)]),
    "spatial_transformer_sampler": (F.spatial_transformer_sampler,
        lambda nn, x, g: nn.grid_sample(x, g.permute(0, 2, 3, 1), align_corners=True), [(3, 2, 6, 7), (3, 2, 5, 4)]),
    "layer_normalization beyond one block": (F.layer_normalization, lambda nn, x, W, b: nn.layer_norm(x, (1000,), W, b),
        [(300, 1000), (1000,), (1000,)]),
}  # fmt: skip
for _options in ({}, {"stride": 2, "pad": 1}, {"pad": (2, 1), "dilate": (1, 2)}, {"stride": (1, 3), "groups": 2}):
    _theirs = {{"pad": "padding", "dilate": "dilation"}.get(k, k): v for k, v in _options.items()}
    _groups = _options.get("groups", 1)
    PAIRS[f"convolution {_options}"] = (
        lambda *xs, how=_options: F.convolution_2d(*xs, **how),
        lambda nn, *ts, how=_theirs: nn.conv2d(*ts, **how), [IMAGES, (6, 4 // _groups, 3, 2), (6,)],
    )  # fmt: skip
    PAIRS[f"deconvolution {_options}"] = (
        lambda *xs, how=_options: F.deconvolution_2d(*xs, **how),
        lambda nn, *ts, how=_theirs: nn.conv_transpose2d(*ts, **how), [(2, 4, 5, 6), (4, 3, 3, 2), (3 * _groups,)],
    )  # fmt: skip
for _size in ((3, 4), (6, 7), (13, 9), (1, 1)):
    for _align in (True, False):
        PAIRS[f"resize_images to {_size}, {_align}"] = (
            lambda x, size=_size, align=_align: F.resize_images(x, size, align_corners=align),
            lambda nn, x, size=_size, align=_align: nn.interpolate(x, size, mode="bilinear", align_corners=align),
            [SMALL],
        )
    PAIRS[f"resize_images to {_size}, nearest"] = (
        lambda x, size=_size: F.resize_images(x, size, mode="nearest"),
        lambda nn, x, size=_size: nn.interpolate(x, size, mode="nearest"), [SMALL],
    )  # fmt: skip
for _where in (((3, 2), (1, 1), 0), ((2, 3, 2), (2, 0, 5), 3), ((), (), 7), ((0, 2), (1, 1), 0)):
    PAIRS[f"as_strided {_where}"] = (
        lambda x, where=_where: F.as_strided(x, *where), lambda nn, x, where=_where: x.as_strided(*where), [(3, 4)],
    )  # fmt: skip
for _how in ((2, None, 0), (3, 2, 1)):
    PAIRS[f"max_pooling {_how}"] = (
        lambda x, how=_how: F.max_pooling_2d(x, *how),
        lambda nn, x, how=_how: nn.max_pool2d(x, *how, ceil_mode=True), [(2, 3, 9, 8)],
    )  # fmt: skip
    PAIRS[f"average_pooling {_how}"] = (
        lambda x, how=_how: F.average_pooling_2d(x, *how),
        lambda nn, x, how=_how: nn.avg_pool2d(x, *how), [(2, 3, 9, 8)],
    )  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_values_and_gradients_agree_with_torch(rng: np.random.Generator, name: str) -> None:
    """The gradients are those of sums of squares."""
    torch = pytest.importorskip("torch")
    ours, theirs, shapes = PAIRS[name]
    arrays = [rng.uniform(-1.5, 1.5, shape) for shape in shapes]
    xs, ts = [xpgrad.Variable(a) for a in arrays], [torch.tensor(a, requires_grad=True) for a in arrays]
    y, t = ours(*xs), theirs(torch.nn.functional, *ts)
    np.testing.assert_allclose(y.array, t.detach().numpy(), rtol=1e-10, atol=1e-10)
    F.sum(y * y).backward()
    (t * t).sum().backward()
    for x, other in zip(xs, ts, strict=True):
        np.testing.assert_allclose(x.grad, other.grad.numpy(), rtol=1e-9, atol=1e-9)
