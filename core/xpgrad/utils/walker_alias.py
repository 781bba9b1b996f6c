"""`WalkerAlias`: random integers with given probabilities."""

import math
from collections.abc import Collection
from typing import Any, Self

from xpgrad.backend import random
from xpgrad.backend.current import get_device
from xpgrad.backend.device import Device
from xpgrad.backend.plugins import plugins
from xpgrad.types import Array, Shape, as_list


class WalkerAlias:
    """Sampler of the integers from 0 on with given probabilities, in constant time for each sample.

    Parameters
    ----------
    probs : sequence or array of float
        Not negative; they are divided by their sum.

    Attributes
    ----------
    threshold : array of float, shape (M,)
        Probability with which each of M equally likely boxes gives its first number rather than its second.
    values : array of int, shape (2 * M,)
        The two numbers of each box.

    Raises
    ------
    ValueError
        A probability is negative or not finite, or all are 0.

    References
    ----------
    Walker: An efficient method for generating discrete random variables with general distributions, 1977.
    """

    def __init__(self, probs: Collection[float]) -> None:
        weights = [float(p) for p in as_list(probs, "numbers")]
        total = math.fsum(weights)
        if not (all(p >= 0 for p in weights) and 0 < total < math.inf):
            raise ValueError("WalkerAlias: probs must be finite and not negative, and one of them positive")
        threshold, values = self._boxes([p / total * len(weights) for p in weights])
        host = plugins.host
        self.threshold = host.asarray(threshold, host.namespace.float32)
        self.values = host.asarray(values, host.namespace.int32)

    @property
    def device(self) -> Device:
        """Where samples are drawn."""
        backend = plugins.backend_of(self.threshold)
        return backend.device_of(self.threshold)

    def sample(self, shape: Shape | int) -> Array:
        """Return an array of int of this shape, drawn from the stream of `xpgrad.random` for the sampler's device."""
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        device, boxes = get_device(self.device), self.threshold.shape[0]
        xp = device.backend.xp
        threshold, values = device.send((self.threshold, self.values))
        position, level = (
            random.uniform((math.prod(shape),), None, device),
            random.uniform((math.prod(shape),), None, device),
        )
        box = xp.minimum(xp.astype(xp.floor(xp.multiply(position, boxes)), values.dtype), boxes - 1)
        second = xp.astype(xp.greater_equal(level, xp.take(threshold, box, axis=0)), values.dtype)
        return xp.reshape(xp.take(values, xp.add(xp.multiply(box, 2), second), axis=0), shape)

    def device_resident_accept(self, visitor: Any) -> None:
        """Pass the arrays to the visitor that moves a link."""
        self.threshold, self.values = visitor.visit_array(self.threshold), visitor.visit_array(self.values)

    def to_device(self, device: Any) -> Self:
        """Move the sampler to `device`, and return it."""
        self.threshold, self.values = get_device(device).send((self.threshold, self.values))
        return self

    def to_cpu(self) -> Self:
        """Move the sampler to the host, and return it."""
        return self.to_device(-1)

    def to_gpu(self, device: int | None = None) -> Self:
        """Move the sampler to a GPU: number `device`, or the current device if that is one, else number 0."""
        if device is None:
            current = get_device(None)
            return self.to_device(current if current.backend is plugins.backend_of_prefix("gpu") else 0)
        return self.to_device(device)

    @staticmethod
    def _boxes(weights: list[float]) -> tuple[list[float], list[int]]:
        """Return thresholds and numbers of boxes of size 1, filled with `weights`, whose mean is 1."""
        small = [i for i, w in enumerate(weights) if w < 1]
        large = [i for i, w in enumerate(weights) if w >= 1]
        threshold, values = [1.0] * len(weights), [i for i in range(len(weights)) for _ in range(2)]
        weights = weights.copy()
        while small and large:
            box, other = small.pop(), large[-1]
            threshold[box], values[2 * box + 1] = weights[box], other
            weights[other] -= 1 - weights[box]
            if weights[other] < 1:
                small.append(large.pop())
        return threshold, values  # remaining weights differ from 1 only by rounding
