"""Gradients of normalizations by PyTorch's fused functions, which take the layout of small arrays for granted."""

from collections.abc import Iterator

import pytest
import torch

from xpgrad_torch.kernels import normalization

KINDS = {
    "layer": ((6, 5), (1,), (5,)),
    "batch": ((4, 5, 3, 2), (0, 2, 3), (1, 5, 1, 1)),
    "group": ((4, 2, 3, 5), (2, 3), (1, 2, 3, 1)),
    "one channel": ((4, 1, 3, 1), (2, 3), (1, 1, 3, 1)),
}
"""Shape of the array, axes and shape of the factors."""
DECLINED = [(1e4, kind) for kind in ("layer", "group", "one channel")]
"""Where sums of PyTorch's functions lose digits."""


def layouts(x: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield the array, every other element of a larger one, and the array in Fortran order."""
    yield x
    strided = torch.full([2 * n for n in x.shape], 7.0, dtype=x.dtype)[tuple(slice(None, None, 2) for _ in x.shape)]
    yield strided.copy_(x)
    yield x.mT.contiguous().mT if x.ndim > 1 else x


@pytest.mark.parametrize("far", [0.0, 1e4])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_in_any_layout_are_those_of_the_formulas(kind: str, far: float) -> None:
    shape, axis, features = KINDS[kind]
    rng = torch.Generator().manual_seed(0)
    x, g, gamma = (torch.randn(s, dtype=torch.float64, generator=rng) for s in (shape, shape, features))
    x += far
    mean = x.mean(axis, keepdim=True)
    inverse = x.var(axis, keepdim=True, unbiased=False).rsqrt()
    direction, scaled = (x - mean) * inverse, g * gamma
    along = direction * (scaled * direction).mean(axis, keepdim=True)
    expected = (scaled - along - scaled.mean(axis, keepdim=True)) * inverse
    summed = (g * direction).sum_to_size(features)
    for arrays in zip(*map(layouts, (g, x, gamma, mean, inverse)), strict=True):
        gx = normalization.normalized_backward(*arrays, axis=axis, eps=0.0)
        others = (*arrays[:2], *arrays[3:])
        ggamma = normalization.normalized_gamma_backward(*others, axis=axis, eps=0.0, shape=features)
        for found, wanted in (gx, expected), (ggamma, summed):
            if found is NotImplemented:
                assert (far, kind) in DECLINED
            else:
                torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-10)
