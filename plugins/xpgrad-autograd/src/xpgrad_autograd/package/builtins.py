"""Python's containers, unchanged, because arguments are passed in containers of their own types."""

import builtins
from typing import Any

from xpgrad_autograd.boxes import ArrayBox, is_box
from xpgrad_autograd.nodes import is_traced
from xpgrad_autograd.spaces import TreeVSpace, VSpace

dict, list, tuple = builtins.dict, builtins.list, builtins.tuple
DictBox, SequenceBox = builtins.dict, builtins.tuple
DictVSpace = ListVSpace = TupleVSpace = NamedTupleVSpace = SequenceVSpace = TreeVSpace
make_sequence = lambda kind, *args: kind(args)  # noqa: E731 - as autograd calls it


def isinstance(instance: Any, classinfo: Any) -> bool:
    """Return whether a value, or that in a box, is an instance."""
    if builtins.isinstance(instance, ArrayBox) or is_traced(instance):
        return builtins.isinstance(instance._value, classinfo) or builtins.isinstance(instance, classinfo)
    return builtins.isinstance(instance, classinfo)


def type(value: Any, *args: Any) -> Any:
    """Return the type of a value, or of the value in a box."""
    return builtins.type(value._value) if is_box(value) and not args else builtins.type(value, *args)


__all__ = ["VSpace", "dict", "isinstance", "list", "tuple", "type"]
