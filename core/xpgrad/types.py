"""Names for what the core cannot type: the arrays, dtypes and namespaces of libraries it has never heard of."""

from collections.abc import Callable
from numbers import Integral
from typing import Any, TypeAlias

Array: TypeAlias = Any
"""An array of any library that a backend serves."""
Dtype: TypeAlias = Any
"""A dtype object of the array's own library."""
Namespace: TypeAlias = Any
"""An Array API namespace: the library's own, extended by kernels, or the differentiable one."""
DeviceHandle: TypeAlias = Any
"""What an array library itself calls a device; `xpgrad.Device` is ours."""
Scalar: TypeAlias = bool | int | float | complex
Shape: TypeAlias = tuple[int, ...]
WHOLE = (int, Integral)
"""The classes of whole numbers, Python's and those of libraries."""
Index: TypeAlias = Any
"""Anything that may stand between square brackets."""
Kernel: TypeAlias = Callable[..., Any]
"""A named function of raw arrays, which a backend may replace."""
