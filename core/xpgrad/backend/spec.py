"""`Spec`: shape, dtype and device of an array."""

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
        if self.differentiable:
            bits: int = self.backend.finfo(self.dtype).bits
            return bits // 8 * (2 if self.complex else 1)
        if self.backend.is_kind(self.dtype, "integral"):
            return int(self.backend.namespace.iinfo(self.dtype).bits) // 8
        return 1

    def __repr__(self) -> str:
        return f"{self.backend.dtype_name(self.dtype)} {self.shape}"
