"""`accuracy`: shapes, ignored labels, and errors."""

import numpy as np
import pytest

import xpgrad
import xpgrad.functions as F

Y = np.asarray([[0.1, 0.7, 0.2], [0.5, 0.4, 0.1], [0.2, 0.2, 0.6], [0.9, 0.1, 0.0]], np.float32)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8"])
def test_part_of_the_labels_that_are_hit(device, dtype):
    y = F.accuracy(xpgrad.Variable(device.send(Y)), device.send(np.asarray([1, 0, 0, 0], dtype)))
    assert float(y) == 0.75
    assert y.dtype == device.send(Y).dtype
    assert not y.requires_grad


def test_ignored_labels_do_not_count(device):
    y, t = device.send(Y), device.send(np.asarray([1, -1, 0, -1]))
    assert float(F.accuracy(y, t, ignore_label=-1)) == 0.5
    assert float(F.accuracy(y, device.send(np.full(4, -1)), ignore_label=-1)) == 0


def test_maps_and_trailing_axes_of_length_1(device):
    maps = np.stack([Y, Y[::-1]])[:, :, None, :].transpose(0, 3, 1, 2)
    assert float(F.accuracy(device.send(maps), device.send(maps.argmax(axis=1)))) == 1
    assert float(F.accuracy(device.send(Y), device.send(Y.argmax(axis=1)[:, None]))) == 1
