"""Convolution and pooling of batches, against a loop over the members."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.core.transforms.batch.rows.members import check

import xpgrad
from xpgrad import array_api as xp
from xpgrad import functions as F

FUNCTIONS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "convolution": (lambda x, W, b: F.convolution_2d(x, W, b, pad=1), [(2, 2, 4, 5), (3, 2, 3, 3), (3,)]),
    "convolution of one image": (F.convolution_2d, [(1, 2, 4, 5), (3, 2, 2, 3)]),
    "convolution with strides": (
        lambda x, W: F.convolution_2d(x, W, stride=2, cover_all=True, dilate=2), [(2, 1, 6, 6), (2, 1, 2, 2)]
    ),
    "convolution with groups": (lambda x, W: F.convolution_2d(x, W, groups=2), [(2, 4, 3, 3), (6, 2, 2, 2)]),
    "convolution of lines": (F.convolution_1d, [(2, 2, 5), (3, 2, 2), (3,)]),
    "depthwise": (F.depthwise_convolution_2d, [(1, 2, 3, 3), (2, 2, 2, 2)]),
    "deconvolution": (lambda x, W, b: F.deconvolution_2d(x, W, b, stride=2), [(2, 3, 2, 2), (3, 2, 3, 3), (2,)]),
    "deconvolution with groups": (lambda x, W: F.deconvolution_1d(x, W, groups=2), [(2, 4, 3), (4, 2, 2)]),
    "max_pooling": (lambda x: F.max_pooling_2d(x, 2), [(2, 2, 4, 5)]),
    "average_pooling": (lambda x: F.average_pooling_2d(x, 2, pad=1, pad_value=None), [(2, 2, 4, 4)]),
    "unpooling": (lambda x: F.unpooling_1d(x, 2), [(2, 2, 3)]),
    "im2col": (lambda x: F.im2col(x, 2, pad=1), [(2, 1, 3, 3)]),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_agree_with_members(name: str, device: xpgrad.Device) -> None:
    call, shapes = FUNCTIONS[name]
    check(call, shapes, device, size=2)
    check(call, shapes, device, "float32", order=1, size=1, rtol=1e-4)


def test_positions_of_maxima_put_elements_back(device: xpgrad.Device) -> None:
    def there_and_back(x: Any, y: Any) -> Any:
        _, indexes = F.max_pooling_2d(x, 2, return_indices=True)
        return F.upsampling_2d(y, indexes, 2)

    check(there_and_back, [(2, 1, 4, 4), (2, 1, 2, 2)], device, size=2)


def test_a_small_network_with_filters_for_each_member(device: xpgrad.Device) -> None:
    def network(x: Any, W: Any, V: Any) -> Any:
        h = F.max_pooling_2d(F.relu(F.convolution_2d(xp.expand_dims(x, axis=0), W, pad=1)), 2)
        return F.linear(h, V)

    check(network, [(1, 4, 4), (2, 1, 3, 3), (3, 8)], device, order=1, size=2)
