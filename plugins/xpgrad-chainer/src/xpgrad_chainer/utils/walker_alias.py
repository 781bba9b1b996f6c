"""`WalkerAlias` with Chainer's boxes and one random number for each sample, so that seeds decide the same samples."""

import math

import numpy as np

from xpgrad import get_device, utils
from xpgrad.backend import random
from xpgrad.backend.plugins import plugins
from xpgrad.types import Array, Shape


class WalkerAlias(utils.WalkerAlias):
    """Sampler of the integers from 0 on with given probabilities; see `xpgrad.utils.WalkerAlias`."""

    @property
    def use_gpu(self) -> bool:
        """Whether samples are drawn by CuPy."""
        return plugins.backend_of(self.threshold) is plugins.backend_of_prefix("gpu")

    def sample(self, shape: Shape | int) -> Array:
        """Return an array of int of this shape: the integer part of a number selects a box, the rest one of its two."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        device, count = get_device(self.device), self.threshold.shape[0]
        xp, is_host = device.backend.xp, device.backend is plugins.host
        dtype = device.backend.namespace.float64 if is_host else self.threshold.dtype
        position = xp.multiply(random.uniform((math.prod(shape),), dtype, device), count)
        box = xp.minimum(xp.astype(position, self.values.dtype), count - 1)
        real = self.threshold.dtype
        level = xp.subtract(xp.astype(position, real), xp.astype(box, real))
        second = xp.astype(xp.greater(level, xp.take(self.threshold, box, axis=0)), self.values.dtype)
        return xp.reshape(xp.take(self.values, xp.add(xp.multiply(box, 2), second), axis=0), shape)

    @staticmethod
    def _boxes(weights: list[float]) -> tuple[list[float], list[int]]:
        """Return thresholds and numbers of boxes, filled in ascending order of the weights."""
        threshold: list[float] = []
        values: list[int] = []
        filled = 0
        for weight, number in sorted((float(np.float32(w / len(weights))), i) for i, w in enumerate(weights)):
            rest = weight * len(weights)
            while rest > 1 and filled < len(threshold):
                values[2 * filled + 1] = number
                rest -= 1 - threshold[filled]
                filled += 1
            threshold.append(float(np.float32(rest)))
            values += [number, 0]
        return threshold, values
