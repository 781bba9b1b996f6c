"""`Spec`: shape, dtype and device of an array."""

import functools
import math
from typing import TYPE_CHECKING, Any

from xpgrad.types import DeviceHandle, Dtype, Shape

if TYPE_CHECKING:
    from xpgrad.backend.backend import Backend


class Spec:
    """Shape, dtype and device of an array. A backend returns the same object for equal ones, while it caches them.

    Attributes
    ----------
    shape : tuple of int
    dtype : dtype of the array's library
    device : the library's device object
    backend : Backend
    wide : dtype
        The dtype for sums and counts of arrays of this dtype: float32 for half precision, else the same.
    half : bool
        Whether `wide` differs from `dtype`.
    ndim, size : int
    differentiable : bool
        Whether the dtype is real or complex floating-point. Other arrays have no gradient.
    complex : bool
    large : bool
        Whether adding to a total of this shape in place is faster.
    blocked : bool
        Whether the rules of elementwise functions of this shape are computed by `Programs.blockwise`.
    constants : dict
        Python scalars that the backend has prepared as operands for arrays of this dtype.
    """

    __slots__ = (
        "backend", "blocked", "complex", "constants", "device", "differentiable", "dtype", "half", "large", "shape",
        "size", "wide",
    )  # fmt: skip

    def __init__(self, shape: Shape, dtype: Dtype, device: DeviceHandle, backend: "Backend") -> None:
        self.shape, self.dtype, self.device, self.backend = shape, dtype, device, backend
        self.complex = backend.is_kind(dtype, "complex floating")
        self.differentiable = self.complex or backend.is_kind(dtype, "real floating")
        self.wide = backend.wide(dtype)
        self.half = bool(self.wide != dtype)
        size = self.size = math.prod(shape)
        self.large, self.blocked = size >= backend.in_place_from, size >= backend.blocks_from
        self.constants: dict[Any, Any] = backend._constants_of(dtype)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """Number of bytes of one element."""
        return _itemsize(self.backend, self.dtype)

    def __repr__(self) -> str:
        return f"{self.backend.dtype_name(self.dtype)} {self.shape}"


@functools.lru_cache(maxsize=64)
def _itemsize(backend: "Backend", dtype: Dtype) -> int:
    if backend.is_kind(dtype, ("real floating", "complex floating")):
        return int(backend.finfo(dtype).bits) // 8 * (1 + backend.is_kind(dtype, "complex floating"))
    return int(backend.namespace.iinfo(dtype).bits) // 8 if backend.is_kind(dtype, "integral") else 1
