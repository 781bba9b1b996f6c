"""Kernels of neural networks on batches: weights of classes and labels; the case table has the others."""

from typing import Any

import numpy as np
import pytest
from tests.core.transforms.batch.rows.members import numbers

import xpgrad
from xpgrad import functions as F
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import vmap


def test_a_weight_of_classes_for_each_member(device: xpgrad.Device) -> None:
    x, t, w = numbers((2, 4, 3), 0), np.asarray([[0, 1, -1, 2], [2, 2, 0, 1]]), np.abs(numbers((2, 3), 1))

    def loss(x: Any, t: Any, w: Any) -> Any:
        return F.softmax_cross_entropy(x, t, class_weight=w.array)

    found = on_host(vmap(loss)(*[placed(each, device) for each in (x, t, w)]))
    for k in range(2):
        one, target, weight = (placed(each[k], device) for each in (x, t, w))
        expected = F.softmax_cross_entropy(one, target, class_weight=weight)
        np.testing.assert_allclose(found[k], on_host(expected.array))


def test_labels_are_checked_in_debug_mode(device: xpgrad.Device) -> None:
    x, W = placed(np.asarray([[0], [5]]), device), placed(numbers((4, 2), 0), device)
    with xpgrad.using_config("debug", True), pytest.raises(ValueError, match="embed_id: an element of x is not"):
        vmap(F.embed_id, in_axes=(0, None))(x, W)
