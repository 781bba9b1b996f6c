"""Objects that hold an array, such as a Variable."""

from typing import Any

from xpgrad.types import Array


class ArrayHolder:
    """Base of the classes whose instances hold an array."""

    __slots__ = ()

    _array: Array


def unwrap(obj: Any) -> Any:
    """Return the array that an object holds, or the object itself."""
    return obj._array if isinstance(obj, ArrayHolder) else obj
