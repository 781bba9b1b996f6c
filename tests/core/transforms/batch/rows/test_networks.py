"""Kernels of neural networks on batches, against a loop over the members."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.core.transforms.batch.rows.members import check, numbers

import xpgrad
from xpgrad import functions as F
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms import vmap


def labels(low: int, high: int, count: int) -> Callable[[int, str], Any]:
    """Return a maker of integers."""
    return lambda seed, dtype: (np.arange(count) * 7 + seed * 3) % (high - low) + low


def mask(seed: int, dtype: str) -> Any:
    """Return a mask for attention with one empty row for some members."""
    found = numbers((2, 3), seed) > -0.5
    found[0] &= seed % 2 == 0
    return found


FUNCTIONS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "softmax": (lambda x: F.softmax(x, axis=0), [(3, 4)]),
    "log_softmax": (F.log_softmax, [(3, 4)]),
    "logsumexp of all": (F.logsumexp, [(3, 4)]),
    "logsumexp along an axis": (lambda x: F.logsumexp(x, axis=1), [(3, 4)]),
    "cross entropy": (F.softmax_cross_entropy, [(4, 3), labels(-1, 3, 4)]),
    "cross entropy, each": (lambda x, t: F.softmax_cross_entropy(x, t, reduce="no"), [(4, 3), labels(-1, 3, 4)]),
    "cross entropy, by the number of all": (
        lambda x, t: F.softmax_cross_entropy(x, t, normalize=False, cache_score=False), [(4, 3), labels(-1, 3, 4)]
    ),
    "cross entropy of probabilities": (lambda x, t: F.softmax_cross_entropy(x, F.softmax(t)), [(4, 3), (4, 3)]),
    "sigmoid": (F.sigmoid, [(3, 4)]),
    "layer_normalization": (F.layer_normalization, [(3, 4), (4,), (4,)]),
    "group_normalization": (lambda x, g, b: F.group_normalization(x, 2, g, b), [(2, 4, 3), (4,), (4,)]),
    "batch_normalization": (F.batch_normalization, [(5, 3), (3,), (3,)]),
    "attention": (F.scaled_dot_product_attention, [(2, 3), (4, 3), (4, 2)]),
    "attention of heads": (F.scaled_dot_product_attention, [(2, 2, 3), (2, 4, 3), (2, 4, 2)]),
    "attention with a mask": (F.scaled_dot_product_attention, [(2, 3), (3, 3), (3, 2), mask]),
    "attention with a bias": (F.scaled_dot_product_attention, [(2, 3), (4, 3), (4, 2), (2, 4)]),
    "lstm": (lambda c, x: F.lstm(c, x), [(3, 2), (3, 8)]),
    "embed_id": (lambda x, W: F.embed_id(x, W, ignore_label=-1), [labels(-1, 4, 5), (4, 2)]),
    "maxout": (lambda x: F.maxout(x, 2), [(3, 4)]),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_agree_with_members(name: str, device: xpgrad.Device) -> None:
    call, shapes = FUNCTIONS[name]
    check(call, shapes, device, rtol=1e-8)
    check(call, shapes, device, "float32", order=1, size=1, rtol=1e-3)


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
