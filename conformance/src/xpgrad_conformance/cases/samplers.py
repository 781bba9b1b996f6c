"""Cases of samplers and of resizing, whose references go pixel by pixel."""

from typing import Any

import numpy as np

from xpgrad_conformance.cases.windows import Host, outsize
from xpgrad_conformance.table.case import Case, Input
from xpgrad_conformance.table.case import of_functions as case


def tent(p: Host, length: int) -> Host:
    """Return the weights of the pixels along an axis in values at `p`, for linear interpolation with zeros around."""
    return np.maximum(0.0, 1.0 - np.abs(np.asarray(p)[..., None] - np.arange(length)))


def _grid(theta: Host, size: tuple[int, int]) -> Host:
    h, w = size
    points = np.empty((len(theta), 2, h, w), theta.dtype)
    for i, j in np.ndindex(h, w):
        here = np.asarray([2 * j / max(w - 1, 1) - 1, 2 * i / max(h - 1, 1) - 1, 1.0])
        points[:, :, i, j] = theta @ here
    return points


def _sampled(x: Host, grid: Host) -> Host:
    h, w = x.shape[2:]
    rows, columns = tent((grid[:, 1] + 1) * (h - 1) / 2, h), tent((grid[:, 0] + 1) * (w - 1) / 2, w)
    return np.einsum("nchw,nijh,nijw->ncij", x, rows, columns)


def _deformed(x: Host, offset: Host, W: Host, b: Host = 0.0, stride: Any = (1, 1), pad: Any = (0, 0)) -> Host:
    (h, w), (kh, kw) = x.shape[2:], W.shape[2:]
    oh, ow = outsize((h, w), (kh, kw), stride, pad, (1, 1), False)
    y = np.zeros((len(x), len(W), oh, ow), x.dtype)
    for i, j, k, m in np.ndindex(oh, ow, kh, kw):
        right, down = offset[:, k * kw + m, i, j], offset[:, kh * kw + k * kw + m, i, j]
        rows, columns = tent(down + (i * stride[0] - pad[0] + k), h), tent(right + (j * stride[1] - pad[1] + m), w)
        y[:, :, i, j] += np.einsum("nchw,nh,nw,oc->no", x, rows, columns, W[:, :, k, m])
    return y + np.reshape(b, (-1, 1, 1))


def _resized(x: Host, size: tuple[int, int], align_corners: bool = True) -> Host:
    shares = []
    for n, length in zip(x.shape[2:], size, strict=True):
        if align_corners:
            at = np.linspace(0, n - 1, length)
        else:
            at = np.clip((np.arange(length) + 0.5) * n / length - 0.5, 0, n - 1)
        shares.append(tent(at, n))
    return np.einsum("nchw,ih,jw->ncij", x, *shares)


def _resizing(suffix: str, size: tuple[int, int], **options: bool) -> Case:
    return case(
        f"resize_images{suffix}",
        lambda F, x: F.resize_images(x, size, **options),
        lambda x: _resized(x, size, **options),
        ((2, 2, 3, 5),),
    )


PICTURES = (2, 2, 4, 3)
WEIGHT, BIAS = (3, 2, 2, 2), (3,)

SAMPLERS = (
    case("spatial_transformer_grid", ((3, 4),), lambda t: _grid(t, (3, 4)), ((2, 2, 3),)),
    case("spatial_transformer_grid-line", lambda F, t: F.spatial_transformer_grid(t, (1, 2))[:, :, :, 1:],
         lambda t: t[:, :, None, None, :] @ np.asarray([1.0, -1.0, 1.0]), ((2, 2, 3),)),
    case("spatial_transformer_sampler", {}, _sampled, (PICTURES, Input((2, 2, 3, 5), -1.9, 1.9))),
    case("deformable_convolution_2d_sampler", {}, _deformed, (PICTURES, Input((2, 8, 3, 2), -1.5, 1.5), WEIGHT, BIAS)),
    case(
        "deformable_convolution_2d_sampler-options",
        {"stride": (2, 1), "pad": (1, 2)},
        lambda x, o, W: _deformed(x, o, W, stride=(2, 1), pad=(1, 2)),
        (PICTURES, Input((2, 8, 3, 6), -1.5, 1.5), WEIGHT),
        order=2,  # of 288 offsets, some are closer to a kink than the steps of third-order differences
    ),
)  # fmt: skip

RESIZING = (
    _resizing("", (5, 7)),
    _resizing("-smaller", (2, 5)),
    _resizing("-pixel", (1, 1)),
    _resizing("-centres", (6, 3), align_corners=False),
    case("resize_images-nearest", lambda F, x: F.resize_images(x, (4, 2), mode="nearest"),
         lambda x: x[:, :, [0, 0, 1, 2]][:, :, :, [0, 2]], ((2, 2, 3, 5),)),
)  # fmt: skip

STRIDED = (
    case("as_strided", ((3, 2), (1, 1), 0), lambda x: np.stack([x[:-1], x[1:]], 1), ((4,),), complex=True),
    case("as_strided-offset", ((2, 3, 2), (-4, 0, 2), 5),
         lambda x: np.broadcast_to(x.reshape(-1)[[[5, 7], [1, 3]]][:, None], (2, 3, 2)), ((3, 4),),
         complex=True),
)  # fmt: skip

CASES = SAMPLERS + RESIZING + STRIDED
