"""Sample arrays, for calls of kernels."""

import math
from collections.abc import Sequence
from typing import Any

from xpgrad.backend.device import Device
from xpgrad.backend.kernels import KernelNamespace
from xpgrad.backend.plugins import plugins
from xpgrad.backend.transfer import transfer
from xpgrad.types import Array

GOLDEN = (math.sqrt(5) - 1) / 2
"""Fractional parts of its multiples are spread evenly, and differ."""
LARGE = 64, 1024


class Samples:
    """Sample arrays on a device.

    Parameters
    ----------
    device : Device
    xp : KernelNamespace
        Kernels that compute results on which other arguments depend.
    """

    def __init__(self, device: Device, xp: KernelNamespace) -> None:
        self.device, self.backend, self.xp = device, device.backend, xp
        self.host = plugins.host
        self.made = 0  # numbers: the next ones are others
        self.large = False

    def enlarged(self) -> "Samples":
        """Return samples with large `arrays`."""
        found = Samples(self.device, self.xp)
        found.large = True
        return found

    def arrays(self, count: int, definition: Any) -> list[Sequence[Any]]:
        """Return `count` arrays each: numbers, matrices, and integers and mixtures where the function may get them."""
        if self.large:
            return [[self.numbers(*LARGE) for _ in range(count)]]
        xp, line, square = self.xp, self.near([0.5, 1.0, 2.0]), self.near([[0.5, 1.0], [2.0, 2.0]])
        integers, matrices = self.integers([0, 1, 0]), self.numbers(2, 3, 3)
        symmetric = 0.25 * (matrices + xp.matrix_transpose(matrices)) + self.near([[3, 0, 0], [0, 3, 0], [0, 0, 3]])
        one, images = xp.reshape(line[:1], shape=(1, 1)), xp.reshape(square, shape=(1, 1, 2, 2))
        lines, samples = (line, line - 1.2), (one, square, images, symmetric, matrices)
        numbers = [[(xp.flip(x, axis=-1) if i % 2 else x) + 0.25 * i for i in range(count)] for x in lines]
        numbers += [[x + 0.25 * i for i in range(count)] for x in samples]
        others: dict[int, list[Any]] = {2: [[line, integers]], 3: [[*numbers[4][:2], None]]}  # indices, and no bias
        inexact = definition is not None and (definition.vjps or definition.name.startswith("special."))
        exact = [] if inexact else [[integers + i for i in range(count)]]
        return [*numbers, *exact, *([] if definition is not None and definition.elementwise else others.get(count, []))]

    def near(self, values: Any, dtype: str = "float32") -> Array:
        """Return numbers, or nested lists of them, as an array on the device."""
        return transfer(self.host.asarray(values, getattr(self.host.namespace, dtype)), self.device)

    def integers(self, values: Any) -> Array:
        """Return integers on the device, such as indices and labels, in the default dtype of the library."""
        return self.near(values, self.backend.dtype_name(self.backend.default_dtype("int")))

    def numbers(self, *shape: int, low: float = -1.5, high: float = 1.5, dtype: str = "float32") -> Array:
        """Return numbers from `low` to `high` on the device, different ones in each call."""
        count = math.prod(shape)
        values = [low + (high - low) * (GOLDEN * (self.made + i + 1) % 1) for i in range(count)]
        self.made += count
        return self.xp.reshape(self.near(values, dtype), shape=shape)

    def positive(self, *shape: int) -> Array:
        """Return numbers from 0.25 to 2 on the device."""
        return self.numbers(*shape, low=0.25, high=2.0)

    def mask(self, *shape: int) -> Array:
        """Return booleans on the device."""
        x = self.numbers(*shape)
        return self.xp.greater(x, self.xp.zeros_like(x))
