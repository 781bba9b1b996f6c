"""The backend of dask: arrays in chunks, which are computed when somebody asks for their values."""

from typing import Any

import dask.array as da
import numpy as np

from xpgrad.errors import UnknownArray
from xpgrad.plugin import ArrayAPIBackend, Device, Spec, scatter_add_by_sorting
from xpgrad.types import Array, DeviceHandle, Dtype, Shape
from xpgrad_dask import namespace

class DaskBackend(ArrayAPIBackend):

    def __init__(self) -> None:
        super().__init__(
            name="dask",
            namespace=namespace,
            array_types=(da.Array,),
            devices={None: "cpu"},
            scatter_add=scatter_add_by_sorting,
            module=da,
        )

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the only device there is: where the chunks are, the scheduler decides."""
        return "cpu"

    def to_host(self, array: Array) -> Array:
        """Return the values, computed by the scheduler that dask is set to."""
        return np.array(array.compute())
