"""Convolution and pooling of batches together; the case table has each alone."""

from typing import Any

from tests.core.transforms.batch.rows.members import check

import xpgrad
from xpgrad import array_api as xp
from xpgrad import functions as F


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
