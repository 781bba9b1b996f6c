"""Shorthands of the tests: arrays and Variables on a device, and their values."""

from typing import Any

import numpy as np

import xpgrad
from xpgrad.testing.arrays import on_host, placed


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
