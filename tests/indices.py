"""Indices in all forms of NumPy, and a check that a device reads, differentiates and assigns by them as NumPy does."""

from typing import Any

import numpy as np

import xpgrad
from xpgrad import Variable
from xpgrad.testing.arrays import on_host

INDICES: dict[str, Any] = {
    "reversed": np.s_[::-1],
    "reversed part": np.s_[-1:0:-1, ..., 3:0:-2],
    "array": np.array([1, 0, 1]),
    "negative numbers": np.array([-1, 0, -1]),
    "small integers": np.array([1, 0, 1], np.uint8),
    "array and slice": (np.array([1, 0]), slice(1, 3)),
    "number, slice, array": (1, slice(None), np.array([0, 3, 3])),
    "array, slice, number": (np.array([1, 0, 0]), slice(None), 2),
    "ellipsis, number, array": (..., 1, np.array([0, 3, 3])),
    "number, ellipsis, 0-d array": (1, ..., np.array(2)),
    "reversed beside array": (slice(None, None, -1), np.array([[0, 2], [2, 2]])),
    "mask": np.array([[True, False, True], [False, False, True]]),
    "mask of the first axis, reversed": (np.array([True, False]), slice(None, None, -1)),
    "mask of the last axis, number": (0, slice(None), np.array([True, False, True, True])),
}
"""For an array of shape (2, 3, 4)."""


def check_index(device: xpgrad.Device, index: Any) -> None:
    """Raise if an index means another thing than to NumPy: its elements, their gradients, or what is assigned there."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(2, 3, 4))
    x = Variable(device.send(values))
    items = [device.send(i) if isinstance(i, np.ndarray) else i for i in (index if type(index) is tuple else (index,))]
    own = tuple(items) if type(index) is tuple else items[0]
    y = x[own]
    assert np.array_equal(on_host(y), values[index])
    gy = rng.normal(size=y.shape)
    y.grad = device.send(gy)
    y.backward()
    expected = np.zeros_like(values)
    np.add.at(expected, index, gy)
    np.testing.assert_allclose(on_host(x.grad), expected, rtol=1e-14)
    for given in (7.0, values[index] + 0.5):
        changed, copied = Variable(device.send(values), requires_grad=False), values.copy()
        changed[own] = given if isinstance(given, float) else device.send(np.asarray(given))
        copied[index] = given
        assert np.array_equal(on_host(changed), copied)
