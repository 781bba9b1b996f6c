"""Type aliases for the arrays, dtypes and namespaces of array libraries, which the core does not import."""

import operator
import sys
from collections.abc import Callable, Collection, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

__all__ = [
    "MAX_INTEGERS", "WHOLE", "AnyArray", "Array", "DeviceHandle", "Dtype", "Index", "Kernel", "Namespace", "Operand",
    "RealOperand", "Scalar", "Shape", "Size", "as_list", "integers",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


Array: TypeAlias = Any
"""An array of any supported library, as rules and kernels use it."""


class AnyArray(Protocol):
    """An array argument of a public function: a Variable or an array of any library, not a list or scalar.

    It has the members that all libraries declare for all dtypes; indexing and ``-x`` are not among them.
    """

    if TYPE_CHECKING:  # a protocol with members takes a third of a millisecond to create

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
"""An array library's own device object; `xpgrad.Device` is xpgrad's."""
Scalar: TypeAlias = bool | int | float | complex
Operand: TypeAlias = AnyArray | Scalar
"""An input of an elementwise function of more than one: an array, or a Python scalar next to an array."""
RealOperand: TypeAlias = AnyArray | float
"""Like `Operand`, for functions of real numbers."""
Shape: TypeAlias = tuple[int, ...]
Size: TypeAlias = int | Sequence[int]
"""One number for all axes, or one for each."""
WHOLE = (int, Integral)
"""The classes of integers, Python's and those of libraries."""
MAX_INTEGERS = 1_000_000
"""Integers that an argument may have: axes, lengths or numbers of repetitions."""


def integers(given: Size, function: str = "") -> tuple[int, ...]:
    """Return an integer, or a sequence of integers, as a tuple; an iterator, which might not end, raises.

    Raises
    ------
    TypeError, ValueError
        It is something else, or too large for the shape of an array; the message names `function`.
    """
    if type(given) is int and -sys.maxsize <= given <= sys.maxsize:
        return (given,)
    numbers = (given,) if isinstance(given, WHOLE) else given
    try:
        count = len(numbers) if isinstance(numbers, Collection) or hasattr(numbers, "__getitem__") else None
        found = tuple([operator.index(n) for n in numbers]) if count is not None and count <= MAX_INTEGERS else None
    except (OverflowError, TypeError):
        found = None
    name = f"{function}: " if function else ""
    if found is None:
        wrong = [n for n in given if not hasattr(n, "__index__")] if isinstance(given, (tuple, list)) else []
        what = f"an item of type {type(wrong[0]).__name__}" if wrong else f"an object of type {type(given).__name__}"
        raise TypeError(f"{name}expected an integer or a sequence of integers, got {what}")
    if any(not -sys.maxsize <= number <= sys.maxsize for number in found):
        raise ValueError(f"{name}expected integers of 64 bits, got one of {max(map(int.bit_length, found))} bits")
    return found


def as_list(given: Any, what: str) -> list[Any]:
    """Return the items of a sequence or collection in a list; an iterator, which might not end, raises a TypeError."""
    sized = isinstance(given, Collection) or (hasattr(given, "__getitem__") and hasattr(given, "__len__"))
    if not sized or len(given) > MAX_INTEGERS:
        raise TypeError(f"expected a sequence of {what}, got an object of type {type(given).__name__}")
    return list(given)


Index: TypeAlias = Any
"""Any index, as in ``x[index]``."""
Kernel: TypeAlias = Callable[..., Any]
"""A named function of raw arrays that a backend may replace."""
