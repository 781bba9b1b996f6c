"""`ndarray`: an array that carries its own graph."""

from typing import Any

from xpgrad.types import Dtype, Shape
from xpgrad_chx.device import get_device
from xpgrad_chx.methods import Methods


class ndarray(Methods):
    """An array in host or CUDA memory which can be part of a graph without a Variable.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    device : as `get_device` takes it, optional
        By default the current device.

    Notes
    -----
    Its elements are not initialised. Programs make arrays by `array`, `zeros` and their like.
    """

    __slots__ = ()
    __module__ = "xpgrad_chx"

    def __init__(self, shape: Shape, dtype: Dtype, device: Any = None) -> None:
        self._device = get_device(device)
        self._data = self._device.function("empty")(shape, dtype=dtype, device=self._device.handle)
        self._graph = None
