"""Names for what the core cannot type: the arrays, dtypes and namespaces of libraries it has never heard of."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

Array: TypeAlias = Any
"""An array of any library that a backend serves, as rules and kernels compute with it."""


class AnyArray(Protocol):
    """What a public function takes for an array: a Variable, or an array of any library, but no list and no scalar.

    It has what the types of all libraries declare for each dtype; indexing and ``-x`` are not among that.
    """

    if TYPE_CHECKING:  # a protocol with members takes a third of a millisecond to make

        @property
        def shape(self) -> Any:
            """Lengths of the axes."""
            ...

        @property
        def ndim(self) -> Any:
            """Number of axes."""
            ...

        @property
        def dtype(self) -> Any:
            """The library's own data type of the elements."""
            ...

        def __add__(self, other: Any, /) -> Any: ...
        def __radd__(self, other: Any, /) -> Any: ...
        def __sub__(self, other: Any, /) -> Any: ...
        def __rsub__(self, other: Any, /) -> Any: ...
        def __mul__(self, other: Any, /) -> Any: ...
        def __rmul__(self, other: Any, /) -> Any: ...
        def __truediv__(self, other: Any, /) -> Any: ...
        def __rtruediv__(self, other: Any, /) -> Any: ...
        def __pow__(self, other: Any, /) -> Any: ...
        def __eq__(self, other: Any, /) -> Any: ...
        def __ne__(self, other: Any, /) -> Any: ...
        def __lt__(self, other: Any, /) -> Any: ...
        def __le__(self, other: Any, /) -> Any: ...
        def __gt__(self, other: Any, /) -> Any: ...
        def __ge__(self, other: Any, /) -> Any: ...


Dtype: TypeAlias = Any
"""A dtype object of the array's own library."""
Namespace: TypeAlias = Any
"""An Array API namespace: the library's own, extended by kernels, or the differentiable one."""
DeviceHandle: TypeAlias = Any
"""What an array library itself calls a device; `xpgrad.Device` is ours."""
Scalar: TypeAlias = bool | int | float | complex
Operand: TypeAlias = AnyArray | Scalar
"""An input of an elementwise function of several: an array, or a Python scalar where another input is an array."""
RealOperand: TypeAlias = AnyArray | float
"""As `Operand`, for functions of real numbers."""
Shape: TypeAlias = tuple[int, ...]
Size: TypeAlias = int | Sequence[int]
"""One number for all axes, or one for each."""
WHOLE = (int, Integral)
"""The classes of whole numbers, Python's and those of libraries."""
Index: TypeAlias = Any
"""Anything that may stand between square brackets."""
Kernel: TypeAlias = Callable[..., Any]
"""A named function of raw arrays, which a backend may replace."""
