"""Kernels of neural networks on batches, in forms that the case table lacks."""

from typing import Any

import numpy as np
import pytest
from tests.core.transforms.batch.rows.members import Case, check, made

import xpgrad
from xpgrad import array_api as xp
from xpgrad import functions as F
from xpgrad.functions import attention
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import grad, vmap


def there_and_back(_: Any, x: Any, y: Any) -> Any:
    """Put elements back at the positions of maxima."""
    return F.upsampling_2d(y, F.max_pooling_2d(x, 2, return_indices=True)[1], 2)


def network(_: Any, x: Any, W: Any, V: Any) -> Any:
    """Apply a small network, with filters for each member."""
    h = F.max_pooling_2d(F.relu(F.convolution_2d(xp.expand_dims(x, axis=0), W, pad=1)), 2)
    return F.linear(h, V)


CASES = (
    Case("upsampling of maxima", there_and_back, "f8 2 1 4 4", "f8 2 1 2 2", raw=False, order=2),
    Case("network", network, "f8 1 4 4", "f8 2 1 3 3", "f8 3 8", raw=False),
)


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_networks_agree_with_each_member(case: Case, device: xpgrad.Device) -> None:
    check(case, device, rtol=1e-9)


def test_a_weight_of_classes_for_each_member(device: xpgrad.Device) -> None:
    x, t, w = made("f8 2 4 3", 0), np.asarray([[0, 1, -1, 2], [2, 2, 0, 1]]), np.abs(made("f8 2 3", 1))

    def loss(x: Any, t: Any, w: Any) -> Any:
        return F.softmax_cross_entropy(x, t, class_weight=w.array)

    found = on_host(vmap(loss)(*[placed(each, device) for each in (x, t, w)]))
    for k in range(2):
        one, target, weight = (placed(each[k], device) for each in (x, t, w))
        expected = F.softmax_cross_entropy(one, target, class_weight=weight)
        np.testing.assert_allclose(found[k], on_host(expected.array))


def test_labels_are_checked_in_debug_mode(device: xpgrad.Device) -> None:
    x, W = placed(np.asarray([[0], [5]]), device), placed(made("f8 4 2", 0), device)
    with xpgrad.using_config("debug", True), pytest.raises(ValueError, match="embed_id: an element of x is not"):
        vmap(F.embed_id, in_axes=(0, None))(x, W)


@pytest.mark.parametrize("kept", [0, attention.MAX_KEPT_WEIGHTS])
def test_attention_of_batch_elements_is_one_call_of_the_librarys_kernels(kept: int, monkeypatch: Any) -> None:
    arrays = [made(text, i) for i, text in enumerate(("f8 3 2 5 4", "f8 3 2 7 4", "f8 3 2 7 6"))]
    mask = np.arange(35).reshape(5, 7) % 3 > 0
    for name, value in {"_weights": None, "_gradients": None, "MAX_KEPT_WEIGHTS": kept}.items():
        monkeypatch.setattr(attention, name, value)  # the default bodies call the functions

    def loss(q: Any, k: Any, v: Any) -> Any:
        return F.sum(F.scaled_dot_product_attention(q, k, v, mask) ** 2)

    gradients = grad(loss, argnums=(0, 1, 2))
    for found, expected in zip(vmap(gradients)(*arrays), gradients(*arrays), strict=True):
        np.testing.assert_array_equal(found, expected)
