"""Convolutions and pooling on tensors, by PyTorch's functions, agree with the default bodies on NumPy arrays."""

import numpy as np
import pytest

import xpgrad
from xpgrad import functions as F
from xpgrad.backend.transfer import transfer

FUNCTIONS = {
    "convolution": lambda x, W, k, **o: F.convolution_nd(x, W, **o),
    "deconvolution": lambda x, W, k, dilate=1, **o: F.deconvolution_nd(x, W, **o),
    "max_pooling": lambda x, W, k, dilate, **o: F.max_pooling_nd(x, k, cover_all=False, **o),
    "max_pooling-cover_all": lambda x, W, k, dilate, **o: F.max_pooling_nd(x, k, **o),
    "average_pooling": lambda x, W, k, dilate, **o: F.average_pooling_nd(x, k, **o),
}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_windows_of_any_geometry_are_those_of_numpy(device: xpgrad.Device, name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ndim, groups = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    k, stride, dilate = (tuple(map(int, rng.integers(1, n, ndim))) for n in (4, 4, 3))
    pad = tuple(int(rng.integers(0, n // 2 + 1)) for n in k)
    spare = [int(rng.integers(0 if name == "deconvolution" else -2 * p, 5)) for p in pad]
    size = tuple(max(d * (n - 1) + 1 + more, 0) for n, d, more in zip(k, dilate, spare, strict=True))
    options = {"stride": stride, "pad": pad, "dilate": dilate}
    lead = (4, 3) if name == "deconvolution" else (6, 4 // groups)
    if name in ("convolution", "deconvolution"):
        options["groups"] = groups
    x = rng.integers(-2, 3, (2, 4, *size)) * 1.0  # with ties
    W = rng.standard_normal((*lead, *k))

    def computed(place: xpgrad.Device) -> list[np.ndarray]:
        leaves = [xpgrad.Variable(transfer(a, place)) for a in (x, W)]
        y = FUNCTIONS[name](*leaves, k, **options)
        seed_y = transfer(np.random.default_rng(1).standard_normal(y.shape), place)
        used = leaves if "pooling" not in name else leaves[:1]
        found = xpgrad.grad([y], used, [xpgrad.Variable(seed_y)], enable_double_backprop=True)
        second = xpgrad.grad([F.sum(g * g) for g in found], used)
        return [np.asarray(v.to_device("@numpy").array) for v in (y, *found, *second) if v is not None]

    for got, expected in zip(computed(device), computed(xpgrad.get_device("@numpy")), strict=True):
        largest = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)  # a window beyond the image has -inf
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11 * largest)
