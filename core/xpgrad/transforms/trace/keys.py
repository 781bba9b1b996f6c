"""Keys of constants and functions: equal only if calls with either object have the same result."""

import functools
import operator
import struct
from typing import Any

from xpgrad.transforms.trace.calls import Call

PLAIN = frozenset((bool, int, str, bytes, type(None), type(...)))


def key_of(item: Any) -> Any:
    """Return a key of an argument: values and other objects by identity, numbers by type and bits."""
    kind = type(item)
    if kind in PLAIN:
        return kind, item
    if kind is float:
        return kind, struct.pack("d", item)
    if kind is complex:
        return kind, struct.pack("dd", item.real, item.imag)
    if isinstance(item, (tuple, list)):
        return kind, *map(key_of, item)
    if kind is dict:
        return kind, *((name, key_of(part)) for name, part in item.items())
    if kind is slice:
        return kind, key_of(item.start), key_of(item.stop), key_of(item.step)
    return id(item)


def function_key(function: Any) -> Any:
    """Return a key of a function; equal partial functions have one key."""
    if isinstance(function, functools.partial):
        return functools.partial, function_key(function.func), key_of(function.args), key_of(function.keywords)
    if isinstance(function, operator.attrgetter):
        return function.__reduce__()
    try:
        hash(function)
    except TypeError:
        return id(function)
    return function


def call_key(call: Call) -> Any:
    """Return a key of a call's function and arguments."""
    return function_key(call.function), key_of(call.args), key_of(call.kwargs)
