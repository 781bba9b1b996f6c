"""The backend of dask: arrays in chunks, which are computed when their values are used."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from xpgrad.errors import UnknownArray
from xpgrad.plugin import ArrayAPIBackend, Capabilities, Device, Spec
from xpgrad.types import Array, DeviceHandle, Dtype, Index, Kernel
from xpgrad_dask import indexing, namespace, special, tokens
from xpgrad_dask.creation import auto_chunks, cut, duplicate, evaluate, settle
from xpgrad_dask.kernels import KERNELS
from xpgrad_dask.libraries import da, dask
from xpgrad_dask.refusals import UNKNOWN

MAX_SPECS = 4096


class ChunkedSpec(Spec):
    """Shape, dtype and device of an array; for dask also its chunks.

    Attributes
    ----------
    chunks : tuple of tuple of int
    """

    __slots__ = ("chunks",)

    def __init__(self, chunks: Any, dtype: Dtype, device: DeviceHandle, backend: ArrayAPIBackend) -> None:
        super().__init__(tuple(map(sum, chunks)), dtype, device, backend)
        self.chunks = chunks


class DaskBackend(ArrayAPIBackend):
    """dask arrays, whose graphs grow while xpgrad records and sweeps; values are computed when they are used."""

    has_layouts = True

    def __init__(self) -> None:
        tokens.register()
        super().__init__(
            name="dask",
            namespace=namespace,
            array_types=(da.Array,),
            devices={None: "cpu"},
            scatter_add=indexing.scatter_add,
            kernels={**KERNELS, "getitem": self._getitem},
            module=da,
            version=dask.__version__,
            capabilities=Capabilities(
                missing={
                    "data_dependent_shapes": UNKNOWN,
                    "several_devices": "where chunks are computed, the scheduler decides",
                    "dlpack_export": "an array has no memory of its own",
                    "dlpack_shares_memory": "an array has no memory of its own",
                    "memory_used": "dask keeps no store of memory; its workers say what they hold",
                    "random_numbers_of_the_host": "random numbers are drawn where their chunks are computed",
                }
            ),
        )
        self._chunked: dict[Any, ChunkedSpec] = {}

    def lazy_override(self, name: str) -> Kernel | None:
        """Return NumPy's special function `name`, chunk by chunk."""
        return special.find(name)

    def handle_of(self, array: Array) -> DeviceHandle:
        """Return the only device; the scheduler decides where chunks are computed."""
        return "cpu"

    def spec(self, array: Array) -> Spec:
        """Return chunks and dtype of `array`; equal ones are the same object."""
        key = array.chunks, array.dtype
        found = self._chunked.get(key)
        if found is None:
            if len(self._chunked) >= MAX_SPECS:
                self._chunked.clear()
            found = self._chunked.setdefault(key, ChunkedSpec(*key, "cpu", self))
        return found

    def check(self, array: Array) -> None:
        """Raise an error for an array of unknown shape."""
        if any(math.isnan(length) for length in array.shape):
            raise UnknownArray(
                f"dask: expected an array of known shape, got {array.shape}; call its compute_chunk_sizes() first"
            )

    def copy(self, array: Array) -> Array:
        """Return another array with the same chunks, without a copy, because chunks are never written to."""
        return duplicate(array)

    def laid_out(self, array: Array, spec: Spec) -> Array:
        """Return a gradient in the chunks of its array."""
        chunks = getattr(spec, "chunks", array.chunks)
        return array if array.chunks == chunks else array.rechunk(chunks)

    def ones(self, spec: Spec) -> Array:
        """Return ones in the chunks of an array of `spec`."""
        chunks = getattr(spec, "chunks", None) or auto_chunks(spec.shape, spec.dtype)
        return da.ones(spec.shape, dtype=spec.dtype, chunks=chunks)

    def to_host(self, array: Array) -> Array:
        """Return the values, computed by dask's current scheduler."""
        return np.array(array.compute())

    def from_host(self, array: Array, device: Device) -> Array:
        """Return a copy in chunks of dask's size. It is a part of the graph: load large data chunk by chunk."""
        return cut(np.array(array))

    def dlpack_device(self, device: Device) -> Any:
        """Return None: an array that is not computed has no memory to share."""
        return None

    def is_pending(self, array: Array) -> bool:
        """Return True: reading values computes them."""
        return True

    def evaluate(self, arrays: Sequence[Array]) -> None:
        """Compute arrays in one pass."""
        evaluate(arrays)

    def has_nan(self, array: Array) -> bool:
        """Return whether any element is not a number; a small array then keeps its values for later results."""
        if np.dtype(array.dtype).kind in "fc":
            settle(array)
        return super().has_nan(array)

    def same_values(self, a: Array, b: Array) -> bool:
        """Return whether two arrays hold equal values; arrays of one name do, because chunks are never written to."""
        return a.name == b.name or super().same_values(a, b)

    def fingerprint(self, array: Array) -> Any:
        """Return the name, which an assignment changes, because chunks are never written to."""
        return array.name

    def _getitem(self, x: Array, /, index: Index) -> Array:
        return indexing.getitem(self, x, index)
