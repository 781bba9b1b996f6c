"""Leaves with distinct values, and outputs with gradients different from 1."""

import numpy as np

from xpgrad import Variable
from xpgrad.testing.arrays import on_host, placed


def spread(shape, dtype=np.float64, start=1):
    """Distinct, irrational-looking values from -2 to 2."""
    count = int(np.prod(shape))
    return (((np.arange(start, start + count) * np.sqrt(2)) % 1 - 0.5) * 4).reshape(shape).astype(dtype)


def leaf(shape, device=None, dtype=np.float64, start=1):
    values = spread(shape, dtype, start)
    return Variable(values if device is None else placed(values, device))


def seeded(y, start=50):
    """Give `y` a gradient that is not ones, and return it."""
    y.grad = placed(spread(y.shape, on_host(y).dtype, start), y.device)
    return y
