"""Shorthands of the tests: arrays and Variables on a device, their values, and comparisons."""

from typing import Any

import numpy as np

import xpgrad
from xpgrad.testing.arrays import on_host, placed
from xpgrad.transforms.trees import flatten


def array(device: xpgrad.Device, values: Any, dtype: str = "float32") -> Any:
    """Return an array on `device`."""
    return placed(np.asarray(values, dtype), device)


def variable(device: xpgrad.Device, values: Any, dtype: str = "float32", **kwargs: Any) -> xpgrad.Variable:
    """Return a Variable on `device`."""
    return xpgrad.Variable(array(device, values, dtype), **kwargs)


def values(x: Any) -> Any:
    """Return the values of a Variable or an array of any backend as nested lists."""
    return on_host(x).tolist()


def place(x: Any) -> tuple[Any, str, str]:
    """Return shape, dtype name and device of an array."""
    device = xpgrad.Variable(x).device
    return tuple(x.shape), device.backend.dtype_name(x.dtype), device.name


def assert_near(found: Any, expected: Any, rtol: float = 1e-7, atol: float = 0.0) -> None:
    """Raise AssertionError unless two trees have the same leaves, to rounding, in the same places."""
    (leaves, structure), (wanted, other) = flatten(found), flatten(expected)
    assert [*structure.paths()] == [*other.paths()]
    for a, b in zip(leaves, wanted, strict=True):
        np.testing.assert_allclose(on_host(a), on_host(b), rtol=rtol, atol=atol)
